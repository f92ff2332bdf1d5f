"""Agents with one peculiarity each, for the engine table of the tests.

usage: odd_agents.py NAME [ARGUMENT...]
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

DONE = json.dumps({"file": "x", "__SKILL_DONE__": True})


def echoing(*arguments: str) -> None:
    """Says what it was given as arguments and on its input, and how to go on."""
    tell({"session_handle": "s-1"})
    tell({"role": "assistant", "text": json.dumps([*arguments, sys.stdin.read()])})


def rows(*handle: str) -> None:
    """Two rows of an agent CLI, the session and the question; the reply is in the session that goes on."""
    words = sys.stdin.read()
    text = json.dumps({"file": handle[0] + words, "__SKILL_DONE__": True}) if handle else "Which file?"
    session = {"session_id": "0b-1"}
    tell({"type": "system", "subtype": "init", **session})
    for part in ({"type": "tool_use", "name": "Read", "input": {"path": "a"}}, {"type": "text", "text": text}):
        tell({"type": "assistant", **session, "message": {"content": [part]}})
    tell({"type": "result", **session, "usage": {"input_tokens": 3, "output_tokens": 4}})


def sticky_rows(_work: str) -> None:
    """Answers every row of its input with what the row says, and ends the run when it is told to."""
    for line in sys.stdin:
        [part] = json.loads(line)["message"]["content"]
        text = DONE if part["text"] == "done" else "Told: " + part["text"][-40:]
        tell({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}})
        tell({"type": "result"})


def long_message() -> None:
    """One message that is longer than what is kept, and goes on when it may."""
    sys.stdout.write("a" + "é" * 100_000 + "END")
    until_it_may_go()
    print()
    print(DONE)


def many_messages() -> None:
    """Messages that are together longer than what is kept."""
    for number in range(5):
        tell({"role": "assistant", "text": str(number) * 30_000})
    until_it_may_go()
    tell({"role": "assistant", "text": DONE})


def flood() -> None:
    """More than any client reads at once."""
    for number in range(2_000):
        print(f"{number:06}" * 1_000)
    until_it_may_go()
    print(DONE)


def tell(row: dict[str, Any]) -> None:
    print(json.dumps(row), flush=True)


def until_it_may_go() -> None:
    sys.stdout.flush()
    while not os.path.exists("go"):
        time.sleep(0.01)


AGENTS = (echoing, rows, sticky_rows, long_message, many_messages, flood)

if __name__ == "__main__":
    name, *arguments = sys.argv[1:]
    {agent.__name__: agent for agent in AGENTS}[name](*arguments)

"""A scripted agent: plays the turns of a script as an agent CLI would, for demos and tests.

usage: agent.py SCRIPT                      the first turn; prints a fresh session handle
       agent.py SCRIPT --resume HANDLE      the next turn of that session; the reply is on standard input
       agent.py SCRIPT --sticky             stays alive: every line of standard input is one JSON string, first the
                                            instructions, then the replies; a line "---" ends each turn

SCRIPT is `{"turns": [[action...]...]}`; the last turn is played again if there are more turns than that. Actions:
  {"say": TEXT or OBJECT}   the assistant's words; an object is said as its JSON text
  {"tool": TEXT}            what a tool printed
  {"sleep": SECONDS}        work that takes its time
  {"await": PATH}           waits until there is such a file in the working folder
  {"write": {"path", "text"}}  a file in the working folder
  {"raw": LINE}             a line of output as it is
  {"exit": CODE}            the end of the process
With "when": [WORD...] an action is done only if the reply has one of the words, with "unless": [WORD...] only if it has
none. `{reply}` and `{turn}` in texts are replaced.
"""

from __future__ import annotations

import json
import sys
import time
import uuid
from pathlib import Path
from typing import Any, cast

END_OF_TURN = "---"


def main(arguments: list[str]) -> None:
    script, *how = arguments
    turns: list[list[dict[str, Any]]] = json.loads(Path(script).read_text(encoding="utf-8"))["turns"]
    if how == ["--sticky"]:
        stay(turns)
    elif how[:1] == ["--resume"]:
        handle = how[1]
        play(turns, next_turn_of(handle), sys.stdin.read())
    else:
        sys.stdin.read()
        handle = f"session-{uuid.uuid4()}"
        show({"session_handle": handle})
        play(turns, next_turn_of(handle), "")


def stay(turns: list[list[dict[str, Any]]]) -> None:
    sys.stdin.readline()
    play(turns, 1, "")
    print(END_OF_TURN, flush=True)
    for turn, line in enumerate(sys.stdin, start=2):
        play(turns, turn, json.loads(line))
        print(END_OF_TURN, flush=True)


def next_turn_of(handle: str) -> int:
    """Sessions are kept where real agents keep theirs: on disk, because every turn is a process of its own."""
    memory = Path(f".{Path(handle).name}.turn")
    turn = int(memory.read_text()) + 1 if memory.exists() else 1
    memory.write_text(str(turn))
    return turn


def play(turns: list[list[dict[str, Any]]], turn: int, reply: str) -> None:
    for action in turns[min(turn, len(turns)) - 1]:
        if fits(action, reply):
            perform(filled(action, {"{reply}": reply, "{turn}": str(turn)}))


def fits(action: dict[str, Any], reply: str) -> bool:
    def has(words: list[str]) -> bool:
        return any(word.lower() in reply.lower() for word in words)

    return ("when" not in action or has(action["when"])) and not has(action.get("unless", []))


def perform(action: dict[str, Any]) -> None:
    if "say" in action:
        said = action["say"]
        show({"role": "assistant", "text": said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)})
    elif "tool" in action:
        show({"role": "tool", "text": action["tool"]})
    elif "sleep" in action:
        time.sleep(action["sleep"])
    elif "await" in action:
        while not Path(action["await"]).exists():
            time.sleep(0.01)
    elif "write" in action:
        Path(action["write"]["path"]).write_text(action["write"]["text"], encoding="utf-8")
    elif "raw" in action:
        print(action["raw"], flush=True)
    elif "exit" in action:
        sys.exit(action["exit"])


def filled(value: Any, texts: dict[str, str]) -> Any:
    if isinstance(value, str):
        for placeholder, text in texts.items():
            value = value.replace(placeholder, text)
        return value
    if isinstance(value, list):
        return [filled(item, texts) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: filled(item, texts) for key, item in cast("dict[str, Any]", value).items()}
    return value


def show(line: dict[str, str]) -> None:
    print(json.dumps(line, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    main(sys.argv[1:])

"""`make demo` as a newcomer sees it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agents import CODEX, environment, model
from running import ROOT

DEMO = [sys.executable, str(ROOT / "examples/service/demo.py")]


@pytest.mark.parametrize("options", [[], ["--engine", "dbos"]])
def test_the_demo_answers_itself(options: list[str]) -> None:
    ended = subprocess.run([*DEMO, "--exit", *options], capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    for told in (
        "The console: http://127.0.0.1:",
        "Which note shall I summarise?",
        "answers: moving-house.md",
        "who feeds the cat",
    ):
        assert told in ended.stdout
    assert "\x1b[" not in ended.stdout, "colours are for terminals"


def test_the_demo_takes_answers_from_the_terminal() -> None:
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    # A shell that runs these tests in the background has switched Ctrl-C off for all that is started in them.
    with subprocess.Popen(DEMO, **pipes, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as demo:
        assert demo.stdin is not None and demo.stdout is not None
        asked = 0
        for line in demo.stdout:
            if "answer here" in line:
                asked += 1
                demo.stdin.write("the cat\n" if asked == 1 else "Budget, please\n")
                demo.stdin.flush()
            if "Ctrl-C ends the service" in line:
                break
        demo.send_signal(signal.SIGINT)
        assert "stopped" in demo.stdout.read()
    assert (asked, demo.returncode) == (2, 0)


def test_the_demo_runs_an_agent_of_ones_own(tmp_path: Path) -> None:
    done = {"file": "moving-house.md", "summary": "Keys on the 28th.", "open_points": ["the piano"]}
    steps: list[dict[str, Any]] = [
        {"text": "I look at the notes.", "tool": {"command": "ls ../skill/notes"}},
        {"text": "Which note shall I summarise?"},
        {"tool": {"command": "cat ../skill/notes/moving-house.md"}},
        {"text": json.dumps({**done, "__SKILL_DONE__": True})},
    ]
    with model(tmp_path, steps) as asked:
        settings = {**os.environ, **environment(CODEX, tmp_path / "home", asked.url)}
        command = [*DEMO, "--exit", "--agent", "codex"]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=settings)
        answered = asked.asked()[2]["last_user_text"].strip()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    for told in ("I look at the notes.", "reading-list.md", "Which note shall I summarise?", "Keys on the 28th."):
        assert told in ended.stdout
    assert "who feeds the cat" in ended.stdout, "the note was really read"
    assert answered == "moving-house.md"


def test_the_demo_says_that_there_is_no_such_agent() -> None:
    command = [*DEMO, "--exit", "--agent", "nobody"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode, ended.stdout.count("attempt")) == (1, 0)
    assert "nobody" in ended.stderr

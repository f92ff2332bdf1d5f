"""`make demo` as a newcomer sees it."""

from __future__ import annotations

import subprocess
import sys

from running import ROOT

DEMO = [sys.executable, str(ROOT / "examples/service/demo.py")]


def test_the_demo_answers_itself() -> None:
    ended = subprocess.run([*DEMO, "--exit"], capture_output=True, text=True, timeout=120, check=False)
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
    with subprocess.Popen(DEMO, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as demo:
        assert demo.stdin is not None and demo.stdout is not None
        asked = 0
        for line in demo.stdout:
            if "answer here" in line:
                asked += 1
                demo.stdin.write("the cat\n" if asked == 1 else "Budget, please\n")
                demo.stdin.flush()
            if "Ctrl-C ends the service" in line:
                break
        demo.send_signal(2)
        assert "stopped" in demo.stdout.read()
    assert (asked, demo.returncode) == (2, 0)

"""Agents for the tests: shell scripts that note when their turns begin and end.

The run's id says what its agent does: ``ask`` asks once, ``hold`` does so when a file says that it may, ``talk`` is
sticky, ``done`` never asks, ``deaf`` holds and does not hear SIGTERM, and ``nap`` asks after a short while.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from turnlatch import Command, Run
from turnlatch.types import StartTurn

QUESTION = "echo 'Which file?'"
ANSWER = """printf '{"file": "%s", "__SKILL_DONE__": true}\\n' "$reply" """
TURN = """
echo "start $slot $attempt" >> turns.log
{wait}
{say}
echo "end $slot $attempt" >> turns.log
"""
HOLD = 'while [ ! -e "go-$run" ]; do sleep 0.05; done'
TALK = """
n=1; echo "start $slot $n" >> turns.log; echo 'Which file?'; echo "end $slot $n" >> turns.log; echo ==
while read -r reply; do
    n=$((n + 1)); echo "start $slot $n" >> turns.log
    if [ "$reply" = again ]; then echo 'Which one, again?'; else {answer}; fi
    echo "end $slot $n" >> turns.log; echo ==
done
"""


class Agents:
    """Makes the command of a turn; the scripts work in one folder and carry a mark in their environment."""

    def __init__(self, folder: Path, mark: str = "") -> None:
        self.folder = folder
        self.mark = mark

    def __call__(self, run: Run, effect: StartTurn) -> Command:
        kind = run.run_id.split("-")[0]
        reply = effect["resume"]["response"] if "resume" in effect else "b.txt"
        names = {"run": run.run_id, "slot": effect["slot_id"], "attempt": effect["attempt_number"], "reply": reply}
        known = "".join(f"{name}={shlex.quote(str(value))}\n" for name, value in names.items())
        environment = {"PATH": "/usr/bin:/bin", "TURNLATCH_TEST": self.mark}
        if kind == "talk":
            script = TALK.format(answer=ANSWER)
            return Command(["sh", "-c", known + script], cwd=self.folder, env=environment, end_of_turn="==")
        says_all = kind == "done" or effect["attempt_number"] > 1
        wait = HOLD if kind in ("hold", "deaf") else "sleep 0.15" if kind == "nap" else ""
        trap = 'trap "" TERM\n' if kind == "deaf" else ""
        script = trap + known + TURN.format(wait=wait, say=ANSWER if says_all else QUESTION)
        return Command(["sh", "-c", script], cwd=self.folder, env=environment)


def turns(folder: Path) -> list[tuple[str, str, int]]:
    """What the agents noted, in order: start or end, slot, attempt."""
    log = folder / "turns.log"
    lines = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
    return [(what, slot, int(attempt)) for what, slot, attempt in lines]


def most_at_a_time(folder: Path) -> int:
    """The largest number of turns that were under way together."""
    now = most = 0
    for what, _, _ in turns(folder):
        now += 1 if what == "start" else -1
        most = max(most, now)
    return most

"""What a turn costs through Python beside the core alone, taken in turns: read the ratios, not the times.

usage: turns.py STOPWATCH     with a release build of the package installed; `make bench` does it
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

from turnlatch import Manifest, Run, admit

ROUNDS = 10
ENOUGH_NS = 20_000_000
ENOUGH_CALLS = 5  # of a long turn the first call alone would mostly measure the machine
PROSE = "The build is green and the tests have passed, as far as I can see. Shall I go on with the release?\n"
RUNNER = {"execution_modes": ["interactive"]}
REQUEST = {"run_id": "r1", "engine": "codex", "execution_mode": "interactive"}
ITEM = {
    "type": "object",
    "required": ["id", "name"],
    "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
}
SCHEMA = {
    "type": "object",
    "required": ["summary", "items"],
    "properties": {"summary": {"type": "string"}, "items": {"type": "array", "items": ITEM}},
}
SIZES = {"200 B": 200, "4 KB": 4_000, "64 KB": 64_000, "1 MB": 1_000_000}


def question(size: int) -> str:
    return PROSE * max(1, size // len(PROSE))


def marker_and_object(size: int) -> str:
    items = [{"id": number, "name": f"item number {number}"} for number in range(max(1, size // 40))]
    return json.dumps({"summary": "done", "items": items, "__SKILL_DONE__": True}, separators=(",", ":"))


def script(text: str) -> dict[str, Any]:
    granted = {"type": "slot_granted", "slot_id": "r1/s1"}
    finished = {"type": "turn_finished", "attempt_number": 1, "text": text}
    given = {"skill": {"runner": RUNNER, "output_schema": SCHEMA}, "request": REQUEST}
    return {"given": given, "at": 0, "events": [[granted, 1], [finished, 2]]}


def through_python(the_script: dict[str, Any]) -> int:
    """The nanoseconds of the last event at best."""
    skill = the_script["given"]["skill"]
    plan = admit(Manifest(**skill), REQUEST, engines=["codex"])
    before, _ = Run.create(plan, 0)
    (granted, at), (event, now) = the_script["events"]
    before.apply(granted, at)
    best, total, calls = sys.maxsize, 0, 0
    while total < ENOUGH_NS or calls < ENOUGH_CALLS:
        run = before.copy()
        start = time.perf_counter_ns()
        applied = run.apply(event, now)
        once = time.perf_counter_ns() - start
        del applied
        best, total, calls = min(best, once), total + once, calls + 1
    return best


def main() -> None:
    stopwatch = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
    assert stopwatch.stdin is not None and stopwatch.stdout is not None
    print(f"\n{'turn':28} {'bytes':>10} {'Python':>12} {'core':>12} {'ratio':>8} {'on top':>12}")
    for name, text_of in (("question", question), ("marker + valid", marker_and_object)):
        for size, count in SIZES.items():
            the_script = script(text_of(count))
            python = core = sys.maxsize
            for _ in range(ROUNDS):
                python = min(python, through_python(the_script))
                stopwatch.stdin.write(json.dumps(the_script) + "\n")
                stopwatch.stdin.flush()
                core = min(core, int(stopwatch.stdout.readline()))
            length = len(the_script["events"][1][0]["text"])
            on_top = (python - core) / 1000
            label = f"{name} {size}"
            print(f"{label:28} {length:>10} {python / 1000:>10.1f}µs {core / 1000:>10.1f}µs", end="")
            print(f" {python / core:>8.2f} {on_top:>10.1f}µs")
    stopwatch.communicate()


if __name__ == "__main__":
    main()

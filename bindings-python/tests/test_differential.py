"""Random scripts come to the same in Python as in Rust: every answer, and the snapshot after every event.

``make differential`` makes the scripts and runs this; their format is described in ``tests/README.md``.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from functools import cache
from typing import Any

import pytest

import gates
from turnlatch import AdmissionError, Plan
from vectors_runner import ROOT, Members, Stage, admission, compact, refused

ROUND = ROOT / "target" / "differential"
CHECKER = ROOT / "target" / "debug" / "checker"


def test_python_tells_the_same_as_rust_after_every_event(capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads((ROUND / "round.json").read_text(encoding="utf-8"))
    seed = told["seed"]
    scripts = events = 0
    with (ROUND / "scripts.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            made = json.loads(line)
            script = made["script"]
            here = transcript(script)
            if digest(here) != made["sha256"]:
                pytest.fail(f"TURNLATCH_SEED={seed}, script {scripts}\n{difference(script, here)}", pytrace=False)
            scripts += 1
            events += sum("reload" not in thrown for thrown in script["events"])
    assert (scripts, events) == (told["scripts"], told["events"])
    gates.report("differential", events=events, scripts=scripts, seed=seed)
    with capsys.disabled():
        print(f"\nrandom events in Python: {events} of {scripts} scripts, TURNLATCH_SEED={seed}", end="")


def test_a_small_difference_is_noticed_and_shown() -> None:
    script = {"given": {}, "at": 10_000, "events": [[{"type": "cancel"}, 10_001], [{"type": "cancel"}, 10_002]]}
    other = {**script, "events": [[{"type": "cancel"}, 10_002], [{"type": "cancel"}, 10_002]]}
    here = transcript(other)
    assert digest(here) == digest(in_rust(other)) != digest(in_rust(script))
    shown = difference(script, here)
    assert "after event 1 of 2" in shown and "10001" in shown and "10002" in shown


def transcript(script: Members) -> list[str]:
    """What admission said, and for every step the answer and the snapshot behind it."""
    try:
        plan = plan_of(compact(script["given"]))
    except AdmissionError as refusal:
        return [compact({"refused": refused(refusal)})]
    stage = Stage(plan)
    told = [compact({"warnings": plan.warnings}), step(stage, stage.create(script))]
    for thrown in script["events"]:
        told.append(step(stage, stage.throw(thrown)))
    return told


@cache
def plan_of(given: str) -> Plan:
    """Scripts that are given the same share a plan."""
    return admission(json.loads(given))


def step(stage: Stage, then: Any) -> str:
    return f"{compact(bounded(then))}\n{stage.run.to_json()}"


def bounded(value: Any) -> Any:
    """An answer without integers beyond 2^53, which not every language has in its data."""
    match value:
        case bool():
            return value
        case int() | float():
            return "beyond 2^53" if value == value // 1 and abs(value) >= 2**53 else value
        case list():
            return [bounded(item) for item in value]
        case dict():
            return {key: bounded(member) for key, member in value.items()}
    return value


def digest(told: list[str]) -> str:
    return hashlib.sha256("\n".join(told).encode()).hexdigest()


def in_rust(script: Members) -> list[str]:
    """The transcript of the core as a program of its own."""
    done = subprocess.run([CHECKER], input=compact(script) + "\n", capture_output=True, check=True, encoding="utf-8")
    lines: list[str] = json.loads(done.stdout)
    return lines


def difference(script: Members, here: list[str]) -> str:
    """The first step that differs, with the script cut behind it."""
    there = in_rust(script)
    number = next((n for n, (one, other) in enumerate(zip(here, there, strict=False)) if one != other), len(there))
    # Before the first event there are what admission said and the creation.
    events = script["events"][: max(number - 1, 0)]
    place = "at admission" if number == 0 else f"after event {number - 1} of {len(script['events'])}"
    cut = compact({**script, "events": events})
    return f"{place}\nRust:   {there[number]}\nPython: {here[number]}\n{CHECKER} <<< '{cut}'"

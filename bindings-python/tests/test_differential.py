"""Random plans and events, through Python's face and through the core's own checker: the same bytes.

``make test-python`` builds the checker and says where it is; its format is described in ``tests/README.md``.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from test_properties import QUICK, Throw, event_of, json_values, lists, tried
from turnlatch import Applied, Refused, Run
from vectors_runner import admission, attempt, compact, refused

# In each list the first two are good; most plans are made of these, so that most are admitted.
RUNNERS: list[Any] = [
    '{"execution_modes": ["auto", "interactive"]}',
    '{"execution_modes": ["interactive", "auto"], "max_attempt": 2}',
    '{"execution_modes": ["auto"]}',
    "{}",
    "{",
    '{"max_attempt": 0}',
]
SCHEMAS: list[Any] = [
    '{"type": "object", "required": ["answer"], "properties": {"answer": {"type": "integer"}}}',
    None,
    "{}",
    "false",
    '{"type": "nothing"}',
]
REQUESTS: dict[str, list[Any]] = {
    "run_id": ["r1", "r1", "", "r1/../x", "größe"],
    "engine": ["codex", "claude", "nobody"],
    "execution_mode": ["interactive", "interactive", "auto", "both"],
    "interactive_require_user_reply": [True, False, "no"],
}
OPTIONS: dict[str, list[Any]] = {
    "interactive_profile": [{"kind": "sticky_process"}, {"kind": "sticky_process"}, {"kind": "resumable"}, {"kind": 1}],
    "session_timeout_sec": [1, 5, 0, -1, 10**12],
    "interrupted_turn": ["retry", "fail", None],
    "input": [{}, {}, {"a": 1}, []],
}
LIMITS = [{}, {"turn_text_bytes": 30}, {"options": 1}, {"prompt_bytes": 5}, {"reply_bytes": 3}]


def plans_of(choose: Callable[[list[Any]], st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    request = st.fixed_dictionaries(
        {name: choose(values) for name, values in REQUESTS.items()},
        optional={name: choose(values) for name, values in OPTIONS.items()},
    )
    skill = st.fixed_dictionaries({"runner": choose(RUNNERS), "output_schema": choose(SCHEMAS)})
    # As text, so that both sides are given the same.
    return st.fixed_dictionaries(
        {"request_text": request.map(compact), "skill": skill, "limits": st.sampled_from(LIMITS)}
    )


good = plans_of(lambda values: st.sampled_from(values[:2]))
plans = st.one_of(
    good,
    good.map(dict),  # one_of takes each strategy once
    good.map(lambda plan: {**plan, "limits": {}}),
    plans_of(st.sampled_from),
    st.fixed_dictionaries(
        {"request_text": st.dictionaries(st.sampled_from(["run_id", "engine", "input", "x"]), json_values).map(compact)}
    ),
)
hostile_times: st.SearchStrategy[Any] = st.sampled_from([-1, 1.5, 7.0, True, "1", None, [], 2**53, 2**64 - 1, 1e300])
# Which throws are made at a hostile time, and which are given as text that is cut off.
spoilt = st.dictionaries(st.integers(0, 24), hostile_times | st.just("cut"), max_size=3)


class Checker:
    """The core as a program of its own, without Python."""

    def __init__(self) -> None:
        path = os.environ.get("TURNLATCH_CHECKER", "")
        assert os.path.isfile(path), "TURNLATCH_CHECKER must name the checker; `make test-python` builds it and says so"
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def transcript(self, script: Any) -> str:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(compact(script).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), f"the checker ended with {self.process.wait()}"
        return line[:-1].decode()


@pytest.fixture(scope="module")
def checker() -> Iterator[Checker]:
    one = Checker()
    yield one
    one.process.communicate()
    assert one.process.returncode == 0


def told_here(script: Any, thrown: list[Throw], spoilt: dict[int, Any]) -> Any:
    """The transcript of Python's face. The events are aimed at where the run is, and noted in the script."""
    try:
        plan = admission(script["given"])
    except Refused as refusal:
        return {"admission": {"refused": refused(refusal)}, "steps": []}
    run, created = Run.create(plan, script["at"])
    steps = [step(run, {"effects": created.effects, "status": run.status})]
    now = script["at"]
    for index, throw in enumerate(thrown):
        now += throw[3]
        spoil = spoilt.get(index)
        at = now if spoil in (None, "cut") else spoil
        event = event_of(run, throw)
        entry = [compact(event)[:-1], at, "text"] if spoil == "cut" else [event, at]
        script["events"].append(entry)
        steps.append(step(run, attempt(run, partial(apply, run, entry))[0]))
    return {"admission": {"warnings": plan.warnings}, "steps": steps}


def apply(run: Run, entry: list[Any]) -> Applied:
    return run.apply_json(entry[0], entry[1]) if entry[2:] == ["text"] else run.apply(entry[0], entry[1])


def step(run: Run, then: Any) -> Any:
    return {**then, "snapshot_sha256": hashlib.sha256(run.to_json().encode()).hexdigest()}


@tried
@given(plans, lists, spoilt)
def test_python_and_the_core_tell_the_same(
    checker: Checker, given: Any, thrown: list[Throw], spoilt: dict[int, Any]
) -> None:
    script = {"given": given, "at": 10_000, "events": []}
    here = compact(told_here(script, thrown, spoilt))
    note(compact(script))
    assert here == checker.transcript(script)


def test_the_scripts_get_everywhere() -> None:
    """The comparison is worth something only if plans are admitted and refused, and events taken and rejected."""
    seen: Counter[str] = Counter()

    @settings(QUICK, derandomize=True)
    @given(plans, lists, spoilt)
    def look(given: Any, thrown: list[Throw], spoilt: dict[int, Any]) -> None:
        told = told_here({"given": given, "at": 10_000, "events": []}, thrown, spoilt)
        seen.update(list(told["admission"]))
        for taken in told["steps"]:
            seen[taken["status"] if "status" in taken else taken["rejected"]["code"]] += 1

    look()
    print(seen)
    everywhere = {"queued", "running", "waiting_user", "succeeded", "failed", "canceled", "warnings", "refused"}
    assert everywhere | {"EVENT_MALFORMED", "UNKNOWN_INTERACTION"} <= set(seen)


def test_the_comparison_notices_a_small_difference(checker: Checker) -> None:
    script = {"given": {}, "at": 10_000, "events": [[{"type": "cancel"}, 10_001]]}
    other = {**script, "events": [[{"type": "cancel"}, 10_002]]}
    one, two = json.loads(checker.transcript(script)), json.loads(checker.transcript(other))
    assert one["steps"][0] == two["steps"][0]
    assert one["steps"][1]["snapshot_sha256"] != two["steps"][1]["snapshot_sha256"]

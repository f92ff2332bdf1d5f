"""What holds for every list of events, over a few plans. The number behind TURNLATCH_SEED repeats a trial."""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st

from support import plan_of
from turnlatch import EventRejectedError, Journal, Plan, Run, Transition, codes, replay

CODES = {info["code"] for info in codes()}
STICKY = {"interactive_profile": {"kind": "sticky_process"}}
RELAXED = {"interactive_require_user_reply": False, "session_timeout_sec": 5}
PLANS: dict[str, Plan] = {
    "auto": plan_of(execution_mode="auto"),
    "resumable, strict": plan_of(),
    "resumable, not strict": plan_of(**RELAXED),
    "sticky, strict": plan_of(session_timeout_sec=5, **STICKY),
    "sticky, not strict": plan_of(**STICKY, **RELAXED),
    "retry": plan_of(interrupted_turn="retry", **RELAXED),
    "retry, auto": plan_of(execution_mode="auto", interrupted_turn="retry"),
}
TEXTS = [
    "Which file?",
    "",
    '{"answer": 1, "__SKILL_DONE__": true}',
    '{"answer": "one", "__SKILL_DONE__": true}',
    '{"answer": 1}',
    '{"ask_user": {"prompt": "Which?", "kind": "choose_one", "options": ["a", "b"]}}',
    "```json\n{broken\n```",
    "__SKILL_DONE__",
    "\x1b[31m\u202e\x00",
]

Throw = tuple[str, int, Any, int]
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    # Hypothesis leaves out half pairs (category Cs) only if told to.
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "__class__", "$b"]), inner),
    max_leaves=6,
)
# Most throws hit what the run waits for, so that it gets somewhere; `off` makes some miss.
off = st.sampled_from([0, 0, 0, 0, -1, 1, 7])
step_of_time = st.sampled_from([0, 1, 1000, 6000, -500])
throws: st.SearchStrategy[Throw] = st.one_of(
    # one_of takes each strategy once, so these have to be different ones.
    *(st.tuples(st.just("forward"), st.just(0), st.sampled_from(TEXTS), step_of_time) for _ in range(10)),
    st.tuples(st.just("grant"), off, st.none(), step_of_time),
    st.tuples(st.just("finish"), off, st.sampled_from(TEXTS), step_of_time),
    st.tuples(st.just("output"), off, json_values, step_of_time),
    st.tuples(st.just("fail"), off, st.sampled_from(["TIMEOUT", "AUTH_REQUIRED"]), step_of_time),
    st.tuples(st.just("reply"), off, json_values, step_of_time),
    st.tuples(st.just("keyed"), off, st.sampled_from(["k1", "k2"]), step_of_time),
    st.tuples(st.just("timer"), off, st.none(), step_of_time),
    st.tuples(st.just("lost"), off, st.booleans(), step_of_time),
    st.tuples(st.just("cancel"), off, st.none() | st.text(max_size=4) | json_values, step_of_time),
    st.tuples(st.just("raw"), off, json_values, step_of_time),
)
lists = st.lists(throws, max_size=25) | st.lists(throws, min_size=8, max_size=25)
plans = st.sampled_from(sorted(PLANS))


def event_of(run: Run, throw: Throw) -> Any:
    """A throw as an event, aimed at where the run is."""
    kind, miss, detail, _ = throw
    if kind == "forward":
        kind = {"queued": "grant", "running": "finish", "waiting_user": "reply"}.get(run.status, "cancel")
    slot = run.outstanding()["keep"].get("slot_id", "r1/s1")
    slot = slot if miss == 0 else f"r1/s{max(int(slot.rsplit('s')[-1]) + miss, 0)}"
    attempt = max(run.attempt_number + miss, 0)
    question = max(run.status_view().get("pending_interaction_id", 1) + miss, 0)
    match kind:
        case "grant":
            return {"type": "slot_granted", "slot_id": slot}
        case "finish":
            return {"type": "turn_finished", "attempt_number": attempt, "text": detail, "session_handle": "h"}
        case "output":
            return {"type": "turn_finished", "attempt_number": attempt, "slot_id": slot, "output": detail}
        case "fail":
            return {"type": "turn_finished", "attempt_number": attempt, "exit_code": 1, "failure_reason": detail}
        case "reply":
            return {"type": "reply", "interaction_id": question, "response": detail}
        case "keyed":
            return {"type": "reply", "interaction_id": question, "response": "same", "idempotency_key": detail}
        case "timer":
            return {"type": "timer_fired", "interaction_id": question}
        case "lost":
            return {"type": "process_lost", "attempt_number": attempt, **({"slot_id": slot} if detail else {})}
        case "cancel":
            return {"type": "cancel"} if not detail else {"type": "cancel", "reason": detail}
        case _:
            return detail


class Walk:
    """A run and what came of every throw so far."""

    def __init__(self, plan: Plan) -> None:
        self.run, created = Run.create(plan, 10_000)
        self.now = 10_000
        self.told: list[Any] = [created.effects]
        self.entries = [created.entry]
        self.kept = [created.effects]

    def throw(self, throw: Throw) -> Transition | None:
        self.now += throw[3]
        event = event_of(self.run, throw)
        note(f"{self.now} {event!r}")
        before = self.run.to_json()
        try:
            applied = self.run.apply(event, self.now)
        except EventRejectedError as rejected:
            assert rejected.code in CODES
            assert self.run.to_json() == before
            self.told.append((rejected.code, rejected.message, rejected.details))
            return None
        self.told.append((applied.effects, applied.receipt))
        if applied.entry is None:
            assert self.run.to_json() == before
        else:
            self.entries.append(applied.entry)
            self.kept.append(applied.effects)
        return applied


@pytest.fixture(autouse=True)
def say_the_seed() -> None:
    print(f"TURNLATCH_SEED={os.environ['TURNLATCH_SEED']}")


QUICK = settings(
    max_examples=150, deadline=None, database=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)


def tried(test: Any) -> Any:
    """Random each time, with the seed of this session."""
    return seed(int(os.environ["TURNLATCH_SEED"]))(settings(QUICK, derandomize=False)(test))


@tried
@given(plans, lists)
def test_only_rejections_and_an_end_is_an_end(name: str, thrown: list[Throw]) -> None:
    walk = Walk(PLANS[name])
    for throw in thrown:
        ended, status, revision = walk.run.ended, walk.run.status, walk.run.revision
        view, history = walk.run.status_view(), walk.run.history()
        applied = walk.throw(throw)
        if ended:
            assert walk.run.status == status and walk.run.history() == history
            assert walk.run.status_view().get("data") == view.get("data")
            assert walk.run.status_view().get("error") == view.get("error")
            assert applied is None or {effect["type"] for effect in applied.effects} <= {"release_slot"}
        changed = applied is not None and applied.entry is not None
        assert walk.run.revision == revision + changed
        assert (walk.run.pending_view()["pending"] is None) == (walk.run.status != "waiting_user")
        assert walk.run.history()[: len(history)] == history


@tried
@given(plans, lists, st.integers(0, 25))
def test_a_restored_run_goes_on_the_same(name: str, thrown: list[Throw], place: int) -> None:
    one, other = Walk(PLANS[name]), Walk(PLANS[name])
    for index, throw in enumerate(thrown):
        if index == place:
            other.run = Run.from_json(other.run.to_json())
        one.throw(throw)
        other.throw(throw)
    assert one.told == other.told
    assert one.run.to_json() == other.run.to_json()
    assert one.run.status_view() == other.run.status_view()


@tried
@given(plans, lists)
def test_journals_replay_to_the_same_run_and_effects(name: str, thrown: list[Throw]) -> None:
    walk = Walk(PLANS[name])
    for throw in thrown:
        walk.throw(throw)
    lines: list[str] = []
    for compact in (False, True):
        journal = Journal(PLANS[name])
        lines.clear()
        for entry in walk.entries:
            assert entry is not None
            entry = entry.compact() if compact else entry
            journal.push(entry)
            lines.append(entry.encode_chained("r1", lines[-1] if lines else None))
        for read in (journal, Journal.from_json(journal.to_json()), Journal.from_lines("r1", lines)):
            run, effects = replay(PLANS[name], read)
            assert run.to_json() == walk.run.to_json()
            assert effects == walk.kept


@tried
@given(plans, lists)
def test_a_dict_and_its_text_do_the_same(name: str, thrown: list[Throw]) -> None:
    walk = Walk(PLANS[name])
    for throw in thrown:
        by_text = Run.from_json(walk.run.to_json())
        event, now = event_of(walk.run, throw), walk.now + throw[3]
        walk.throw(throw)
        try:
            applied = by_text.apply_json(json.dumps(event), now)
            told: Any = (applied.effects, applied.receipt)
        except EventRejectedError as rejected:
            told = (rejected.code, rejected.message, rejected.details)
        assert told == walk.told[-1]
        assert by_text.to_json() == walk.run.to_json()


@tried
@given(st.text(st.characters()) | st.binary().map(lambda data: data.decode("latin-1")), st.integers() | json_values)
def test_no_text_and_no_time_is_more_than_rejected(text: str, now: Any) -> None:
    run, _ = Run.create(PLANS["resumable, strict"], 0)
    before = run.to_json()
    with pytest.raises((EventRejectedError, UnicodeEncodeError)):
        run.apply_json(text, now)
    assert run.to_json() == before


def test_the_throws_get_everywhere() -> None:
    """The trials are worth something only if they reach every status; this one is the same each time."""
    seen: Counter[str] = Counter()

    @settings(QUICK, derandomize=True)
    @given(plans, lists)
    def look(name: str, thrown: list[Throw]) -> None:
        walk = Walk(PLANS[name])
        for throw in thrown:
            walk.throw(throw)
        seen.update({walk.run.status})

    look()
    print(seen)
    assert set(seen) == {"queued", "running", "waiting_user", "succeeded", "failed", "canceled"}

"""Python's face of the core: times, data in, data out, exceptions, threads."""

from __future__ import annotations

import copy
import json
import pickle
import re
import threading
from collections import OrderedDict, UserDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import Any, cast

import pytest

import turnlatch
from support import RUNNER, SCHEMA, plan_of, queued_run, running_run, waiting_run
from turnlatch import (
    AdmissionError,
    Entry,
    EventRejectedError,
    Journal,
    LoadError,
    Plan,
    Replayer,
    Run,
    Skill,
    TurnlatchError,
    admit,
    append_instructions,
    codes,
    decode_stream,
    describe_skill,
    display_text,
    evaluate_turn,
    export_run,
    import_run,
    read_job,
    replay,
    request_event,
    run_of_slot,
    to_millis,
    types,
    unreadable_report,
)
from vectors_runner import ROOT

UTC = timezone.utc


# Times


@pytest.mark.parametrize(
    ("now", "millis"),
    [
        (0, 0),
        (1_771_200_000_000, 1_771_200_000_000),
        (datetime(1970, 1, 1, tzinfo=UTC), 0),
        (datetime(1970, 1, 1, 0, 0, 0, 1_999, tzinfo=UTC), 1),
        (datetime(2026, 2, 16, tzinfo=UTC), 1_771_200_000_000),
        (datetime(2026, 2, 16, 2, tzinfo=timezone(timedelta(hours=2))), 1_771_200_000_000),
        (datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), 253_402_300_799_999),
    ],
)
def test_a_time_is_millis_or_an_aware_datetime(now: int | datetime, millis: int) -> None:
    assert to_millis(now) == millis
    run, applied = Run.create(plan_of(), now)
    assert run.status_view()["created_at"] == millis
    assert applied.entry is not None and applied.entry.at == millis


def test_a_naive_datetime_is_refused_everywhere() -> None:
    run, naive = waiting_run(), datetime(2026, 2, 16)
    before = run.to_json()
    calls: list[Callable[[], object]] = [
        lambda: to_millis(naive),
        lambda: Run.create(plan_of(), naive),
        lambda: run.apply({"type": "cancel"}, naive),
        lambda: run.apply_json('{"type":"cancel"}', naive),
        lambda: run.reply(1, "a", naive),
        lambda: run.cancel(naive),
        lambda: run.allowed(naive),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="`now` needs a time zone") as caught:
            call()
        assert repr(naive) in str(caught.value)
    assert run.to_json() == before


@pytest.mark.parametrize(
    "now", [True, False, -1, 1.5, "1", None, 2**53, 2**64, -(2**70), float("nan"), datetime(1969, 1, 1, tzinfo=UTC)]
)
def test_what_is_no_time_is_malformed(now: Any) -> None:
    run = waiting_run()
    before = run.to_json()
    for call in (
        lambda: run.apply({"type": "cancel"}, now),
        lambda: run.apply_json('{"type":"cancel"}', now),
        lambda: run.cancel(now),
        lambda: run.allowed(now),
        lambda: Run.create(plan_of(), now),
    ):
        with pytest.raises(EventRejectedError) as caught:
            call()
        assert (caught.value.code, caught.value.path) == ("EVENT_MALFORMED", "now")
        if not isinstance(now, datetime):
            assert str(caught.value).endswith(f"; `now` is {now!r}")
    assert run.to_json() == before


# Receipts and exceptions


def test_a_receipt_is_no_exception() -> None:
    run = waiting_run()
    receipts = [
        run.reply(7, "to nobody", 3).receipt,
        run.reply(1, "the first", 4, idempotency_key="k").receipt,
        run.reply(1, "the first", 5, idempotency_key="k").receipt,
        run.reply(1, "another", 6, idempotency_key="k").receipt,
        run.reply(1, "late", 7).receipt,
        run.reply(1, "x", 8, expected_revision=1).receipt,
        run.cancel(9, "enough").receipt,
        run.cancel(10).receipt,
    ]
    told = [receipt["kind"] for receipt in receipts if receipt is not None]
    assert told == ["unknown", "accepted", "duplicate", "conflict", "stale", "conflict", "canceled", "already_ended"]
    assert run.ended and run.status == "canceled"


def test_the_same_request_by_apply_gives_the_same_receipt() -> None:
    run = waiting_run()
    before = run.to_json()
    refused = run.apply({"type": "reply", "interaction_id": 7, "response": "x"}, 3)
    assert refused.receipt is not None
    assert (refused.receipt["kind"], refused.receipt["code"]) == ("unknown", "UNKNOWN_INTERACTION")
    assert refused.receipt["message"] == "interaction 7 was never issued; 1 is pending"
    assert refused.receipt["pending_interaction_id"] == 1
    assert (refused.effects, refused.entry) == ([], None)
    assert refused.observation is not None and refused.observation["rejected"] == "UNKNOWN_INTERACTION"
    assert run.to_json() == before


def test_a_malformed_request_raises_even_from_the_helpers() -> None:
    run: Any = waiting_run()
    calls: list[Callable[[], object]] = [
        lambda: run.reply("1", "x", 3),
        lambda: run.reply(1, "x", 3, idempotency_key=""),
        lambda: run.cancel(3, reason=5),
        lambda: run.reply(1, "\ud800", 3),
    ]
    for call in calls:
        with pytest.raises(EventRejectedError) as caught:
            call()
        assert caught.value.code == "EVENT_MALFORMED"


def refusals() -> list[tuple[type[TurnlatchError], str, Callable[[], object]]]:
    run = waiting_run()
    return [
        (AdmissionError, "EXECUTION_MODE_INVALID", lambda: plan_of(execution_mode="both")),
        (EventRejectedError, "EVENT_MALFORMED", lambda: run.apply_json("{", 3)),
        (
            EventRejectedError,
            "EVENT_UNKNOWN_ATTEMPT",
            lambda: run.apply({"type": "turn_finished", "attempt_number": 9}, 3),
        ),
        (LoadError, "SNAPSHOT_INVALID", lambda: Run.from_json("{}")),
        (LoadError, "JOURNAL_INVALID", lambda: Journal.from_json("{}")),
        (LoadError, "JOURNAL_INVALID", lambda: Journal.from_lines("r1", ["{}"])),
    ]


@pytest.mark.parametrize(("kind", "code", "call"), refusals())
def test_exceptions_carry_what_happened_and_survive_pickle(
    kind: type[TurnlatchError], code: str, call: Callable[[], object]
) -> None:
    with pytest.raises(TurnlatchError) as caught:
        call()
    error = caught.value
    assert type(error) is kind
    assert error.code == code and error.message
    assert str(error) == f"{code}: {error.message}"
    assert code in {info["code"] for info in codes()}
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is kind
        assert (again.code, again.message, again.details) == (error.code, error.message, error.details)
        assert again.path == error.path
        assert str(again) == str(error)


def test_details_say_what_the_exception_is_about() -> None:
    with pytest.raises(AdmissionError) as refused:
        admit(Skill({}), {"run_id": "!", "engine": "nobody", "colour": 1}, engines=["codex"])  # type: ignore[arg-type]
    paths = {problem["path"] for problem in refused.value.details}
    assert {"request/run_id", "request/engine", "request/colour"} <= paths
    with pytest.raises(LoadError) as not_loaded:
        Run.from_json(waiting_run().to_json()[:-1])
    assert not_loaded.value.details["place"]


# Data in


def nested(levels: int) -> list[Any]:
    data: list[Any] = []
    for _ in range(levels):
        data = [data]
    return data


def own_tail() -> list[Any]:
    data: list[Any] = []
    data.append(data)
    return data


NOT_JSON: list[tuple[Any, str]] = [
    ("\ud800", "surrogate"),
    ("a\udfffb", "surrogate"),
    ({"\ud800": 1}, "surrogate"),
    (float("nan"), "finite"),
    (float("inf"), "finite"),
    (-float("inf"), "finite"),
    (2**64, "64 bits"),
    (-(2**63) - 1, "64 bits"),
    (10**5000, "64 bits"),
    (nested(100_000), "deeper"),
    (own_tail(), "deeper"),
    ({1: 2}, "keys"),
    ({None: 2}, "keys"),
    ({("a",): 2}, "keys"),
    (object(), "object"),
    ({1, 2}, "set"),
    (b"bytes", "bytes"),
    (1j, "complex"),
    (datetime(2026, 1, 1), "datetime"),
    ((item for item in "ab"), "generator"),
    (len, "builtin_function"),
]


@pytest.mark.parametrize(
    ("data", "says"),
    NOT_JSON,
    ids=lambda value: type(value).__name__ if not isinstance(value, str | type) else None,
)
def test_data_that_is_no_json_is_refused_and_changes_nothing(data: Any, says: str) -> None:
    running, waiting = running_run(), waiting_run()
    before = running.to_json(), waiting.to_json()
    turn: dict[str, Any] = {"type": "turn_finished", "attempt_number": 1}
    calls: list[tuple[str, Callable[[], object]]] = [
        ("/output", lambda: running.apply({**turn, "output": data}, 5)),  # type: ignore[arg-type]
        ("/output/a~1~0/1", lambda: running.apply({**turn, "output": {"a/~": [0, data]}}, 5)),  # type: ignore[arg-type]
        ("/response", lambda: waiting.reply(1, data, 5)),
        ("/output", lambda: evaluate_turn(plan_of(), {"output": data})),
        ("/messages/0", lambda: evaluate_turn(plan_of(), {"messages": (data,)})),  # type: ignore[arg-type,misc]
    ]
    for place, call in calls:
        with pytest.raises(EventRejectedError, match=says) as caught:
            call()
        assert caught.value.code == "EVENT_MALFORMED"
        assert caught.value.message.startswith(f"`{place}")
        assert caught.value.path is not None and caught.value.path.startswith(place)
    assert (running.to_json(), waiting.to_json()) == before


@pytest.mark.parametrize(
    ("data", "says"),
    NOT_JSON,
    ids=lambda value: type(value).__name__ if not isinstance(value, str | type) else None,
)
def test_a_document_that_is_no_json_is_refused_with_its_path(data: Any, says: str) -> None:
    request: types.RunRequest = {"run_id": "r1", "engine": "codex"}
    plan = plan_of().to_dict()
    calls: list[tuple[type[TurnlatchError], str, str, Callable[[], object]]] = [
        (
            AdmissionError,
            "OPTION_INVALID",
            "limits/options",
            lambda: admit(Skill({}), request, engines=["codex"], limits={"options": data}),
        ),
        (
            AdmissionError,
            "REQUEST_MALFORMED",
            "request/input/0",
            lambda: admit(Skill({}), {**request, "input": [data]}, engines=["codex"]),
        ),
        (
            AdmissionError,
            "SKILL_MANIFEST_INVALID",
            "runner/x",
            lambda: describe_skill(Skill(cast("Any", {"x": data})), engines=["codex"]),
        ),
        (
            AdmissionError,
            "SKILL_MANIFEST_INVALID",
            "output_schema/const",
            lambda: admit(Skill({}, {"const": data}), request, engines=["codex"]),
        ),
        (LoadError, "SNAPSHOT_INVALID", "/engine", lambda: Plan.from_dict({**plan, "engine": data})),
        (EventRejectedError, "EVENT_MALFORMED", "/stdout", lambda: decode_stream({"format": "text", "stdout": data})),
    ]
    for kind, code, path, call in calls:
        with pytest.raises(kind, match=says) as caught:
            call()
        assert caught.value.code == code
        assert caught.value.path is not None and caught.value.path.startswith(path)


def test_the_place_of_what_is_no_json_is_safe_to_show_and_short() -> None:
    for key in ("\x1b[31m\u202e", "x" * 10_000):
        with pytest.raises(EventRejectedError) as caught:
            waiting_run().reply(1, {key: object()}, 5)
        assert caught.value.message.startswith("`/response/") and len(caught.value.message) < 200
        assert "\x1b" not in caught.value.message and "\u202e" not in caught.value.message


@pytest.mark.parametrize("event", [object(), {1: 2}, b"cancel", {"cancel"}])
def test_what_is_no_data_at_all_is_malformed(event: Any) -> None:
    run = waiting_run()
    for call in (lambda: run.apply(event, 5), lambda: run.cancel(event), lambda: evaluate_turn(plan_of(), event)):
        with pytest.raises(EventRejectedError) as caught:
            call()
        assert caught.value.code == "EVENT_MALFORMED"


class Broken(UserDict[str, Any]):
    def items(self) -> Any:
        raise LookupError("my own fault")


def test_an_error_of_somebodys_own_mapping_is_theirs() -> None:
    with pytest.raises(LookupError, match="my own fault"):
        waiting_run().reply(1, Broken(), 5)


@pytest.mark.parametrize("event", [None, [], "cancel", 1, {}, {"type": "nothing"}, {"type": ["cancel"]}, {"Type": ""}])
def test_what_is_no_event_is_malformed(event: Any) -> None:
    run = waiting_run()
    before = run.to_json()
    with pytest.raises(EventRejectedError) as caught:
        run.apply(event, 5)
    assert caught.value.code == "EVENT_MALFORMED"
    with pytest.raises(EventRejectedError) as by_text:
        run.apply_json(json.dumps(event), 5)
    assert by_text.value.message == caught.value.message
    assert run.to_json() == before


@pytest.mark.parametrize(
    "text", ["", "{", "null", "[" * 100_000, '{"a":' * 100_000, '{"type":"cancel","type":"cancel"}', '"\\ud800"', "NaN"]
)
def test_text_that_is_no_event_is_malformed(text: str) -> None:
    run = waiting_run()
    before = run.to_json()
    with pytest.raises(EventRejectedError) as caught:
        run.apply_json(text, 5)
    assert caught.value.code == "EVENT_MALFORMED"
    assert run.to_json() == before


def test_an_event_whose_type_has_half_a_surrogate_pair_is_rejected_and_observed() -> None:
    events: list[Any] = [{"type": "\ud800"}, {"type": "\ud800", "\ud800": 1}, {"type": "cancel", "reason": "\ud800"}]
    for event in events:
        with pytest.raises(EventRejectedError, match="half of a surrogate pair") as caught:
            waiting_run().apply(event, 5)
        assert caught.value.observation is not None


def test_text_with_half_a_surrogate_pair_is_refused() -> None:
    run = waiting_run()
    before = run.to_json()
    doors: list[tuple[type[TurnlatchError], Callable[[str], object]]] = [
        (EventRejectedError, lambda text: run.apply_json(f'{{"type":"cancel","reason":"{text}"}}', 5)),
        (EventRejectedError, lambda text: request_event("reply", text)),
        (EventRejectedError, display_text),
        (EventRejectedError, run_of_slot),
        (EventRejectedError, lambda text: unreadable_report(1, text)),
        (EventRejectedError, lambda text: append_instructions(text, "auto")),
        (EventRejectedError, lambda text: append_instructions("", text)),  # type: ignore[arg-type]
        (EventRejectedError, lambda text: run.why_not(text)),  # type: ignore[arg-type]
        (AdmissionError, lambda text: read_job(text, "r1")),
        (AdmissionError, lambda text: admit(Skill({}), {"run_id": "r1", "engine": "x"}, engines=[text])),
        (LoadError, Run.from_json),
        (LoadError, Plan.from_dict),
        (LoadError, Entry.from_dict),
        (LoadError, Journal.from_json),
        (LoadError, lambda text: Journal.from_lines("r1", [text])),
        (LoadError, lambda text: Replayer(plan_of()).next(text)),
        (LoadError, import_run),
    ]
    for kind, door in doors:
        with pytest.raises(kind, match="half of a surrogate pair"):
            door("\ud800")
    for manifest, request in (
        (Skill(cast("Any", {"x": "\ud800"})), {"run_id": "r1", "engine": "codex"}),
        (Skill('{"x": "\ud800"}'), {"run_id": "r1", "engine": "codex"}),
        (Skill("\ud800"), {"run_id": "r1", "engine": "codex"}),
        (Skill({}), {"run_id": "r1", "engine": "codex", "input": {"a": "\ud800"}}),
        (Skill({}), {"run_id": "\ud800", "engine": "codex"}),
    ):
        with pytest.raises(AdmissionError):
            admit(manifest, cast("Any", request), engines=["codex"])
    assert run.to_json() == before


@pytest.mark.parametrize("data", [float("nan"), float("inf")])
def test_a_manifest_or_request_with_a_number_that_is_none_is_refused(data: float) -> None:
    with pytest.raises(AdmissionError):
        admit(Skill(cast("Any", {"x": data})), {"run_id": "r1", "engine": "codex"}, engines=["codex"])
    with pytest.raises(AdmissionError):
        plan_of(input={"x": data})


def test_limits_are_known_by_name_and_numbers() -> None:
    request: types.RunRequest = {"run_id": "r1", "engine": "codex"}
    assert admit(Skill({}), request, engines=["codex"], limits={"options": 3}).to_dict()["limits"]["options"] == 3
    for limits in ({"colour": 1}, {"options": -1}, {"options": "3"}, {"options": 0, "json_depth": 0}, 3):
        with pytest.raises(AdmissionError) as caught:
            admit(Skill({}), request, engines=["codex"], limits=limits)  # type: ignore[arg-type]
        assert caught.value.code == "OPTION_INVALID"
        assert caught.value.path is not None and caught.value.path.startswith("limits")


def test_an_argument_of_another_kind_is_a_type_error_that_says_what_is_wanted() -> None:
    skill, anything = Skill({}), cast("Any", {"run_id": "r1"})
    request: types.RunRequest = {"run_id": "r1", "engine": "codex"}
    calls: list[tuple[str, Callable[[], object]]] = [
        ("`engines` is a list of names, not one string", lambda: admit(skill, request, engines="codex")),
        ("`engines` is a list of names, not one string", lambda: describe_skill(skill, engines="codex")),
        ("expected a Skill, found dict", lambda: admit(anything, request, engines=["codex"])),
        ("expected a Skill, found dict", lambda: describe_skill(anything, engines=["codex"])),
        ("expected a Plan, which `admit` returns, found dict", lambda: Run.create(anything, 0)),
        ("Plan", lambda: Replayer(anything)),
        ("Plan", lambda: Journal(anything)),
        ("Plan", lambda: evaluate_turn(anything, {"text": ""})),
    ]
    for says, call in calls:
        with pytest.raises(TypeError, match=says):
            call()


@pytest.mark.parametrize("key", ["__proto__", "__class__", "constructor", "__init__", "__dict__", "toString", ""])
def test_special_keys_are_data(key: str) -> None:
    run = running_run(schema={"type": "object"})
    run.apply({"type": "turn_finished", "attempt_number": 1, "output": {key: {key: 1}}}, 5)
    view = run.status_view()
    assert view["status"] == "succeeded"
    assert view["data"] == {key: {key: 1}}
    assert type(view["data"]) is dict
    with pytest.raises(EventRejectedError):
        run.apply({"type": "cancel", key: 1}, 6)  # type: ignore[arg-type]


class Colour(str, Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


class Words(dict[str, Any]):
    """A dict of somebody's own."""


@pytest.mark.parametrize("form", [dict, Words, OrderedDict, UserDict, MappingProxyType])
def test_every_mapping_will_do(form: Callable[[dict[str, Any]], Any]) -> None:
    plan = admit(
        Skill(form(RUNNER), form(SCHEMA)),
        form({"run_id": "r1", "engine": "codex", "execution_mode": "interactive", "input": form({"a": 1})}),
        engines=(name for name in ("codex",)),
        limits=form({"options": 5}),
    )
    run, _ = Run.create(plan, 0)
    run.apply(form({"type": "slot_granted", "slot_id": "r1/s1"}), 1)
    output = form({"answer": Level.HIGH, "list": (1, 2), "colour": Colour.RED, "deep": form({"b": None})})
    report = form({"attempt_number": 1, "output": output})
    assert evaluate_turn(plan, report)["decision"]["outcome"] == "succeeded"
    run.apply(form({"type": "turn_finished", **report}), 2)
    assert run.status_view()["data"] == {"answer": 3, "list": [1, 2], "colour": "red", "deep": {"b": None}}


TURN: dict[Any, Any] = {"type": "turn_finished", "attempt_number": 1}
REPLY: dict[str, Any] = {"type": "reply", "interaction_id": 1, "response": "b"}


@pytest.mark.parametrize(
    "event",
    [
        {"type": "slot_granted", "slot_id": "r1/s1"},
        {**TURN, "text": "Which file?"},
        {**TURN, "text": "größer ✓ \U0001f600", "session_handle": "h", "slot_id": "r1/s1", "exit_code": 0},
        {**TURN, "text": "w" * 5_000},
        {**TURN, "text": "Which file?", "failure_reason": "TIMEOUT", "exit_code": 2**63 - 1},
        {**TURN, "text": "Which file?", "exit_code": 2**63},
        {**TURN, "text": "Which file?", "exit_code": -9},
        {**TURN, "text": "Which file?", "attempt_number": 2**32},
        {**TURN, "text": "Which file?", "attempt_number": True},
        {**TURN, "text": "Which file?", "failure_reason": "no code"},
        {**TURN, "text": "Which file?", "session_handle": None},
        {**TURN, "text": "\ud800"},
        {**TURN, "text": "Which file?", "\ud800": 1},
        {**TURN, "text": Colour.RED},
        {**TURN, "attempt_number": Level.HIGH},
        {**TURN, "text": "Which file?", "more": 1},
        {**TURN, "text": "Which file?", 1: 1},
        {"type": "timer_fired", "interaction_id": 2**64 - 1},
        {"type": "timer_fired", "interaction_id": 2**64},
        {"type": "timer_fired", "interaction_id": "1"},
        {"type": "turn_decided", "attempt_number": 1},
        REPLY,
        {**REPLY, "idempotency_key": "k", "expected_revision": 3},
        {**REPLY, "idempotency_key": ""},
        {**REPLY, "expected_revision": 2},
        {**REPLY, "interaction_id": 7},
        {**REPLY, "response": 12},
        {"type": "process_lost", "attempt_number": 1, "slot_id": "r1/s1"},
        {"type": "cancel", "reason": "enough"},
    ],
    ids=lambda event: repr(event)[9:80],
)
def test_a_dict_comes_to_the_same_as_any_other_mapping(event: Any) -> None:
    def told(run: Run, event: Any) -> tuple[str, Any]:
        try:
            applied = run.apply(event, 5)
        except EventRejectedError as rejected:
            return run.to_json(), (rejected.code, rejected.message, rejected.details, rejected.observation)
        parts = applied.effects, applied.receipt, applied.entry and applied.entry.to_dict(), applied.observation
        return run.to_json(), json.dumps(parts)

    for run_in in (queued_run, running_run, waiting_run):
        assert told(run_in(), event) == told(run_in(), Words(event)) == told(run_in(), MappingProxyType(event))


def test_a_dict_is_admitted_as_its_compact_text() -> None:
    schema = {"type": "object", "title": "größer ✓", "properties": {"a": {"const": 2**64 - 1}}}
    text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    assert plan_of(schema=schema).to_dict() == plan_of(schema=text).to_dict()
    assert plan_of(schema=True).to_dict()["output_schema"] == "true"


# Data out


def test_numbers_keep_their_digits_and_their_kind() -> None:
    run = running_run(schema={"type": "object"})
    output = {"u": 2**64 - 1, "i": -(2**63), "f": 1.0, "t": True, "z": 0.1, "big": 2**53 + 1}
    run.apply({"type": "turn_finished", "attempt_number": 1, "output": output}, 5)
    view = run.status_view()
    assert json.dumps(view["data"]) == json.dumps(output)
    assert view["data_text"] == json.dumps(output, separators=(",", ":"))
    assert type(view["data"]["f"]) is float and type(view["data"]["t"]) is bool
    again = Run.from_json(run.to_json()).status_view()
    assert json.dumps(again) == json.dumps(view)


def test_a_whole_float_from_text_stays_as_it_was_written() -> None:
    run = running_run(schema={"type": "object"})
    text = '{"b": 18446744073709551615, "a": 1.50, "c": 1e2}'
    run.apply({"type": "turn_finished", "attempt_number": 1, "text": text}, 5)
    view = run.status_view()
    assert view["data_text"] == text
    assert view["data"] == {"b": 2**64 - 1, "a": 1.5, "c": 100.0}


def test_the_order_of_keys_is_kept() -> None:
    run = running_run(schema={"type": "object"})
    output = {key: index for index, key in enumerate("zyxabc10")}
    run.apply({"type": "turn_finished", "attempt_number": 1, "output": output}, 5)
    assert list(run.status_view()["data"]) == list(output)
    assert list(Run.from_json(run.to_json()).status_view()["data"]) == list(output)


def test_what_comes_out_is_the_callers_own() -> None:
    run = waiting_run()
    before = run.to_json()
    for answer in (run.status_view(), run.pending_view(), run.outstanding(), run.explain(), run.snapshot()):
        forget: Any = answer
        forget.clear()
    run.history().append({})  # type: ignore[typeddict-item]
    assert run.to_json() == before
    assert run.status_view()["run_id"] == "r1"


def test_effects_can_be_matched() -> None:
    seen: list[str] = []
    run, created = Run.create(plan_of(runner={**RUNNER, "max_attempt": 3}, interactive_require_user_reply=False), 0)
    steps = [
        created,
        run.apply({"type": "slot_granted", "slot_id": "r1/s1"}, 1),
        run.apply({"type": "turn_finished", "attempt_number": 1, "text": "Which?", "session_handle": "h"}, 2),
        run.reply(1, "b", 3),
        run.apply({"type": "slot_granted", "slot_id": "r1/s2"}, 4),
        run.cancel(5),
    ]
    for applied in steps:
        for effect in applied.effects:
            match effect:
                case {"type": "acquire_slot", "slot_id": slot_id}:
                    seen.append(f"acquire {slot_id}")
                case {"type": "start_turn", "attempt_number": number, "resume": {"response": response}}:
                    seen.append(f"resume {number} with {response}")
                case {"type": "start_turn", "attempt_number": number}:
                    seen.append(f"start {number}")
                case {"type": "set_timer", "at": at}:
                    seen.append(f"timer {at}")
                case {"type": "notify"}:
                    pass
                case _:
                    seen.append(effect["type"])
    assert seen == [
        "acquire r1/s1",
        "start 1",
        "release_slot",
        "timer 1200002",
        "cancel_timer",
        "acquire r1/s2",
        "resume 2 with b",
        "terminate_process",
        "release_slot",
    ]


@pytest.mark.parametrize(
    "options", [{"interactive_require_user_reply": False}, {"interactive_profile": {"kind": "sticky_process"}}]
)
def test_effects_are_what_the_core_writes_in_the_same_order(options: dict[str, Any]) -> None:
    plan = plan_of(**options)
    run, created = Run.create(plan, 0)
    steps = [
        created,
        run.apply({"type": "slot_granted", "slot_id": "r1/s1"}, 1),
        run.apply({"type": "turn_finished", "attempt_number": 1, "text": "Which?", "session_handle": "h"}, 2),
        run.reply(1, "größer ✓", 3),
        run.apply({"type": "slot_granted", "slot_id": "r1/s2"}, 4),
        run.cancel(5),
    ]
    journal = Journal(plan)
    for applied in steps:
        assert applied.entry is not None
        journal.push(applied.entry)
    _, replayed = replay(plan, journal)
    assert json.dumps([applied.effects for applied in steps]) == json.dumps(replayed)
    assert (run.outstanding()["effects"], replayed[-1][-1]["type"]) == ([], "notify")


def test_the_members_of_a_receipt_have_an_order() -> None:
    run = waiting_run()
    unknown = run.reply(7, "b", 3).receipt
    accepted, stale = run.reply(1, "b", 3).receipt, run.reply(1, "c", 4).receipt
    assert accepted is not None and stale is not None and unknown is not None
    assert list(accepted) == ["kind", "interaction_id", "status", "revision"]
    assert list(stale) == ["kind", "code", "message", "interaction_id", "resolved", "status", "revision"]
    assert list(stale["resolved"]) == ["resolution_mode", "resolved_at", "resolved_by"]
    members = ["kind", "code", "message", "interaction_id", "pending_interaction_id", "status", "revision"]
    assert list(unknown) == members


def test_codes_are_the_table_of_the_page() -> None:
    page = (ROOT / "docs" / "codes.md").read_text(encoding="utf-8")
    rows = [tuple(row) for row in re.findall(r"^\| `(\w+)` \| (\w+) \| (\d+) \| (.*?) \| (.*) \|$", page, re.MULTILINE)]
    told = [(info["code"], info["kind"], str(info["http"]), info["meaning"], info["remedy"]) for info in codes()]
    assert len(told) > 40
    assert told == rows


class Meddler(UserDict[str, Any]):
    """Changes the dict it stands in while that is read."""

    def __init__(self, around: dict[str, Any]) -> None:
        super().__init__()
        self.around = around

    def items(self) -> Any:
        self.around.update({f"k{number}": 1 for number in range(100)})
        return [("a", 1)]


def test_a_dict_that_changes_while_it_is_read_is_an_error() -> None:
    run = waiting_run()
    before = run.to_json()
    event: dict[str, Any] = {"type": "reply", "interaction_id": 1}
    event.update(response=Meddler(event), last=1)
    try:
        run.apply(event, 5)  # type: ignore[arg-type]
    except BaseException as error:
        assert isinstance(error, Exception), f"{type(error)} is not caught by `except Exception`"
    assert run.to_json() == before


# The rest of the face


def test_every_public_name_is_there() -> None:
    for name in turnlatch.__all__:
        assert getattr(turnlatch, name) is not None
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", turnlatch.__version__)


def test_a_run_tells_where_it_is() -> None:
    run = waiting_run()
    assert repr(run) == "<turnlatch.Run r1 waiting_user revision 3>"
    assert (run.run_id, run.status, run.revision, run.attempt_number) == ("r1", "waiting_user", 3, 1)
    assert run.session_handle is None and not run.ended
    assert run.snapshot() == json.loads(run.to_json())
    assert run.why_not("succeeded")["reached"] is False
    with pytest.raises(ValueError):
        run.why_not("done")  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        append_instructions("x", "both")  # type: ignore[arg-type]


def test_a_journal_by_lines_replays() -> None:
    plan = plan_of()
    run, applied = Run.create(plan, 0)
    lines: list[str] = []
    told = [applied.effects]
    events: list[Any] = [
        {"type": "slot_granted", "slot_id": "r1/s1"},
        {"type": "turn_finished", "attempt_number": 1, "text": "Which file?"},
        {"type": "cancel", "reason": "größer\n✓"},
    ]
    for at, event in enumerate([None, *events]):
        if event is not None:
            applied = run.apply(event, at)
            told.append(applied.effects)
        assert applied.entry is not None and applied.entry.to_dict()["revision"] == at + 1 == applied.entry.revision
        lines.append(applied.entry.encode_chained("r1", lines[-1] if lines else None))
    journal = Journal.from_lines("r1", lines)
    again, effects = replay(plan, journal)
    assert again.to_json() == run.to_json() and effects == told and len(journal) == 4
    for wrong in (lines[1:], lines[::-1], [*lines, lines[-1]]):
        with pytest.raises(LoadError):
            replay(plan, Journal.from_lines("r1", wrong))


def test_a_skill_is_patched_once() -> None:
    once = append_instructions("# Skill", "interactive", plan_of())
    assert once.startswith("# Skill") and "__SKILL_DONE__" in once and '"answer"' in once
    assert append_instructions(once, "interactive", plan_of()) == once
    assert '"answer"' not in append_instructions("# Skill", "auto")


def test_display_text_makes_escapes_visible() -> None:
    shown = display_text("a\x1b[31mb\u202ec")
    assert "\x1b" not in shown and "\u202e" not in shown and shown.startswith("a")


# Threads


def test_of_eight_replies_at_once_one_is_accepted() -> None:
    for _ in range(25):
        run = waiting_run()
        start = threading.Barrier(8)

        def answer(number: int, run: Run = run, start: threading.Barrier = start) -> str:
            start.wait()
            receipt = run.reply(1, f"answer {number}", 3).receipt
            assert receipt is not None
            return receipt["kind"]

        with ThreadPoolExecutor(8) as pool:
            told = sorted(pool.map(answer, range(8)))
        assert told == ["accepted"] + ["stale"] * 7
        assert len(run.history()) == 1 and run.status == "queued"


def test_reading_while_a_large_turn_is_applied() -> None:
    run = running_run()
    text = '{ "a": [1, 2, \n' * (4 * 1024 * 1024 // 15)
    start, done = threading.Barrier(5), threading.Event()
    seen: set[tuple[str, int]] = set()

    def read() -> None:
        start.wait()
        while True:
            last = done.is_set()
            view = run.status_view()
            seen.add((view["status"], view["revision"]))
            assert Run.from_json(run.to_json()).status in ("running", "waiting_user")
            assert run.pending_view()["run_id"] == "r1"
            if last:
                return

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read) for _ in range(4)]
        try:
            start.wait()
            run.apply({"type": "turn_finished", "attempt_number": 1, "text": text}, 5)
        finally:
            done.set()
        for reader in readers:
            reader.result(timeout=30)
    assert run.status == "waiting_user"
    assert ("waiting_user", 3) in seen and seen <= {("running", 2), ("waiting_user", 3)}


def test_many_runs_in_many_threads_do_the_same() -> None:
    def whole_run(_: int) -> str:
        run = queued_run()
        run.apply({"type": "slot_granted", "slot_id": "r1/s1"}, 1)
        run.apply({"type": "turn_finished", "attempt_number": 1, "text": "Which file?"}, 2)
        run.reply(1, "b", 3)
        return run.to_json()

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(whole_run, range(200)))) == 1


def test_a_copy_of_a_run_is_a_run_of_its_own() -> None:
    run = waiting_run()
    before = run.to_json()
    copies = [run.copy(), copy.copy(run), copy.deepcopy(run), pickle.loads(pickle.dumps(run))]
    for again in copies:
        assert again.to_json() == before
        again.cancel(9)
        assert (again.status, run.to_json()) == ("canceled", before)


def round_trips(thing: Any) -> list[Any]:
    return [pickle.loads(pickle.dumps(thing)), copy.copy(thing), copy.deepcopy(thing)]


def test_plans_entries_transitions_journals_and_runs_survive_pickle_and_copies_and_are_equal() -> None:
    plan = plan_of(input={"n": 2**64 - 1, "f": 0.1})
    run, created = Run.create(plan, 1)
    granted = run.apply({"type": "slot_granted", "slot_id": "r1/s1"}, 2)
    turn = run.apply({"type": "turn_finished", "attempt_number": 1, "output": {"u": 2**64 - 1, "f": 0.1}}, 3)
    refused = run.reply(7, "x", 4)
    journal = Journal(plan)
    for transition in (created, granted, turn, refused):
        for again in round_trips(transition):
            assert again == transition and again.observation == transition.observation
        if transition.entry is not None:
            journal.push(transition.entry)
            for entry in (transition.entry, transition.entry.compact()):
                for again in [*round_trips(entry), Entry.from_dict(entry.to_dict())]:
                    assert again == entry and hash(again) == hash(entry)
                    assert again.encode_chained("r1") == entry.encode_chained("r1")
    for again in [*round_trips(plan), Plan.from_dict(plan.to_dict()), Plan.from_dict(json.dumps(plan.to_dict()))]:
        assert again == plan and hash(again) == hash(plan) and {plan: 1}[again] == 1
    for again in round_trips(journal):
        assert again == journal and again.to_json() == journal.to_json()
        again.push(again_entry(again))
        assert again != journal
    for again in [*round_trips(run), Run.from_json(run.to_json().encode()), replay(plan, journal)[0]]:
        assert again == run
        again.cancel(9)
        assert again != run


def again_entry(journal: Journal) -> Entry:
    return Entry.from_dict({"revision": len(journal) + 1, "at": 9, "event": {"type": "cancel"}})


def test_things_that_differ_are_not_equal() -> None:
    run, created = Run.create(plan_of(), 1)
    entry = created.entry
    assert entry is not None
    assert plan_of() != plan_of(session_timeout_sec=7)
    assert entry != run.apply({"type": "slot_granted", "slot_id": "r1/s1"}, 2).entry
    for thing in (plan_of(), run, created, entry, Journal(plan_of())):
        assert thing != "r1" and thing != 1 and thing is not None
    for thing in (run, created, Journal(plan_of())):
        with pytest.raises(TypeError, match="unhashable"):
            hash(thing)


def test_things_say_what_they_are() -> None:
    run, created = Run.create(plan_of(), 7)
    assert repr(run) == "<turnlatch.Run r1 queued revision 1>"
    assert repr(plan_of()) == "<turnlatch.Plan r1 codex interactive>"
    assert repr(created.entry) == "<turnlatch.Entry revision 1 at 7: created>"
    assert repr(Journal(plan_of())) == "<turnlatch.Journal r1 with 0 entries>"
    assert repr(created).startswith("Transition(effects=[{'type': 'acquire_slot'")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"run_id": "!"}, "plan.run_id"),
        ({"engine": " "}, "plan.engine"),
        ({"session_timeout_sec": 0}, "plan.session_timeout_sec"),
        ({"max_attempt": 0}, "plan.max_attempt"),
        ({"limits": {"options": 2**40}}, "plan.limits"),
        ({"colour": 1}, ""),
        ({"execution_mode": "both"}, "execution_mode"),
        ({"output_schema": "{"}, "output_schema"),
    ],
)
def test_a_plan_from_a_dict_is_one_that_admission_can_have_made(change: dict[str, Any], place: str) -> None:
    with pytest.raises(LoadError) as caught:
        Plan.from_dict({**plan_of().to_dict(), **change})
    assert caught.value.code == "SNAPSHOT_INVALID"
    assert caught.value.path is not None and place in caught.value.path


def test_the_text_of_a_refusal_shows_every_problem() -> None:
    with pytest.raises(AdmissionError) as caught:
        admit(Skill({}), cast("Any", {"run_idd": "r1", "engine": "nobody"}), engines=["codex"])
    refusal = caught.value
    first, *others = str(refusal).splitlines()
    assert first == f"{refusal.code}: {refusal.message}"
    assert refusal.problems == refusal.details and len(refusal.problems) == len(others) == 3
    assert refusal.path == refusal.problems[0]["path"]
    for line, problem in zip(others, refusal.problems, strict=True):
        assert line == f"  {problem['path']}: {problem['code']}: {problem['message']}"
    assert "did you mean `run_id`" in str(refusal)


def test_the_texts_of_views_are_the_views() -> None:
    run = waiting_run()
    run.reply(1, "b", 9)
    texts = (run.status_view_json(), run.pending_view_json(), run.history_json(), run.explain_json())
    views = (run.status_view(), run.pending_view(), run.history(), run.explain())
    assert [json.loads(text) for text in texts] == list(views)


def test_a_journal_is_followed_line_by_line_and_a_wrong_line_changes_nothing() -> None:
    run, created = Run.create(plan_of(), 1)
    journal = Journal(plan_of())
    for applied in (created, run.apply({"type": "slot_granted", "slot_id": "r1/s1"}, 2), run.cancel(3, "enough")):
        assert applied.entry is not None
        journal.push(applied.entry)
    first, *others = journal.lines()
    replayer = Replayer(plan_of())
    assert replayer.run is None
    with pytest.raises(LoadError, match="JOURNAL_INVALID"):
        replayer.next(others[0])
    step = replayer.next(first.encode())
    assert (step["event"], step["by"]) == ("created", "user")
    before = replayer.run
    with pytest.raises(LoadError, match="JOURNAL_INVALID"):
        replayer.next(others[1])
    assert replayer.run == before
    assert replayer.next(others[0])["status"] == "running"
    assert json.loads(replayer.next_json(others[1]))["status"] == "canceled"
    assert replayer.run == run
    recorded_plan, recorded = import_run(export_run(plan_of(), journal))
    assert (recorded_plan, recorded) == (plan_of(), journal)

"""What ``turnlatch.types`` says is what the vectors hold: every member known, every required one there."""

from __future__ import annotations

import sys
import types as python_types
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

import pytest

from turnlatch import types
from vectors_runner import expand_members, read_vectors, vector_files

if sys.version_info >= (3, 12):
    from typing import NotRequired, get_type_hints, is_typeddict
else:
    from typing_extensions import NotRequired, get_type_hints, is_typeddict

QUERIES: dict[str, Any] = {
    "status_view": types.StatusView,
    "pending_view": types.PendingView,
    "history": list[types.InteractionRecord],
    "outstanding": types.PendingEffects,
    "explain": types.Explanation,
    "codes": list[types.CodeInfo],
    "why_not": types.WhyNot,
    "allowed": types.Allowed,
}


def wrong(value: Any, kind: Any, place: str) -> Iterator[str]:
    """Where a value is not what its type says."""
    origin = get_origin(kind)
    if kind is Any:
        return
    if is_typeddict(kind):
        yield from wrong_members(value, kind, place)
    elif origin is Literal:
        if value not in get_args(kind):
            yield f"{place}: {value!r} is not one of {get_args(kind)}"
    elif origin in (Union, python_types.UnionType):
        tried = [list(wrong(value, option, place)) for option in get_args(kind)]
        if all(tried):
            yield from min(tried, key=len)
    elif origin is list:
        if not isinstance(value, list):
            yield f"{place}: {value!r} is no list"
            return
        for index, item in enumerate(value):
            yield from wrong(item, get_args(kind)[0], f"{place}/{index}")
    elif type(value) is not (origin or kind) and not (value is None and kind is type(None)):
        yield f"{place}: {value!r} is no {kind}"


@cache
def hints_of(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def wrong_members(value: Any, kind: Any, place: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{place}: {value!r} is no {kind.__name__}"
        return
    hints = hints_of(kind)
    for key in value.keys() - hints.keys():
        yield f"{place}: {kind.__name__} does not know {key}"
    for key, hint in hints.items():
        optional = get_origin(hint) is NotRequired
        if key in value:
            yield from wrong(value[key], get_args(hint)[0] if optional else hint, f"{place}/{key}")
        elif not optional and kind.__total__:
            yield f"{place}: {kind.__name__} lacks {key}"


def told() -> Iterator[tuple[str, Any, Any]]:
    """Everything of the vectors that has a type: a name for it, the value, the type."""
    for path in vector_files():
        for vector in read_vectors(path):
            name = f"{path.stem}: {vector['name']}"
            admission = vector["admission"]
            yield f"warning, {name}", admission.get("warnings", []), list[types.Note]
            yield f"problem, {name}", admission.get("refused", {}).get("problems", []), list[types.Problem]
            for step in vector.get("steps", []):
                yield from told_by_step(name, expand_members(step), step["then"])


def told_by_step(name: str, step: dict[str, Any], then: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(then, dict) and "effects" in then and "query" not in step:
        yield f"effect, {name}", then["effects"], list[types.Effect]
        yield f"status, {name}", then["status"], types.Status
        if "event" in step:
            # The core takes null for absent in an event; the types ask for leaving it out.
            given = {key: member for key, member in step["event"].items() if member is not None or key == "response"}
            yield f"event, {name}", given, types.RunEvent
    for answer in (then, then.get("rejected") if isinstance(then, dict) else None):
        if isinstance(answer, dict) and "receipt" in answer and isinstance(answer["receipt"], dict):
            yield f"receipt, {name}", answer["receipt"], types.Receipt
    if "turn" in step and "rejected" not in then:
        # The core takes any role and reads the assistant's; the types ask for one of those that there are.
        turn = {**step["turn"]}
        if "messages" in turn:
            turn["messages"] = [said for said in turn["messages"] if said["role"] != "Assistant"]
        yield f"report, {name}", turn, types.TurnReport
        yield f"judged, {name}", then, types.Evaluation
    if "stream" in step and "rejected" not in then:
        yield f"stream, {name}", step["stream"], types.TurnStream
        yield f"decoded, {name}", then["decoded"], types.Decoded
        yield f"judged, {name}", then["judged"], types.Evaluation
    if "feed" in step and "rejected" not in then:
        for answer in then:
            if not isinstance(answer, str):
                yield f"fed, {name}", answer, types.Decoded if "messages" in answer else types.Progress
    query = step.get("query")
    key = next(iter(query)) if isinstance(query, dict) else query
    if key in QUERIES:
        yield f"{key}, {name}", then, QUERIES[key]


def test_every_answer_of_the_vectors_is_of_its_type() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    count = 0
    for name, value, kind in told():
        count += 1
        for problem in wrong(value, kind, ""):
            found[name.split(",")[0] + problem].append(name)
    assert count > 2000
    if found:
        pytest.fail("\n".join(f"{problem}\n  e.g. {names[0]}" for problem, names in found.items()), pytrace=False)


def test_the_check_finds_what_is_wrong() -> None:
    note = {"code": "OUTPUT_MISSING", "message": "b"}
    assert list(wrong(note, types.Note, "")) == []
    for value in ({"code": "OUTPUT_MISSING"}, {**note, "more": 1}, {**note, "code": "OUTPUT_MISING"}, None, [note]):
        assert list(wrong(value, types.Note, "")) != []
    assert list(wrong({"type": "cancel", "slot_id": "x"}, types.RunEvent, "")) != []
    assert list(wrong(True, int, "")) != []


def test_every_effect_event_and_receipt_was_seen() -> None:
    seen: dict[str, set[str]] = defaultdict(set)
    for name, value, _ in told():
        match name.split(",")[0]:
            case "effect":
                seen["effect"].update(effect["type"] for effect in value)
            case "event":
                seen["event"].add(value["type"])
            case "receipt":
                seen["receipt"].add(value["kind"])
    for union, kind, tag in (
        (types.Effect, "effect", "type"),
        (types.RunEvent, "event", "type"),
        (types.Receipt, "receipt", "kind"),
    ):
        words = {word for member in get_args(union) for word in get_args(get_type_hints(member)[tag])}
        assert seen[kind] == words


def test_every_format_of_a_stream_was_seen() -> None:
    steps = [step for path in vector_files() for vector in read_vectors(path) for step in vector.get("steps", [])]
    seen = {step[kind]["format"] for step in steps for kind in ("stream", "feed") if "format" in step.get(kind, {})}
    assert set(get_args(types.StreamFormat)) <= seen


def test_pydantic_can_read_the_types_on_every_python() -> None:
    """It takes no ``TypedDict`` of ``typing`` below 3.12, and needs to know which members are required."""
    assert types.StartTurn.__required_keys__ == {"type", "id", "attempt_number", "slot_id"}
    assert types.StartTurn.__optional_keys__ == {"resume"}
    assert type(types.StartTurn).__module__ == ("typing" if sys.version_info >= (3, 12) else "typing_extensions")

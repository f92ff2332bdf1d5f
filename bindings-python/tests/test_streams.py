"""Decoders through Python's face; what they decode is in the vectors."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hosting import plan
from test_properties import tried
from turnlatch import EventRejectedError, Run, StreamDecoder, decode_stream

END = "=é="
PIECES = [b"a", b"\n", b"\r", b"\r\n", b"=", END.encode(), f"\n{END}\n".encode(), "é€😀".encode(), b"\xff", b"\xe2\x82"]


def turns_of(chunks: list[bytes], limit: int | None) -> tuple[list[Any], bool]:
    """The turns that end in the chunks, and whether the decoder then wants no more of them."""
    decoder = StreamDecoder("text", limit, end_of_turn=END)
    turns: list[Any] = []
    for chunk in chunks:
        progress = decoder.feed(chunk)
        while progress["turn_over"] and not progress["stop"]:
            turns.append(decoder.finish())
            progress = decoder.feed(b"")
        if progress["stop"]:
            return turns, True
    return turns, False


def by_hand(data: bytes) -> tuple[list[Any], bool]:
    """The same without a limit, line by line."""
    turns: list[Any] = []
    turn = ""
    for row in data.split(b"\n")[:-1]:
        try:
            line = row.decode()
        except UnicodeDecodeError:
            return turns, True
        if line in (END, END + "\r"):
            turns.append({"messages": [{"role": "assistant", "text": turn}] if turn else [], "diagnostics": []})
            turn = ""
        else:
            turn += line + "\n"
    return turns, False


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


outputs = st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join)
places = st.lists(st.integers(0, 200), max_size=12)


@tried
@given(outputs, places)
def test_turns_are_the_same_wherever_chunks_are_cut(data: bytes, places: list[int]) -> None:
    whole = turns_of([data], None)
    assert turns_of(cut(data, places), None) == whole == turns_of([bytes([byte]) for byte in data], None)
    assert whole == by_hand(data)


@tried
@given(outputs, places, st.integers(0, 30))
def test_no_turn_within_the_limit_is_lost(data: bytes, places: list[int], limit: int) -> None:
    turns, _ = turns_of(cut(data, places), limit)
    assert turns == by_hand(data)[0][: len(turns)]
    assert all(len(message["text"].encode()) <= limit for turn in turns for message in turn["messages"])


def test_a_stream_as_a_turn() -> None:
    stdout = '{"role": "assistant", "text": "{\\"file\\": \\"a\\", \\"__SKILL_DONE__\\": true}"}\nnoise\n'
    run, _ = Run.create(plan(), 1)
    run.apply({"type": "slot_granted", "slot_id": "r1/s1"}, 2)
    stream: Any = {"format": "ndjson", "stdout": stdout, "exit_code": 0}
    run.apply({"type": "turn_finished", "attempt_number": 1, "stream": stream}, 3)
    assert run.status == "succeeded"
    decoded = decode_stream(stream)
    assert [note["code"] for note in decoded["diagnostics"]] == ["STREAM_ROW_UNKNOWN"]
    assert run.status_view()["diagnostics"] == decoded["diagnostics"]


BAD_STREAMS: list[Any] = [
    {"format": "xml", "stdout": ""},
    {"format": "text"},
    {"format": "text", "stdout": 5},
    {"format": "text", "stdout": b"bytes"},
    {"format": "text", "stdout": "\ud800"},
    {"format": "text", "stdout": "", "exit_code": "0"},
    {"format": "text", "stdout": "", "speed": 3},
    [],
    None,
]


@pytest.mark.parametrize("stream", BAD_STREAMS, ids=repr)
def test_a_stream_that_is_none(stream: Any) -> None:
    with pytest.raises(EventRejectedError) as raised:
        decode_stream(stream)
    assert raised.value.code == "EVENT_MALFORMED"


BAD_DECODERS: list[Any] = [
    {"format": "xml"},
    {"format": "\ud800"},
    {"format": "text", "text_limit": -1},
    {"format": "text", "text_limit": 2**64},
    {"format": "text", "text_limit": "5"},
    {"format": "text", "sticky": True},
    {"format": "text", "end_of_turn": "a\nb"},
    {"format": "text", "end_of_turn": "\ud800"},
    {"format": "acp", "end_of_turn": "x"},
    {"format": "acp", "sticky": True, "work_folder": "\ud800"},
    {"format": "gemini-json", "sticky": True},
]


@pytest.mark.parametrize("arguments", BAD_DECODERS, ids=repr)
def test_a_decoder_that_cannot_be(arguments: Any) -> None:
    with pytest.raises(EventRejectedError) as raised:
        StreamDecoder(**arguments)
    assert raised.value.code == "EVENT_MALFORMED"


def test_calls_that_cannot_be_leave_the_decoder_as_it_was() -> None:
    decoder = StreamDecoder("text", 100)
    decoder.feed(b"so far")
    calls: list[Any] = [
        lambda: decoder.prompt("\ud800"),
        lambda: decoder.finish("\ud800"),
        lambda: decoder.finish("", 2**63),
        lambda: decoder.finish("", "0"),  # type: ignore[arg-type]
    ]
    for call in calls:
        with pytest.raises(EventRejectedError) as raised:
            call()
        assert raised.value.code == "EVENT_MALFORMED"
    for data in ("text", 5, None, [1, 2], memoryview(b"x")):
        with pytest.raises(TypeError):
            decoder.feed(data)  # type: ignore[arg-type]
    decoder.feed(bytearray(b", so good"))
    assert decoder.finish(exit_code=0)["messages"] == [{"role": "assistant", "text": "so far, so good"}]

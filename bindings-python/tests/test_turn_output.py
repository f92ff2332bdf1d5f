"""Output in chunks: where it is cut makes no difference."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from test_properties import tried
from turnlatch.turn_output import TurnOutput

END = "=é="
PIECES = [b"a", b"\n", b"\r", b"\r\n", b"=", END.encode(), f"\n{END}\n".encode(), "é€😀".encode(), b"\xff", b"\xe2\x82"]


def told(chunks: list[bytes], limit: int = 10_000, end: str | None = END) -> tuple[Any, ...]:
    """Everything that comes of the chunks."""
    output = TurnOutput(limit, end)
    turns: list[str] = []
    for chunk in chunks:
        turns += output.feed(chunk)
    turns += output.feed(b"", final=True)
    return turns, "" if output.not_utf8 else output.text, output.too_large, output.not_utf8


def by_hand(data: bytes, end: str) -> tuple[Any, ...]:
    """The same for output within the limit, read as a whole and line by line."""
    try:
        text, broken = data.decode(), False
    except UnicodeDecodeError as error:
        text, broken = data[: error.start].decode(), True
    turns, turn = [], ""
    for line in text.split("\n")[:-1]:
        if line in (end, end + "\r"):
            turns.append(turn)
            turn = ""
        else:
            turn += line + "\n"
    return turns, "" if broken else turn + text.split("\n")[-1], False, broken


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


outputs = st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join)
places = st.lists(st.integers(0, 200), max_size=12)


@tried
@given(outputs, places)
def test_turns_are_the_same_wherever_chunks_are_cut(data: bytes, places: list[int]) -> None:
    assert told(cut(data, places)) == told([data]) == told([bytes([byte]) for byte in data]) == by_hand(data, END)


@tried
@given(outputs, places, st.integers(0, 30), st.sampled_from([END, "", None]))
def test_the_limit_is_the_same_wherever_chunks_are_cut(
    data: bytes, places: list[int], limit: int, end: str | None
) -> None:
    whole = told([data], limit, end)
    assert told(cut(data, places), limit, end) == whole
    turns, text, too_large, _ = whole
    assert all(len(turn.encode()) <= limit for turn in turns)
    assert not too_large or limit < len(text.encode()) <= limit + 4


@pytest.mark.parametrize(
    ("data", "turns", "rest"),
    [
        (f"one\n{END}\ntwo\n{END}\n", ["one\n", "two\n"], ""),
        (f"one\r\n{END}\r\ntwo", ["one\r\n"], "two"),
        (f"{END}\n{END}\n\n{END}\n", ["", "", "\n"], ""),
        (f"x{END}\n {END}\n{END} \n{END}{END}\n", [], f"x{END}\n {END}\n{END} \n{END}{END}\n"),
        (f"one\n{END}", [], f"one\n{END}"),
        (f"one\n{END}\r\r\n", [], f"one\n{END}\r\r\n"),
    ],
)
def test_a_line_that_is_equal_ends_a_turn(data: str, turns: list[str], rest: str) -> None:
    for size in (1, 2, 3, 1000):
        chunks = [data.encode()[at : at + size] for at in range(0, len(data.encode()), size)]
        assert told(chunks) == (turns, rest, False, False)


@pytest.mark.parametrize("chunks", [[b"ok \xff", b"more"], [b"ok \xe2", b"\x28"], [b"ok \xed\xa0", b"\x80"], [b"\xc3"]])
def test_what_is_not_utf8_stops_it(chunks: list[bytes]) -> None:
    output = TurnOutput(100)
    for chunk in chunks:
        output.feed(chunk)
    output.feed(b"", final=True)
    assert output.not_utf8 and not output.too_large
    assert output.feed(b"more") == []


def test_a_turn_of_exactly_the_limit_and_its_end_in_another_chunk_is_not_too_large() -> None:
    assert told([b"a" * 9 + b"\n" + END.encode()[:2], END.encode()[2:] + b"\n"], 10) == (
        ["a" * 9 + "\n"],
        "",
        False,
        False,
    )


@pytest.mark.parametrize("piece", [b"x", b"\n", b"=", b"\n=", b"=\n", f"{END}\n".encode(), f"\n{END}".encode()])
def test_no_byte_is_looked_at_again_and_again(piece: bytes) -> None:
    """Only what may still be the line that ends the turn is kept for the next chunk."""
    output = TurnOutput(10_000_000, END)
    for _ in range(2_000):
        output.feed(piece * 3)
        assert len(output._tail) <= len(END) + 2

"""What is inside the clock and what is not: the twin of ``bench/rust/src/timing.rs``."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any, NamedTuple

BYTES_AT_ONCE = 4_000_000
CALLS_AT_ONCE = 256


class Prepared(NamedTuple):
    """Something that can be measured, and what comes of it."""

    decision: Any
    batch: Callable[[int], int]


def at_once(size: int) -> int:
    """How many calls on texts of this size are prepared together."""
    return min(max(BYTES_AT_ONCE // max(size, 1), 1), CALLS_AT_ONCE)


def timed(calls: int, together: int, prepare: Callable[[], tuple], work: Callable[..., Any]) -> int:
    """The nanoseconds that ``work`` takes on what ``prepare`` made. Making it is not timed, nor is letting go of what
    came of it, nor is the collector of cycles."""
    total, left = 0, calls
    gc.disable()
    while left > 0:
        now = min(left, together)
        given = [prepare() for _ in range(now)]
        came = []
        start = time.perf_counter_ns()
        for each in given:
            came.append(work(*each))
        total += time.perf_counter_ns() - start
        left -= now
    gc.enable()
    return total


def repeated(work: Callable[[], Any], shown: Callable[[Any], Any]) -> Prepared:
    """Work that needs nothing prepared."""
    return Prepared(shown(work()), lambda calls: timed(calls, 64, tuple, work))


def fresh(content: bytes) -> str:
    """A text of its own for each turn: Python keeps what it once made of a text."""
    return content.decode()


def resident_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as pages:
        return int(pages.read().split()[1]) * 4096


def memory_of(runs: int, make: Callable[[int], Any]) -> int:
    """The resident memory that this many waiting runs take."""
    gc.collect()
    before = resident_bytes()
    living = [make(number) for number in range(runs)]
    gc.collect()
    after = resident_bytes()
    del living
    return max(0, after - before)

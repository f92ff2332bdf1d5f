"""Parts for one host process: slots, timers and a store in memory."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from .parts import Clock, RunNotFoundError, StoreConflictError
from .run import Entry, Journal

_CLOCK_FAILED_SEC = 1.0
_LONGEST_SLEEP_SEC = 600.0  # a wall clock may be set; looking again now and then keeps an absolute time absolute


def wall_clock() -> int:
    """Milliseconds since the Unix epoch."""
    return time.time_ns() // 1_000_000


class LocalSlots:
    """At most ``n`` slots at a time, first come, first served. Safe to use from several threads."""

    def __init__(self, n: int) -> None:
        if n < 1:
            raise ValueError("at least one slot is needed")
        self.size = n
        self._granted: set[str] = set()
        self._queue: deque[tuple[str, Callable[[], None]]] = deque()
        self._lock = threading.Lock()

    def acquire(self, run_id: str, slot_id: str, granted: Callable[[], None]) -> None:
        """Asks for a slot; a second request for it keeps the first one's place."""
        with self._lock:
            again = slot_id in self._granted
            if not again:
                places = [i for i, (waiting, _) in enumerate(self._queue) if waiting == slot_id]
                if places:
                    self._queue[places[0]] = (slot_id, granted)
                else:
                    self._queue.append((slot_id, granted))
        if again:
            granted()
        self._grant()

    def hold(self, run_id: str, slot_id: str) -> bool:
        """Counts the slot as granted, also beyond ``n``: its turn runs already. New ones wait until it fits again."""
        with self._lock:
            self._queue = deque(waiting for waiting in self._queue if waiting[0] != slot_id)
            self._granted.add(slot_id)
        return True

    def release(self, slot_id: str) -> None:
        """Gives the slot back, or withdraws the request."""
        with self._lock:
            self._granted.discard(slot_id)
            self._queue = deque(waiting for waiting in self._queue if waiting[0] != slot_id)
        self._grant()

    def held(self) -> set[str]:
        """Granted and requested slots."""
        with self._lock:
            return self._granted | {slot_id for slot_id, _ in self._queue}

    def granted(self) -> set[str]:
        """The slots in use."""
        with self._lock:
            return set(self._granted)

    def _grant(self) -> None:
        # The callbacks run outside of the lock: one may ask for a slot or give one back.
        while True:
            with self._lock:
                if not self._queue or len(self._granted) >= self.size:
                    return
                slot_id, granted = self._queue.popleft()
                self._granted.add(slot_id)
            granted()


class AsyncioTimers:
    """Alarms on the running event loop."""

    def __init__(self, clock: Clock = wall_clock) -> None:
        self._clock = clock
        self._alarms: dict[tuple[str, int], asyncio.TimerHandle] = {}

    def set(self, run_id: str, interaction_id: int, at_ms: int, fired: Callable[[], None]) -> None:
        """Calls ``fired`` when the clock shows ``at_ms``; replaces the question's earlier alarm."""
        self.cancel(run_id, interaction_id)
        self._arm((run_id, interaction_id), at_ms, fired)

    def cancel(self, run_id: str, interaction_id: int) -> None:
        """Forgets the question's alarm."""
        alarm = self._alarms.pop((run_id, interaction_id), None)
        if alarm is not None:
            alarm.cancel()

    def pending(self) -> Collection[tuple[str, int]]:
        """Every alarm that is set."""
        return list(self._alarms)

    def _arm(self, key: tuple[str, int], at_ms: int, fired: Callable[[], None]) -> None:
        # The shortest sleep is a millisecond: a clock that stands still a moment must not spin the loop.
        left = (at_ms - self._clock()) / 1000
        sleep = 0.0 if left <= 0 else max(0.001, min(left, _LONGEST_SLEEP_SEC))
        self._alarms[key] = asyncio.get_running_loop().call_later(sleep, self._look, key, at_ms, fired)

    def _look(self, key: tuple[str, int], at_ms: int, fired: Callable[[], None]) -> None:
        try:
            if self._clock() < at_ms:
                return self._arm(key, at_ms, fired)
        except BaseException:
            # The loop reports it. The alarm must not be lost with it.
            loop = asyncio.get_running_loop()
            self._alarms[key] = loop.call_later(_CLOCK_FAILED_SEC, self._look, key, at_ms, fired)
            raise
        del self._alarms[key]
        fired()


@dataclass
class _Kept:
    snapshot: str
    revision: int
    entries: list[Entry]
    ended: bool = False
    begun: set[str] = field(default_factory=set[str])


class MemoryStore:
    """Keeps runs as long as the object lives: for tests, and for hosts whose runs may die with them."""

    def __init__(self) -> None:
        self._runs: dict[str, _Kept] = {}

    def create(self, run_id: str, snapshot: str, entry: Entry) -> None:
        """Keeps a new run."""
        if run_id in self._runs:
            raise StoreConflictError("RUN_EXISTS", f"there is a run {run_id} already")
        self._runs[run_id] = _Kept(snapshot, entry.revision, [entry])

    def save(self, run_id: str, expected_revision: int, snapshot: str, entry: Entry, ended: bool) -> None:
        """Keeps a run's next state."""
        kept = self._of(run_id)
        if kept.revision != expected_revision:
            raise StoreConflictError("STORE_CONFLICT", f"expected revision {expected_revision}, found {kept.revision}")
        kept.snapshot, kept.revision, kept.ended = snapshot, entry.revision, ended
        kept.entries.append(entry)

    def load(self, run_id: str) -> str:
        """The last snapshot."""
        return self._of(run_id).snapshot

    def unfinished(self) -> list[str]:
        """The runs that have not ended."""
        return [run_id for run_id, kept in self._runs.items() if not kept.ended]

    def mark_begun(self, run_id: str, effect_id: str) -> None:
        """Notes that an effect is about to be performed."""
        self._of(run_id).begun.add(effect_id)

    def was_begun(self, run_id: str, effect_id: str) -> bool:
        """Whether that was noted."""
        return effect_id in self._of(run_id).begun

    def journal(self, run_id: str) -> Journal:
        """The run's journal."""
        lines: list[str] = []
        for entry in self._of(run_id).entries:
            lines.append(entry.encode_chained(run_id, lines[-1] if lines else None))
        return Journal.from_lines(run_id, lines)

    def _of(self, run_id: str) -> _Kept:
        try:
            return self._runs[run_id]
        except KeyError:
            raise RunNotFoundError("RUN_UNKNOWN", f"there is no run {run_id}") from None

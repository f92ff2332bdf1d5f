"""The store of runs, and who is told when it has changed."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from os import PathLike

from turnlatch import Entry, SqliteStore


class Changes:
    """Wakes those who follow a run, or all runs. A wake-up says only that it is worth looking."""

    def __init__(self) -> None:
        self._followers: defaultdict[str | None, set[asyncio.Event]] = defaultdict(set)

    @contextmanager
    def of(self, run_id: str | None) -> Generator[asyncio.Event, None, None]:
        """An event that is set after every change of this run; of every run for ``None``."""
        changed = asyncio.Event()
        self._followers[run_id].add(changed)
        try:
            yield changed
        finally:
            self._followers[run_id].discard(changed)
            if not self._followers[run_id]:
                del self._followers[run_id]

    def tell(self, run_id: str | None) -> None:
        """This run has changed; ``None`` says that any may have."""
        for key in self._followers if run_id is None else (run_id, None):
            for changed in self._followers.get(key, ()):
                changed.set()


class WatchedStore(SqliteStore):
    """Tells of every save when it has been made."""

    def __init__(self, path: str | PathLike[str], changes: Changes, ended: Callable[[str], None]) -> None:
        super().__init__(path)
        self._changes = changes
        self._ended = ended

    async def create(self, run_id: str, snapshot: str, entry: Entry) -> None:
        """Keeps a new run."""
        await super().create(run_id, snapshot, entry)
        self._changes.tell(run_id)

    async def save(self, run_id: str, expected_revision: int, snapshot: str, entry: Entry, ended: bool) -> None:
        """Keeps a run's next state."""
        await super().save(run_id, expected_revision, snapshot, entry, ended)
        self._changes.tell(run_id)
        if ended:
            self._ended(run_id)

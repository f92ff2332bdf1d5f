"""Who wants to know that a run has changed, in this process and, with PostgreSQL, in all."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Callable, Generator
from typing import Any

import psycopg

from .database import Database, answered_within

_LOOK_AGAIN_SEC = 0.5
_SILENT_SEC = 5.0


class Changes:
    """Wakes those who watch a run. Everything but :meth:`tell` is used on the driver's event loop only."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._watchers: dict[str, set[asyncio.Event]] = {}
        self._followers: set[asyncio.Queue[str | None]] = set()

    def tell(self, run_id: str | None) -> None:
        """A run has changed; ``None`` says that any may have. From any thread."""
        with contextlib.suppress(RuntimeError):  # a loop that was closed has nobody to wake
            self._loop.call_soon_threadsafe(self._wake, run_id)

    @contextlib.contextmanager
    def watching(self, run_id: str, stirred: asyncio.Event) -> Generator[None, None, None]:
        """Sets the event whenever the run has changed."""
        self._watchers.setdefault(run_id, set()).add(stirred)
        try:
            yield
        finally:
            self._watchers[run_id].discard(stirred)
            if not self._watchers[run_id]:
                del self._watchers[run_id]

    async def follow(self) -> AsyncIterator[str | None]:
        """The id of every run that changes from now on; ``None`` after a gap."""
        mine: asyncio.Queue[str | None] = asyncio.Queue()
        self._followers.add(mine)
        try:
            while True:
                yield await mine.get()
        finally:
            self._followers.discard(mine)

    def _wake(self, run_id: str | None) -> None:
        watched = self._watchers.values() if run_id is None else [self._watchers.get(run_id, set())]
        for watchers in watched:
            for stirred in watchers:
                stirred.set()
        for follower in self._followers:
            follower.put_nowait(run_id)


class Listener(threading.Thread):
    """Hears what the transactions of all processes announce."""

    def __init__(self, database: Database, tell: Callable[[str | None], None]) -> None:
        super().__init__(name="turnlatch-listener", daemon=True)
        self._database = database
        self._tell = tell
        self._stopped = threading.Event()

    def run(self) -> None:
        while not self._stopped.is_set():
            try:
                with self._database.connect_alone(_SILENT_SEC) as connection:
                    self._listen(connection)
            except (psycopg.Error, OSError):
                self._stopped.wait(_LOOK_AGAIN_SEC)

    def _listen(self, connection: psycopg.Connection[Any]) -> None:
        with answered_within(connection, _SILENT_SEC):
            connection.execute("LISTEN turnlatch")
        # What happened while nobody listened has to be looked up.
        self._tell(None)
        asked = time.monotonic()
        while not self._stopped.is_set():
            for notice in connection.notifies(timeout=_LOOK_AGAIN_SEC):
                self._tell(notice.payload)
            # A connection that is only read from never finds out that nothing comes any more.
            if time.monotonic() - asked > _SILENT_SEC:
                with answered_within(connection, _SILENT_SEC):
                    connection.execute("SELECT 1")
                asked = time.monotonic()

    def stop(self) -> None:
        """Ends, within a moment."""
        self._stopped.set()

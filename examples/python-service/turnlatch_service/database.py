"""One connection to the service's SQLite file, used by one thread: the event loop never waits for the disk."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


class Database:
    """Runs what it is given one after the other."""

    def __init__(self, path: Path) -> None:
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="service-sqlite")
        self._db = self._worker.submit(_open, path).result()

    async def do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of the work, once it is this work's turn."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, work, self._db)

    def close(self) -> None:
        """Finishes what was asked for and closes the file."""
        self._worker.submit(self._db.close).result()
        self._worker.shutdown()


def _open(path: Path) -> sqlite3.Connection:
    # Autocommit: every statement here stands for itself. FULL, because what was answered survives a power cut.
    db = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA synchronous = FULL")
    return db

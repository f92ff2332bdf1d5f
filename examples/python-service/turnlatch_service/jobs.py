"""Which skill each run is of, and what has changed in which order."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from .database import Database

_SCHEMA = "CREATE TABLE IF NOT EXISTS jobs (run_id TEXT PRIMARY KEY, skill TEXT NOT NULL)"
_CHANGES_AT_ONCE = 500


@dataclass(frozen=True)
class Change:
    """One entry of one run's journal, by its place among all entries."""

    number: int
    run_id: str
    revision: int


class Jobs:
    """The table `jobs`, beside the store's own tables in the same file."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def prepare(self) -> None:
        """Makes the table if it is not there."""
        await self._db.do(lambda db: db.execute(_SCHEMA))

    async def exists(self, run_id: str) -> bool:
        """Whether there is such a run. A job that was noted but never became a run does not count."""
        return await self._db.do(
            lambda db: db.execute("SELECT 1 FROM runs WHERE run_id = ?", (run_id,)).fetchone() is not None
        )

    async def note(self, run_id: str, skill: str) -> None:
        """Notes a run's skill, durably, before the run is made."""
        await self._db.do(lambda db: db.execute("INSERT OR REPLACE INTO jobs VALUES (?, ?)", (run_id, skill)))

    async def last_change(self) -> int:
        """The number of the newest change."""
        return await self._db.do(
            lambda db: int(db.execute("SELECT coalesce(max(rowid), 0) FROM journal").fetchone()[0])
        )

    async def changes_after(self, number: int) -> list[Change]:
        """The next changes; ask again after the last of them until there are none."""

        def work(db: sqlite3.Connection) -> list[Change]:
            query = "SELECT rowid, run_id, revision FROM journal WHERE rowid > ? ORDER BY rowid LIMIT ?"
            return [Change(*row) for row in db.execute(query, (number, _CHANGES_AT_ONCE))]

        return await self._db.do(work)

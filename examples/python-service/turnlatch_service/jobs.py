"""Which skill each run is of, and what has changed in which order."""

from __future__ import annotations

import sqlite3

from .database import Database
from .hosting import Change
from .listing import JobRow, Place

_SCHEMA = "CREATE TABLE IF NOT EXISTS jobs (run_id TEXT PRIMARY KEY, skill TEXT NOT NULL)"
_CHANGES_AT_ONCE = 500
_NEWEST = """
SELECT runs.rowid, runs.run_id, runs.revision, jobs.skill FROM runs JOIN jobs USING (run_id)
WHERE runs.rowid < ? AND coalesce(jobs.skill = ?, 1) ORDER BY runs.rowid DESC LIMIT 100
"""
_NEWER_THAN_ALL = (2**63 - 1,)


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


class JobRows:
    """The rows that pages are made of."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def place(self, run_id: str) -> Place | None:
        """Where a run stands among all."""
        place: Place | None = self._db.execute("SELECT rowid FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        return place

    def before(self, place: Place | None, skill: str | None) -> list[JobRow]:
        """The next runs, newest first."""
        rows = self._db.execute(_NEWEST, (*(place or _NEWER_THAN_ALL), skill))
        return [JobRow(row[:1], *row[1:]) for row in rows]

    def snapshot(self, run_id: str) -> str:
        """The run's snapshot."""
        return str(self._db.execute("SELECT snapshot FROM runs WHERE run_id = ?", (run_id,)).fetchone()[0])

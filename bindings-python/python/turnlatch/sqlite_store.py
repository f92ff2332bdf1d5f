"""A store in one SQLite file."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from os import PathLike
from typing import TypeVar

from ._owner import DatabaseOwner
from .parts import RunNotFoundError, StoreConflictError
from .run import Entry, Journal

T = TypeVar("T")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    run_id TEXT PRIMARY KEY, revision INTEGER NOT NULL, snapshot TEXT NOT NULL, ended INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS runs_unfinished ON runs (run_id) WHERE NOT ended;
CREATE TABLE IF NOT EXISTS journal (
    run_id TEXT NOT NULL, revision INTEGER NOT NULL, line TEXT NOT NULL, PRIMARY KEY (run_id, revision)
);
CREATE TABLE IF NOT EXISTS begun (
    run_id TEXT NOT NULL, effect_id TEXT NOT NULL, PRIMARY KEY (run_id, effect_id)
) WITHOUT ROWID;
"""


class SqliteStore:
    """Snapshots, journals and the log of begun effects. All work is done by one thread with one connection, so the
    event loop never waits for the disk. ``compact=True`` keeps journals without the turns' texts.

    A file has one store at a time, until :meth:`close` or the end of the process: a second one, in this process or
    another, in Python or Node, is :class:`turnlatch.DriverUsageError` with the code ``DATABASE_IN_USE`` and the owner's
    ``pid`` in ``details``. To read only, open the file with SQLite itself."""

    def __init__(self, path: str | PathLike[str], *, compact: bool = False) -> None:
        self._compact = compact
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="turnlatch-sqlite")
        try:
            self._db, self._owner = self._worker.submit(_open, path).result()
        except BaseException:
            self._worker.shutdown()
            raise

    async def create(self, run_id: str, snapshot: str, entry: Entry) -> None:
        """Keeps a new run and its first journal line, in one transaction."""

        def work(db: sqlite3.Connection) -> None:
            try:
                db.execute("INSERT INTO runs VALUES (?, ?, ?, 0)", (run_id, entry.revision, snapshot))
            except sqlite3.IntegrityError:
                raise StoreConflictError("RUN_EXISTS", f"there is a run {run_id} already") from None
            self._append(db, run_id, entry, None)

        await self._write(work)

    async def save(self, run_id: str, expected_revision: int, snapshot: str, entry: Entry, ended: bool) -> None:
        """Keeps a run's next state and its journal line, in one transaction."""

        def work(db: sqlite3.Connection) -> None:
            changed = db.execute(
                "UPDATE runs SET revision = ?, snapshot = ?, ended = ? WHERE run_id = ? AND revision = ?",
                (entry.revision, snapshot, ended, run_id, expected_revision),
            )
            if changed.rowcount != 1:
                found = _one(db, "SELECT revision FROM runs WHERE run_id = ?", run_id)
                raise StoreConflictError("STORE_CONFLICT", f"expected revision {expected_revision}, found {found[0]}")
            last = "SELECT line FROM journal WHERE run_id = ? ORDER BY revision DESC LIMIT 1"
            self._append(db, run_id, entry, str(_one(db, last, run_id)[0]))

        await self._write(work)

    async def load(self, run_id: str) -> str:
        """The last snapshot."""
        row = await self._do(lambda db: _one(db, "SELECT snapshot FROM runs WHERE run_id = ?", run_id))
        return str(row[0])

    async def unfinished(self) -> list[str]:
        """The runs that have not ended, oldest first."""
        rows = await self._do(
            lambda db: db.execute("SELECT run_id FROM runs WHERE NOT ended ORDER BY rowid").fetchall()
        )
        return [str(row[0]) for row in rows]

    async def mark_begun(self, run_id: str, effect_id: str) -> None:
        """Notes that an effect is about to be performed."""
        await self._write(lambda db: db.execute("INSERT OR IGNORE INTO begun VALUES (?, ?)", (run_id, effect_id)))

    async def was_begun(self, run_id: str, effect_id: str) -> bool:
        """Whether that was noted."""
        asked = "SELECT 1 FROM begun WHERE run_id = ? AND effect_id = ?"
        return await self._do(lambda db: db.execute(asked, (run_id, effect_id)).fetchone() is not None)

    async def journal(self, run_id: str) -> Journal:
        """The run's journal."""
        return Journal.from_lines(run_id, await self.lines(run_id))

    async def lines(self, run_id: str, after: int = 0) -> list[str]:
        """The lines of the run's journal after a revision, for somebody who follows it."""
        asked = "SELECT line FROM journal WHERE run_id = ? AND revision > ? ORDER BY revision"

        def work(db: sqlite3.Connection) -> list[str]:
            _one(db, "SELECT 1 FROM runs WHERE run_id = ?", run_id)
            return [str(row[0]) for row in db.execute(asked, (run_id, after))]

        return await self._do(work)

    def close(self) -> None:
        """Finishes what was asked for, closes the file and lets the next store have it."""

        def close() -> None:
            self._db.close()
            if self._owner is not None:
                self._owner.release()

        self._worker.submit(close).result()
        self._worker.shutdown()

    def _append(self, db: sqlite3.Connection, run_id: str, entry: Entry, previous: str | None) -> None:
        line = (entry.compact() if self._compact else entry).encode_chained(run_id, previous)
        db.execute("INSERT INTO journal VALUES (?, ?, ?)", (run_id, entry.revision, line))

    async def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, work, self._db)

    async def _write(self, work: Callable[[sqlite3.Connection], object]) -> None:
        def transaction(db: sqlite3.Connection) -> None:
            # IMMEDIATE takes the write lock before the revision is compared: nothing can come between.
            db.execute("BEGIN IMMEDIATE")
            try:
                work(db)
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

        await self._do(transaction)


def _open(path: str | PathLike[str]) -> tuple[sqlite3.Connection, DatabaseOwner | None]:
    # Autocommit, so that transactions begin and end only where this file says so.
    db = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    owner = None
    try:
        file = db.execute("SELECT file FROM pragma_database_list WHERE name = 'main'").fetchone()[0]
        if file:  # a database in memory has no other user
            owner = DatabaseOwner(file)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.executescript(_SCHEMA)
    except BaseException:
        db.close()
        if owner is not None:
            owner.release()
        raise
    return db, owner


def _one(db: sqlite3.Connection, query: str, run_id: str) -> tuple[str | int, ...]:
    row: tuple[str | int, ...] | None = db.execute(query, (run_id,)).fetchone()
    if row is None:
        raise RunNotFoundError("RUN_UNKNOWN", f"there is no run {run_id}")
    return row

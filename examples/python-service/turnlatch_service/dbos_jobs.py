"""Which skill each run is of, in a table beside those of the host on DBOS. (Its order of changes is the host's own.)"""

from __future__ import annotations

import sqlalchemy as sa

from .listing import JobRow, Place

_SCHEMA = "CREATE TABLE IF NOT EXISTS turnlatch_jobs (run_id TEXT PRIMARY KEY, skill TEXT NOT NULL)"
_SCHEMA_LOCK = 0x7475726E_00000101
_NOTE = """INSERT INTO turnlatch_jobs VALUES (:run_id, :skill)
    ON CONFLICT (run_id) DO UPDATE SET skill = :skill"""
_NEWEST = """SELECT runs.created_at, runs.run_id, runs.revision, jobs.skill
    FROM turnlatch_runs AS runs JOIN turnlatch_jobs AS jobs ON jobs.run_id = runs.run_id
    WHERE (runs.created_at, runs.run_id) < (:at, :run_id)
    AND (CAST(:skill AS TEXT) IS NULL OR jobs.skill = CAST(:skill AS TEXT))
    ORDER BY runs.created_at DESC, runs.run_id DESC LIMIT 100"""
_PLACE = "SELECT created_at, run_id FROM turnlatch_runs WHERE run_id = :run_id"
_SNAPSHOT = "SELECT snapshot FROM turnlatch_runs WHERE run_id = :run_id"
_NEWER_THAN_ALL = (2**63 - 1, "")


def prepare(db: sa.Connection) -> None:
    """Makes the table if it is not there. Two services that do so at once would get into each other's way."""
    if db.dialect.name == "postgresql":
        db.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _SCHEMA_LOCK})
    db.exec_driver_sql(_SCHEMA)


def note(db: sa.Connection, run_id: str, skill: str) -> None:
    """Notes a run's skill, in the transaction that makes the run."""
    db.execute(sa.text(_NOTE), {"run_id": run_id, "skill": skill})


class JobRows:
    """The rows that pages are made of."""

    def __init__(self, db: sa.Connection) -> None:
        self._db = db

    def place(self, run_id: str) -> Place | None:
        """Where a run stands among all."""
        # No run has other characters in its id, and there are some that PostgreSQL does not take.
        if not run_id.isascii() or "\0" in run_id:
            return None
        row = self._db.execute(sa.text(_PLACE), {"run_id": run_id}).first()
        return None if row is None else tuple(row)

    def before(self, place: Place | None, skill: str | None) -> list[JobRow]:
        """The next runs, newest first."""
        at, run_id = _NEWER_THAN_ALL if place is None else place
        rows = self._db.execute(sa.text(_NEWEST), {"at": at, "run_id": run_id, "skill": skill})
        return [JobRow((row[0], row[1]), row[1], row[2], row[3]) for row in rows]

    def snapshot(self, run_id: str) -> str:
        """The run's snapshot."""
        return str(self._db.execute(sa.text(_SNAPSHOT), {"run_id": run_id}).scalar_one())

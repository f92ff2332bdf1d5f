"""The rows of runs: snapshots, journals, what was begun, and who carries out which turn.

Every function works in the transaction of the connection it is given.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from ..._host import TaskOver
from ...parts import DriverUsageError, RunNotFoundError, StoreConflictError
from ...run import Entry, Run
from .database import Database

# Which kind of host the tables belong to: the workflows of one are nothing that the other could carry out.
_META = "CREATE TABLE IF NOT EXISTS turnlatch_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
_CLAIM = "INSERT INTO turnlatch_meta (name, value) VALUES ('host', 'python') ON CONFLICT DO NOTHING"
_SCHEMA = (
    """CREATE TABLE IF NOT EXISTS turnlatch_runs (
        run_id TEXT PRIMARY KEY, created_at BIGINT NOT NULL, revision BIGINT NOT NULL, snapshot TEXT NOT NULL,
        status TEXT NOT NULL, ended INTEGER NOT NULL DEFAULT 0
    )""",
    "CREATE INDEX IF NOT EXISTS turnlatch_runs_newest ON turnlatch_runs (created_at, run_id)",
    "CREATE INDEX IF NOT EXISTS turnlatch_runs_unfinished ON turnlatch_runs (created_at, run_id) WHERE ended = 0",
    "CREATE INDEX IF NOT EXISTS turnlatch_runs_status ON turnlatch_runs (status) WHERE ended = 0",
    # Lines have a place (when they were written) and, as soon as somebody asks, a number (when they could be seen).
    """CREATE TABLE IF NOT EXISTS turnlatch_journal (
        place {serial} PRIMARY KEY, run_id TEXT NOT NULL, revision BIGINT NOT NULL, line TEXT NOT NULL, number BIGINT,
        UNIQUE (run_id, revision), UNIQUE (number)
    )""",
    "CREATE INDEX IF NOT EXISTS turnlatch_journal_unnumbered ON turnlatch_journal (place) WHERE number IS NULL",
    """CREATE TABLE IF NOT EXISTS turnlatch_begun (
        run_id TEXT NOT NULL, effect_id TEXT NOT NULL, PRIMARY KEY (run_id, effect_id)
    )""",
    """CREATE TABLE IF NOT EXISTS turnlatch_slots (
        slot_id TEXT PRIMARY KEY, run_id TEXT NOT NULL, executor_id TEXT NOT NULL, holder TEXT NOT NULL
    )""",
    "CREATE INDEX IF NOT EXISTS turnlatch_slots_run ON turnlatch_slots (run_id)",
)
# Numbers of this package's own among the database's advisory locks.
_SCHEMA_LOCK = 0x7475726E_00000001
_SLOTS_LOCK = 0x7475726E_00000002
LEDGER_LOCK = 0x7475726E_00000003
NOBODY = ""


class Displaced(TaskOver):
    """This worker does not carry out the turn any more: another one does, or will.

    No ``Exception``: DBOS would note those as the workflow's result, and retries would take them for a passing fault.
    """


@dataclass(frozen=True, slots=True)
class Hold:
    """The right to carry out a turn: ``holder`` is made anew each time its workflow begins, so that of two that carry
    out the same one the earlier is out."""

    slot_id: str
    executor_id: str
    holder: str


@dataclass(frozen=True, slots=True)
class Held:
    """A slot that is held, for which run and by which execution; by none if ``holder`` is :data:`NOBODY`."""

    slot_id: str
    run_id: str
    holder: str


class Tables:
    """Reads and writes rows. ``compact`` keeps journals without the turns' texts."""

    def __init__(self, database: Database, compact: bool) -> None:
        self._database = database
        self._compact = compact
        self._for_update = " FOR UPDATE" if database.is_postgres else ""

    def create_all(self) -> None:
        """Makes the tables that are not there. Raises ``DATABASE_IN_USE`` if those that are there belong to the host of
        Node."""
        with self._database.transaction() as db:
            self.advisory_lock(db, _SCHEMA_LOCK)
            db.exec_driver_sql(_META)
            db.exec_driver_sql(_CLAIM)
            host = _value(db, "SELECT value FROM turnlatch_meta WHERE name = 'host'")
            if host != "python":
                message = f"the database belongs to hosts of another kind ({host}): Python's need their own"
                raise DriverUsageError("DATABASE_IN_USE", message)
            serial = "BIGSERIAL" if self._database.is_postgres else "INTEGER"
            for statement in _SCHEMA:
                db.exec_driver_sql(statement.format(serial=serial))

    # Runs and journals.

    def insert(self, db: sa.Connection, run: Run, entry: Entry) -> str:
        """Keeps a new run, or raises ``RUN_EXISTS``. Returns its first journal line."""
        statement = """INSERT INTO turnlatch_runs (run_id, created_at, revision, snapshot, status)
            VALUES (:run_id, :at, :revision, :snapshot, :status) ON CONFLICT DO NOTHING"""
        if db.execute(sa.text(statement), {**_row(run, entry), "at": entry.at}).rowcount != 1:
            raise StoreConflictError("RUN_EXISTS", f"there is a run {run.run_id} already")
        return self._append(db, run.run_id, entry, None)

    def update(self, db: sa.Connection, run: Run, entry: Entry) -> str:
        """Keeps the next state of a run that :meth:`locked` has read. Returns its journal line."""
        statement = """UPDATE turnlatch_runs
            SET revision = :revision, snapshot = :snapshot, status = :status, ended = :ended WHERE run_id = :run_id"""
        db.execute(sa.text(statement), {**_row(run, entry), "ended": int(run.ended)})
        last = "SELECT line FROM turnlatch_journal WHERE run_id = :run_id ORDER BY revision DESC LIMIT 1"
        return self._append(db, run.run_id, entry, str(_value(db, last, run_id=run.run_id)))

    def locked(self, db: sa.Connection, run_id: str) -> str:
        """The run's snapshot; nobody else changes the run before this transaction ends."""
        return self._snapshot(db, run_id, self._for_update)

    def lock(self, db: sa.Connection, run_id: str) -> str | None:
        """The same; ``None`` if there is no such run."""
        try:
            return self.locked(db, run_id)
        except RunNotFoundError:
            return None

    def snapshot(self, db: sa.Connection, run_id: str) -> str:
        """The run's snapshot, or raises ``RUN_UNKNOWN``."""
        return self._snapshot(db, run_id, "")

    def revision(self, db: sa.Connection, run_id: str) -> int:
        """The run's revision, or raises ``RUN_UNKNOWN``."""
        return int(_of_run(db, "SELECT revision FROM turnlatch_runs WHERE run_id = :run_id", run_id))

    def unfinished(self, db: sa.Connection) -> list[str]:
        """The runs that have not ended, oldest first."""
        rows = db.exec_driver_sql("SELECT run_id FROM turnlatch_runs WHERE ended = 0 ORDER BY created_at, run_id")
        return [str(row[0]) for row in rows]

    def count_unfinished(self, db: sa.Connection) -> dict[str, int]:
        """How many runs have not ended, by their status."""
        asked = "SELECT status, COUNT(*) FROM turnlatch_runs WHERE ended = 0 GROUP BY status"
        return {str(status): int(count) for status, count in db.exec_driver_sql(asked)}

    def lines(self, db: sa.Connection, run_id: str, after: int) -> list[str]:
        """The lines of the run's journal after a revision."""
        self.revision(db, run_id)
        asked = "SELECT line FROM turnlatch_journal WHERE run_id = :run_id AND revision > :after ORDER BY revision"
        return [str(row[0]) for row in db.execute(sa.text(asked), {"run_id": run_id, "after": after})]

    def has_line(self, db: sa.Connection, run_id: str, revision: int, line: str) -> bool:
        """Whether exactly this was journaled: what to ask after a commit that may or may not have happened."""
        asked = "SELECT line FROM turnlatch_journal WHERE run_id = :run_id AND revision = :revision"
        return bool(_value(db, asked, run_id=run_id, revision=revision) == line)

    # What must not happen twice.

    def mark_begun(self, db: sa.Connection, run_id: str, effect_id: str) -> None:
        """Notes that an effect is about to be performed."""
        statement = "INSERT INTO turnlatch_begun VALUES (:run_id, :effect_id) ON CONFLICT DO NOTHING"
        db.execute(sa.text(statement), {"run_id": run_id, "effect_id": effect_id})

    def was_begun(self, db: sa.Connection, run_id: str, effect_ids: Collection[str]) -> bool:
        """Whether that was noted for any of them."""
        asked = "SELECT effect_id FROM turnlatch_begun WHERE run_id = :run_id"
        return any(row[0] in effect_ids for row in db.execute(sa.text(asked), {"run_id": run_id}))

    # Who carries out which turn.

    def take_slot(self, db: sa.Connection, run_id: str, hold: Hold, limit: int) -> bool:
        """Carries out the turn from now on, in the place of an earlier holder; ``False`` if no slot is free.

        The queue's limit is counted on snapshots that two workers may take at the same time; this count is exact.
        """
        self.advisory_lock(db, _SLOTS_LOCK)
        others = "SELECT COUNT(*) FROM turnlatch_slots WHERE slot_id <> :slot_id"
        if self._holder(db, hold.slot_id) is None and int(_value(db, others, slot_id=hold.slot_id)) >= limit:
            return False
        statement = """INSERT INTO turnlatch_slots VALUES (:slot_id, :run_id, :executor_id, :holder)
            ON CONFLICT (slot_id) DO UPDATE SET executor_id = :executor_id, holder = :holder"""
        values = {"slot_id": hold.slot_id, "executor_id": hold.executor_id, "holder": hold.holder}
        db.execute(sa.text(statement), {**values, "run_id": run_id})
        return True

    def adopt_slot(self, db: sa.Connection, hold: Hold) -> None:
        """Holds the slot in the place of an earlier execution, if one has it."""
        statement = "UPDATE turnlatch_slots SET executor_id = :executor_id, holder = :holder WHERE slot_id = :slot_id"
        values = {"slot_id": hold.slot_id, "executor_id": hold.executor_id, "holder": hold.holder}
        db.execute(sa.text(statement), values)

    def check(self, db: sa.Connection, hold: Hold) -> None:
        """Raises :class:`Displaced` if the turn is somebody else's; if not, it stays so in this transaction."""
        if self.holder(db, hold.slot_id) != hold.holder:
            raise Displaced

    def holds(self, db: sa.Connection, hold: Hold) -> bool:
        """The same as an answer, without a lock."""
        return self._holder(db, hold.slot_id) == hold.holder

    def is_held(self, db: sa.Connection, slot_id: str) -> bool:
        """Whether the slot was granted and not given back."""
        return self._holder(db, slot_id) is not None

    def holder(self, db: sa.Connection, slot_id: str) -> str | None:
        """The execution that holds the slot, until this transaction ends; ``None`` if the slot is free."""
        return self._holder(db, slot_id, self._for_update)

    def release_slot(self, db: sa.Connection, hold: Hold) -> None:
        """The slot is free again, unless somebody else has it."""
        statement = "DELETE FROM turnlatch_slots WHERE slot_id = :slot_id AND holder = :holder"
        db.execute(sa.text(statement), {"slot_id": hold.slot_id, "holder": hold.holder})

    def free_slot(self, db: sa.Connection, slot_id: str) -> None:
        """The slot is free again, whichever execution had it."""
        db.execute(sa.text("DELETE FROM turnlatch_slots WHERE slot_id = :slot_id"), {"slot_id": slot_id})

    def displace(self, db: sa.Connection, executor_id: str) -> None:
        """Takes every turn away from a worker. The slots stay taken until somebody has ended the turns properly."""
        statement = "UPDATE turnlatch_slots SET holder = :nobody WHERE executor_id = :executor_id"
        db.execute(sa.text(statement), {"nobody": NOBODY, "executor_id": executor_id})

    def held_slots(self, db: sa.Connection) -> list[str]:
        """The slots that anybody has, by name."""
        return [str(row[0]) for row in db.exec_driver_sql("SELECT slot_id FROM turnlatch_slots ORDER BY slot_id")]

    def holders(self, db: sa.Connection) -> list[Held]:
        """The slots that are held, with their runs and holders."""
        return [
            Held(*map(str, row)) for row in db.exec_driver_sql("SELECT slot_id, run_id, holder FROM turnlatch_slots")
        ]

    def slots_of(self, db: sa.Connection, run_id: str) -> list[str]:
        """The slots that the run has, or that are about to be given back."""
        asked = sa.text("SELECT slot_id FROM turnlatch_slots WHERE run_id = :run_id")
        return [str(row[0]) for row in db.execute(asked, {"run_id": run_id})]

    def advisory_lock(self, db: sa.Connection, key: int) -> None:
        """Nobody else has this lock before the transaction ends."""
        # A SQLite transaction has the whole file to itself anyway.
        if self._database.is_postgres:
            db.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})

    def _append(self, db: sa.Connection, run_id: str, entry: Entry, previous: str | None) -> str:
        line = (entry.compact() if self._compact else entry).encode_chained(run_id, previous)
        statement = "INSERT INTO turnlatch_journal (run_id, revision, line) VALUES (:run_id, :revision, :line)"
        db.execute(sa.text(statement), {"run_id": run_id, "revision": entry.revision, "line": line})
        return line

    def _snapshot(self, db: sa.Connection, run_id: str, lock: str) -> str:
        return str(_of_run(db, f"SELECT snapshot FROM turnlatch_runs WHERE run_id = :run_id{lock}", run_id))

    def _holder(self, db: sa.Connection, slot_id: str, lock: str = "") -> str | None:
        asked = f"SELECT holder FROM turnlatch_slots WHERE slot_id = :slot_id{lock}"
        found = _value(db, asked, slot_id=slot_id)
        return None if found is None else str(found)


def _row(run: Run, entry: Entry) -> dict[str, object]:
    return {"run_id": run.run_id, "revision": entry.revision, "snapshot": run.to_json(), "status": run.status}


def _value(db: sa.Connection, query: str, **parameters: object) -> Any:
    return db.execute(sa.text(query), parameters).scalar()


def _of_run(db: sa.Connection, query: str, run_id: str) -> Any:
    # No run has other characters in its id (ADM-10), and there are some that PostgreSQL does not take.
    found = _value(db, query, run_id=run_id) if run_id.isascii() and "\0" not in run_id else None
    if found is None:
        raise RunNotFoundError("RUN_UNKNOWN", f"there is no run {run_id}")
    return found

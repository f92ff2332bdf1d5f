"""Who lives, and who goes on with the workflows of those that do not (PostgreSQL).

A worker holds an advisory lock of a session of its own, and says something on it every second. The server ends the
session when the worker is gone, or silent for too long: a stopped process is as good as a dead one. A lock that was
free for some time, over several looks, means that its worker will not come back soon; after a restart of the database
all locks are free for a moment, and nobody is dead.
"""

from __future__ import annotations

import hashlib
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import psycopg
from sqlalchemy.exc import DBAPIError

from ..._host import log
from ...parts import DriverUsageError
from .database import Database, answered_within
from .tables import Tables
from .workflows import Enqueuer

_LONGEST_TICK_SEC = 1.0
_TRY_AGAIN_SEC = 0.1


@dataclass(slots=True)
class _Lease:
    """The session that has the worker's lock, and since when each worker that is not there was missed in it."""

    connection: psycopg.Connection[tuple[object, ...]]
    silent_sec: float
    missing: dict[str, float] = field(default_factory=dict[str, float])

    def ask(self, query: str, *values: object) -> list[tuple[object, ...]]:
        """The rows that the server answers, in time or not at all."""
        with answered_within(self.connection, self.silent_sec):
            cursor = self.connection.execute(query.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def try_lock(self, executor_id: str) -> bool:
        """Takes the lock of a worker, if it is free."""
        return self.ask("SELECT pg_try_advisory_lock(%s)", _key(executor_id)) == [(True,)]

    def unlock(self, executor_id: str) -> None:
        """Gives the lock of a worker back."""
        self.ask("SELECT pg_advisory_unlock(%s)", _key(executor_id))

    def locks(self) -> set[int]:
        """The numbers of all locks that are held in this database."""
        held = """SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks
            WHERE locktype = 'advisory' AND granted AND objsubid = 1
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""
        return {int(str(row[0])) for row in self.ask(held)}


class Attendance(threading.Thread):
    """Says that this worker lives, and takes over from workers that do not: ``patience`` is how many seconds nothing
    must have been heard of them."""

    def __init__(
        self, database: Database, tables: Tables, enqueuer: Enqueuer, executor_id: str, patience: float
    ) -> None:
        super().__init__(name="turnlatch-attendance", daemon=True)
        self._database = database
        self._tables = tables
        self._enqueuer = enqueuer
        self._executor_id = executor_id
        self._patience = patience
        self._tick = min(_LONGEST_TICK_SEC, patience / 4)
        self._lease: _Lease | None = None
        self._heard = 0.0
        # What asks the pool has a thread of its own: a worker must not fall silent because a query hangs.
        self._takeover = ThreadPoolExecutor(1, thread_name_prefix="turnlatch-takeover")
        self._looking: Future[None] | None = None
        self._stopped = threading.Event()

    def arrive(self) -> None:
        """Takes the worker's lock, or raises ``EXECUTOR_ID_IN_USE``. One who takes over from an earlier worker of this
        id, or the session of that worker, may still have it for a moment."""
        end = time.monotonic() + self._patience + self._tick
        while self._present() is None:
            if time.monotonic() > end:
                message = f"a worker with the id {self._executor_id!r} is running: each needs an executor_id of its own"
                raise DriverUsageError("EXECUTOR_ID_IN_USE", message)
            time.sleep(self._tick)

    def run(self) -> None:
        wait = self._tick
        while not self._stopped.wait(wait):
            wait = self._tick
            try:
                lease = self._present()
            except (psycopg.Error, OSError) as error:
                log.warning("worker %s cannot say that it lives: %s", self._executor_id, error)
                self._leave()
                wait = _TRY_AGAIN_SEC
            else:
                if lease is not None and (self._looking is None or self._looking.done()):
                    self._looking = self._takeover.submit(self._look_after_peers, lease)

    def is_heard(self) -> bool:
        """Whether the others can know that this worker lives. If not, it must not begin anything."""
        return self._lease is not None and time.monotonic() - self._heard < self._patience / 2

    def stop(self) -> None:
        """Gives the lock back; the worker must have handed over before."""
        self._stopped.set()
        if self.is_alive():
            self.join()
        self._takeover.shutdown()
        self._leave()

    def _present(self) -> _Lease | None:
        """Says something; takes the lock if that has not been done. ``None`` if it is another's."""
        if self._lease is not None:
            self._lease.ask("SELECT 1")
        else:
            lease = _Lease(self._database.connect_alone(self._patience), self._patience)
            try:
                lease.ask(f"SET idle_session_timeout = {int(self._patience * 1000)}")
                if lease.try_lock(self._executor_id):
                    self._lease = lease
            finally:
                if self._lease is None:
                    lease.connection.close()
        self._heard = time.monotonic()
        return self._lease

    def _leave(self) -> None:
        if self._lease is not None:
            self._lease.connection.close()
            self._lease = None

    def _look_after_peers(self, lease: _Lease) -> None:
        try:
            owners = {owner for _, _, owner in self._enqueuer.pending()} - {self._executor_id}
            present = lease.locks()
            now = time.monotonic()
            gone = {owner for owner in owners if _key(owner) not in present}
            lease.missing = {owner: lease.missing.get(owner, now) for owner in gone}
            for owner, since in lease.missing.items():
                if now - since >= self._patience:
                    self._take_over(lease, owner)
        except (psycopg.Error, DBAPIError, OSError) as error:
            log.warning("worker %s cannot look after others: %s", self._executor_id, error)
            lease.missing = {}

    def _take_over(self, lease: _Lease, owner: str) -> None:
        if not lease.try_lock(owner):
            return  # it has come back, or somebody else takes over
        try:
            # Should it come back after all, it finds that none of its turns is its own any more.
            with self._database.transaction() as db:
                self._tables.displace(db, owner)
            count = self._enqueuer.hand_over(owner)
            log.warning("worker %s takes over %d workflows of %s", self._executor_id, count, owner)
        finally:
            lease.unlock(owner)


def _key(executor_id: str) -> int:
    """The number of the worker's lock; 63 bits, so that it is the same number with and without a sign."""
    digest = hashlib.sha256(f"turnlatch executor {executor_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1

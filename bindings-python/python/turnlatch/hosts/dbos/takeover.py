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

import psycopg
from sqlalchemy.exc import DBAPIError

from ..._host import log
from ...parts import DriverMisused
from .changes import plain_url
from .database import Database
from .tables import Tables
from .workflows import Enqueuer

_LONGEST_TICK_SEC = 1.0
_TRY_AGAIN_SEC = 0.1


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
        self._connection: psycopg.Connection[tuple[object, ...]] | None = None
        self._heard = 0.0
        self._missing: dict[str, float] = {}
        self._stopped = threading.Event()

    def arrive(self) -> None:
        """Takes the worker's lock, or raises ``EXECUTOR_ID_IN_USE``. One who takes over from an earlier worker of this
        id, or the session of that worker, may still have it for a moment."""
        end = time.monotonic() + self._patience + self._tick
        while not self._present():
            if time.monotonic() > end:
                message = f"a worker with the id {self._executor_id!r} is running: each needs an executor_id of its own"
                raise DriverMisused("EXECUTOR_ID_IN_USE", message)
            time.sleep(self._tick)

    def run(self) -> None:
        wait = self._tick
        while not self._stopped.wait(wait):
            wait = self._tick
            try:
                if self._present():
                    self._look_after_peers()
            except (psycopg.Error, DBAPIError) as error:
                log.warning("worker %s cannot say that it lives: %s", self._executor_id, error)
                self._missing.clear()
                self._leave()
                wait = _TRY_AGAIN_SEC

    def is_heard(self) -> bool:
        """Whether the others can know that this worker lives. If not, it must not begin anything."""
        return self._connection is not None and time.monotonic() - self._heard < self._patience / 2

    def stop(self) -> None:
        """Gives the lock back; the worker must have handed over before."""
        self._stopped.set()
        if self.is_alive():
            self.join()
        self._leave()

    def _present(self) -> bool:
        """Says something; takes the lock if that has not been done. Whether it is this worker's."""
        if self._connection is not None:
            self._connection.execute("SELECT 1")
            self._heard = time.monotonic()
            return True
        connection = psycopg.connect(plain_url(self._database.url), autocommit=True)
        silence = f"SET idle_session_timeout = {int(self._patience * 1000)}"
        connection.execute(silence.encode())
        if _try_lock(connection, self._executor_id):
            self._connection = connection
            self._heard = time.monotonic()
            return True
        connection.close()
        return False

    def _leave(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _look_after_peers(self) -> None:
        owners = {owner for _, _, owner in self._enqueuer.pending()} - {self._executor_id}
        present = self._locks()
        now = time.monotonic()
        gone = {owner for owner in owners if _key(owner) not in present}
        self._missing = {owner: self._missing.get(owner, now) for owner in gone}
        for owner, since in self._missing.items():
            if now - since >= self._patience:
                self._take_over(owner)

    def _take_over(self, owner: str) -> None:
        assert self._connection is not None
        if not _try_lock(self._connection, owner):
            return  # it has come back, or somebody else takes over
        try:
            # Should it come back after all, it finds that none of its turns is its own any more.
            with self._database.transaction() as db:
                self._tables.displace(db, owner)
            count = self._enqueuer.hand_over(owner)
            log.warning("worker %s takes over %d workflows of %s", self._executor_id, count, owner)
        finally:
            self._connection.execute("SELECT pg_advisory_unlock(%s)", (_key(owner),))

    def _locks(self) -> set[int]:
        assert self._connection is not None
        held = """SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks
            WHERE locktype = 'advisory' AND granted AND objsubid = 1
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""
        return {int(str(row[0])) for row in self._connection.execute(held)}


def _try_lock(connection: psycopg.Connection[tuple[object, ...]], executor_id: str) -> bool:
    row = connection.execute("SELECT pg_try_advisory_lock(%s)", (_key(executor_id),)).fetchone()
    return row is not None and row[0] is True


def _key(executor_id: str) -> int:
    """The number of the worker's lock; 63 bits, so that it is the same number with and without a sign."""
    digest = hashlib.sha256(f"turnlatch executor {executor_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1

"""The database that runs and workflows share: one SQLite file of one process, or PostgreSQL."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

_POOL = 10
_OVERFLOW = 40
_CONNECT_SEC = 10
_CONNECT_ALONE_SEC = 3  # of a connection that is made again and again until the server answers
_SILENT_SEC = 15.0  # after this time without an answer from the other machine a connection is given up
# A process that is stopped or cut off in the middle of a transaction holds its locks no longer than this.
_IDLE_IN_TRANSACTION_SEC = 5.0


class Database:
    """An engine, and transactions that have their lock from the beginning. ``name`` is what the server calls its
    sessions in ``pg_stat_activity``."""

    def __init__(self, url: str, name: str = "turnlatch") -> None:
        self.url = url
        self.name = name
        self.is_postgres = not url.startswith("sqlite")
        self.engine = _postgres(url, name) if self.is_postgres else _sqlite(url)

    @contextmanager
    def transaction(self) -> Generator[sa.Connection, None, None]:
        """Commits at the end of the block, or nothing at all."""
        with self.engine.begin() as connection:
            if not self.is_postgres:
                # Takes the write lock before anything is read: nobody can come between reading and writing.
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection

    @contextmanager
    def reading(self) -> Generator[sa.Connection, None, None]:
        """For reading alone: nobody waits for it."""
        with self.engine.connect() as connection:
            yield connection

    def connect_alone(self, silent_sec: float) -> psycopg.Connection[tuple[object, ...]]:
        """A connection beside the pool, which commits each statement and is given up if it is silent for this time."""
        options = _connection_options(self.name, silent_sec)
        options["connect_timeout"] = _CONNECT_ALONE_SEC
        plain = sa.make_url(self.url).set(drivername="postgresql").render_as_string(hide_password=False)
        return psycopg.connect(plain, autocommit=True, **options)

    def close(self) -> None:
        """Closes every connection."""
        self.engine.dispose()


def is_passing(error: DBAPIError) -> bool:
    """Whether an error is of the connection and not of what was asked: it may work if it is tried again."""
    if isinstance(error, (OperationalError, InterfaceError)):
        return True
    return isinstance(error.orig, psycopg.errors.IdleInTransactionSessionTimeout)


@contextmanager
def answered_within(connection: psycopg.Connection[Any], seconds: float) -> Generator[None, None, None]:
    """Breaks the connection if the block takes longer. The kernel notices a machine that does not answer; this is for
    machines that do, and have nothing behind them: a proxy, or a server that hangs."""
    # A duplicate, so that the number cannot belong to another connection when the time is over.
    with socket.socket(fileno=os.dup(connection.fileno())) as same:
        timer = threading.Timer(seconds, _break, [same])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()


def _break(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _connection_options(name: str, silent_sec: float) -> dict[str, Any]:
    """Lets the client's side notice that the other machine, or the way to it, is gone: by data that is not acknowledged
    and, on a connection that is only listened on, by probes that are not."""
    probe_sec = max(1, int(silent_sec / 3))
    return {
        "application_name": name,
        "connect_timeout": _CONNECT_SEC,
        "tcp_user_timeout": int(silent_sec * 1000),
        "keepalives": 1,
        "keepalives_idle": probe_sec,
        "keepalives_interval": probe_sec,
        "keepalives_count": 2,
    }


def _postgres(url: str, name: str) -> sa.Engine:
    engine = sa.create_engine(
        sa.make_url(url).set(drivername="postgresql+psycopg"),
        pool_size=_POOL,
        max_overflow=_OVERFLOW,
        pool_pre_ping=True,
        connect_args=_connection_options(name, _SILENT_SEC),
    )

    def prepare(connection: psycopg.Connection[Any], _record: object) -> None:
        # What the server does for the others when it does not hear from this process. By a statement and not by the
        # option of the connection: poolers refuse that, and the address may have some of its own.
        idle, silent = int(_IDLE_IN_TRANSACTION_SEC * 1000), int(_SILENT_SEC * 1000)
        connection.execute(f"SET idle_in_transaction_session_timeout = {idle}".encode())
        connection.execute(f"SET tcp_user_timeout = {silent}".encode())
        connection.commit()

    event.listen(engine, "connect", prepare)
    return engine


def _sqlite(url: str) -> sa.Engine:
    engine = sa.create_engine(url, pool_size=_POOL, max_overflow=_OVERFLOW)

    def prepare(connection: Any, _record: object) -> None:
        # As DBOS prepares its own connections; and what was committed survives a power cut.
        connection.isolation_level = "IMMEDIATE"
        for setting in ("busy_timeout=30000", "foreign_keys=ON", "journal_mode=WAL", "synchronous=FULL"):
            connection.execute(f"PRAGMA {setting}")

    event.listen(engine, "connect", prepare)
    return engine

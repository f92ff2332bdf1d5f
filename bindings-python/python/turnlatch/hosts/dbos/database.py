"""The database that runs and workflows share: one SQLite file of one process, or PostgreSQL."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event

_POOL = 10
_OVERFLOW = 40
_CONNECT_SEC = 10
_SILENT_MS = 15_000  # a connection into nowhere is noticed after this time


class Database:
    """An engine, and transactions that have their lock from the beginning."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.is_postgres = not url.startswith("sqlite")
        self.engine = _postgres(url) if self.is_postgres else _sqlite(url)

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

    def close(self) -> None:
        """Closes every connection."""
        self.engine.dispose()


def _postgres(url: str) -> sa.Engine:
    return sa.create_engine(
        sa.make_url(url).set(drivername="postgresql+psycopg"),
        pool_size=_POOL,
        max_overflow=_OVERFLOW,
        pool_pre_ping=True,
        connect_args={"connect_timeout": _CONNECT_SEC, "tcp_user_timeout": _SILENT_MS},
    )


def _sqlite(url: str) -> sa.Engine:
    engine = sa.create_engine(url, pool_size=_POOL, max_overflow=_OVERFLOW)

    def prepare(connection: Any, _record: object) -> None:
        # As DBOS prepares its own connections; and what was committed survives a power cut.
        connection.isolation_level = "IMMEDIATE"
        for setting in ("busy_timeout=30000", "foreign_keys=ON", "journal_mode=WAL", "synchronous=FULL"):
            connection.execute(f"PRAGMA {setting}")

    event.listen(engine, "connect", prepare)
    return engine

"""What runs leave behind in a database: rows, bytes and transactions."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

_SETTLED_SEC = 2.0  # the server counts transactions of a connection at most once a second


@dataclass
class Cost:
    """Of one run, on average."""

    rows: dict[str, float] = field(default_factory=dict)
    bytes: float = 0
    wal_bytes: float | None = None
    transactions: float | None = None
    idle_transactions: float | None = None
    """A second, by all workers together, when there is nothing to do."""

    @property
    def all_rows(self) -> float:
        return sum(self.rows.values())


def of_sqlite(file: Path, runs: int) -> Cost:
    """Of a file that nobody uses any more."""
    with sqlite3.connect(file) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        rows = {name: db.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] / runs for name in tables}
    return Cost({name: count for name, count in rows.items() if count >= 0.5}, file.stat().st_size / runs)


@contextmanager
def of_postgres(url: str, runs: int) -> Generator[Cost, None, None]:
    """Of what is done meanwhile. What idle workers ask is measured before, and does not count."""
    cost = Cost()
    with psycopg.connect(url, autocommit=True) as db:
        idle_from, idle_began = _commits(db), time.monotonic()
        time.sleep(5)
        idle = (_commits(db) - idle_from) / (time.monotonic() - idle_began)
        cost.idle_transactions = idle
        log, commits, bytes_before, began = (
            _one(db, "SELECT pg_current_wal_lsn()"),
            _commits(db),
            _size(db),
            time.monotonic(),
        )
        yield cost
        seconds = time.monotonic() - began
        cost.transactions = (_commits(db) - commits - idle * (seconds + _SETTLED_SEC)) / runs
        cost.wal_bytes = float(str(_one(db, f"SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '{log}')"))) / runs
        cost.bytes = (_size(db) - bytes_before) / runs
        names = "SELECT schemaname, relname FROM pg_stat_user_tables"
        for schema, name in db.execute(names).fetchall():
            count = int(str(_one(db, f'SELECT count(*) FROM "{schema}"."{name}"'))) / runs
            if count >= 0.5:
                cost.rows[name if schema == "public" else f"{schema}.{name}"] = count


def _commits(db: psycopg.Connection) -> int:
    time.sleep(_SETTLED_SEC)
    db.execute("SELECT pg_stat_clear_snapshot()")
    return int(str(_one(db, "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()")))


def _size(db: psycopg.Connection) -> int:
    return int(str(_one(db, "SELECT pg_database_size(current_database())")))


def _one(db: psycopg.Connection, query: str) -> object:
    row = db.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]

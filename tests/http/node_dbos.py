"""The Node service on DBOS as a kind: each data folder has a database of its own, on a server of the tests'."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import psycopg

SERVER = "TURNLATCH_TEST_SERVER"
"""The environment variable with the address of the server's first database."""


def database_of(data: Path) -> str:
    """The address of the database that goes with a data folder; made if it is not there."""
    name = f"data_{hashlib.sha256(str(data).encode()).hexdigest()[:16]}"
    server = os.environ[SERVER]
    with psycopg.connect(server, autocommit=True) as connection:
        known = "SELECT 1 FROM pg_database WHERE datname = %s"
        if connection.execute(known, (name,)).fetchone() is None:
            connection.execute(f"CREATE DATABASE {name}".encode())
    return f"{server.rpartition('/')[0]}/{name}"

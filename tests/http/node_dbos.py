"""The Node service on DBOS as a kind: each data folder has a database of its own, on a server of the tests'."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import psycopg

ROOT = Path(__file__).resolve().parent.parent.parent
SERVER = "TURNLATCH_TEST_SERVER"
"""The environment variable with the address of the server's first database."""


def database_of(data: str) -> str:
    """The address of the database that goes with a data folder; made if it is not there."""
    name = f"data_{hashlib.sha256(data.encode()).hexdigest()[:16]}"
    server = os.environ[SERVER]
    with psycopg.connect(server, autocommit=True) as connection:
        known = "SELECT 1 FROM pg_database WHERE datname = %s"
        if connection.execute(known, (name,)).fetchone() is None:
            connection.execute(f"CREATE DATABASE {name}".encode())
    return f"{server.rpartition('/')[0]}/{name}"


if __name__ == "__main__":
    given = sys.argv[1:]
    environment = {**os.environ, "TURNLATCH_DATABASE_URL": database_of(given[given.index("--data") + 1])}
    service = str(ROOT / "examples/node-service/dist/main.js")
    os.execvpe("node", ["node", service, "--engine", "dbos", *given], environment)

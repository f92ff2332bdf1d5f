"""Where runs are kept: SQLite, PostgreSQL, or each in turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .fleet import Fleet
from .postgres import Postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    server = Postgres()
    yield server
    server.close()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """What a driver is told of the database."""
    if request.param == "sqlite":
        return {"path": tmp_path / "runs.db"}
    return {"database_url": request.getfixturevalue("postgres").database()}


@pytest.fixture
def fleet(postgres: Postgres, tmp_path: Path) -> Iterator[Fleet]:
    workers = Fleet(postgres.database(), tmp_path)
    yield workers
    workers.close()

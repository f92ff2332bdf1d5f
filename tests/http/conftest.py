"""Every test gets the service as a fixture, once for each kind of service that is asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path

import pytest

from node_dbos import SERVER
from running import LAUNCHERS, ROOT, SUCCESSORS, RunningService

sys.path.append(str(ROOT / "bindings-python/tests/hosts"))
from postgres import Postgres

StartService = Callable[..., RunningService]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--services", help="the kinds of service to run every test on; without, those on DBOS run the marked ones"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "every_engine: what an engine could get wrong, so it is tried on each")


def chosen_kinds(config: pytest.Config) -> list[str]:
    """The kinds of service that are asked for."""
    chosen: str | None = config.getoption("--services")
    return list(LAUNCHERS) if chosen is None else chosen.split(",")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    kinds = chosen_kinds(metafunc.config)
    if "kind" in metafunc.fixturenames:
        # Routes, safety and processes are the same code on every engine: they need not be tried on each of them.
        on_each = metafunc.config.getoption("--services") or metafunc.definition.get_closest_marker("every_engine")
        some = kinds if on_each else [kind for kind in kinds if kind in SUCCESSORS]
        metafunc.parametrize("kind", some, scope="session")
    if "successor" in metafunc.fixturenames:
        related = [kind for kind in kinds if kind in SUCCESSORS]
        metafunc.parametrize("predecessor, successor", list(permutations(related, 2)))


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server."""
    server = Postgres()
    yield server
    server.close()


@pytest.fixture(scope="session", autouse=True)
def database_server(request: pytest.FixtureRequest) -> None:
    """Tells the Node services on DBOS of a server, if there are any."""
    if "node-dbos" in chosen_kinds(request.config):
        os.environ[SERVER] = request.getfixturevalue("postgres").url("postgres")


@pytest.fixture(scope="session")
def service(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service that many tests share: each makes runs of its own."""
    running = RunningService(kind, tmp_path_factory.mktemp(kind) / "data", "--slots", "4")
    yield running
    assert running.stop() == 0
    assert " ERROR " not in running.said(), running.said()


@pytest.fixture
def start_service(kind: str, tmp_path: Path) -> Iterator[StartService]:
    """Starts services of a test's own, each with a data folder of its own unless it is given one."""
    started: list[RunningService] = []

    def start(*options: str, data: Path | None = None, token: str | None = None) -> RunningService:
        running = RunningService(kind, data or tmp_path / f"data-{len(started)}", *options, token=token)
        started.append(running)
        return running

    yield start
    for running in started:
        if running.process.poll() is None:
            running.kill()
        assert running.may_break or " ERROR " not in running.said(), running.said()

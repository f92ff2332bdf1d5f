"""Every test gets the service as a fixture, once for each kind of service that is asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

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


def kinds_for(metafunc: pytest.Metafunc, kinds: list[str]) -> list[str]:
    """Those of the kinds that a test is tried on."""
    if metafunc.config.getoption("--services") or metafunc.definition.get_closest_marker("every_engine"):
        return kinds
    # Routes, safety and processes are the same code on every engine: they need not be tried on each of them.
    return [kind for kind in kinds if kind in SUCCESSORS]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    kinds = chosen_kinds(metafunc.config)
    if "kind" in metafunc.fixturenames:
        metafunc.parametrize("kind", kinds_for(metafunc, kinds), indirect=True, scope="session")
    if "successor" in metafunc.fixturenames:
        related = [kind for kind in kinds if kind in SUCCESSORS]
        metafunc.parametrize("predecessor, successor", list(permutations(related, 2)))


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server, which Node services on DBOS are told of."""
    server = Postgres()
    os.environ[SERVER] = server.url("postgres")
    yield server
    server.close()


@pytest.fixture(scope="session")
def kind(request: pytest.FixtureRequest) -> str:
    """A kind of service; what it needs is there."""
    if request.param == "node-dbos":
        request.getfixturevalue("postgres")
    return str(request.param)


@pytest.fixture
def every_kind(request: pytest.FixtureRequest) -> list[str]:
    """All kinds that are asked for, for a test that compares them; what they need is there."""
    kinds = chosen_kinds(request.config)
    if "node-dbos" in kinds:
        request.getfixturevalue("postgres")
    return kinds


@pytest.fixture(scope="session")
def service(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service that many tests share: each makes runs of its own, and leaves no slot in use."""
    folder = tmp_path_factory.mktemp(kind)
    running = RunningService(kind, folder / "data", "--slots", "4", "--console", str(console(folder)))
    yield running
    assert running.stop() == 0
    assert not running.errors(), running.said()


def console(folder: Path) -> Path:
    """A console's files, and beside them one that nobody must see."""
    files = folder / "console"
    (files / "assets").mkdir(parents=True)
    (files / "index.html").write_text("<!doctype html><title>console</title>")
    (files / "assets/app.wasm").write_bytes(b"\0asm")
    (folder / "secret.txt").write_text("secret")
    (files / "leads-out.txt").symlink_to(folder / "secret.txt")
    return files


@pytest.fixture
def start_service(kind: str, tmp_path: Path) -> Iterator[StartService]:
    """Starts services of a test's own, each with a data folder of its own unless it is given one."""
    started: list[RunningService] = []

    def start(*options: str, data: Path | None = None, **more: Any) -> RunningService:
        running = RunningService(kind, data or tmp_path / f"data-{len(started)}", *options, **more)
        started.append(running)
        return running

    yield start
    for running in started:
        if running.process.poll() is None:
            running.kill()
        assert running.may_break or not running.errors(), running.said()

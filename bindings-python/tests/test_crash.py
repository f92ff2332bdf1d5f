"""A host that is killed at every boundary, and goes on: nothing is lost, nothing happens twice, nothing is left."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
import threading
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import connection
from pathlib import Path

import pytest

import crash_host
import gates
from crash_host import MODES
from hosting import plan, processes_marked, until
from turnlatch import Run, replay
from turnlatch.sqlite_store import SqliteStore

LOST = {"ORCHESTRATOR_RESTART_INTERRUPTED", "INTERACTION_PROCESS_LOST"}
# Hosts are forked from a process that has everything imported: real processes, at half the cost.
HOSTS = multiprocessing.get_context("forkserver")
HOSTS.set_forkserver_preload(["crash_host"])
# Starting a process also asks after all others, and two threads that ask after the same one disturb each other.
ONE_AT_A_TIME = threading.Lock()
KILLS: dict[str, int] = {}


@pytest.fixture(autouse=True)
def importable_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))


def run_host(folder: Path, mode: str, crash_at: int, mark: str) -> int | None:
    """How many boundaries there were, or ``None`` if the host was killed at one."""
    host = HOSTS.Process(target=crash_host.run_host, args=(folder, mode, crash_at, mark))
    with ONE_AT_A_TIME:
        host.start()
    ended = connection.wait([host.sentinel], 60)
    with ONE_AT_A_TIME:
        if not ended:
            host.kill()
            pytest.fail("the host hangs")
        code = host.exitcode
    if code == -signal.SIGKILL:
        return None
    assert code == 0, f"the host ended with {code}"
    return int(lines(folder / "boundaries.log")[-1])


def crash_and_go_on(folder: Path, mode: str, crashes: list[int]) -> int:
    """Crashes at these boundaries, one after the other, then runs to the end. Returns how many crashes there were."""
    folder.mkdir()
    mark = str(uuid.uuid4())
    crashed = 0
    for crash_at in crashes:
        if run_host(folder, mode, crash_at, mark) is not None:
            break
        crashed += 1
    else:
        assert run_host(folder, mode, 0, mark) is not None
    asyncio.run(check(folder, mode, crashed, mark))
    return crashed


async def check(folder: Path, mode: str, crashed: int, mark: str) -> None:
    await until(lambda: processes_marked(f"TURNLATCH_TEST={mark}") == [])
    assert os.listdir(folder / "slots") == [], "a slot leaked"
    assert lines(folder / "beside.log") == [], "a turn started while an agent of an earlier host was alive"
    assert os.listdir(folder / "locks") == [], "the file of a lock was left"
    store = SqliteStore(folder / "runs.db")
    run = Run.from_json(await store.load("r1"))
    assert await store.unfinished() == []
    assert replay(plan(**MODES[mode]), await store.journal("r1"))[0].to_json() == run.to_json()
    store.close()

    error = run.status_view().get("error")
    code = error and error["code"]
    if mode == "cancel":
        assert code == "CANCELED_BY_USER" or (crashed and code in LOST)
    elif crashed and mode in ("strict", "sticky"):
        assert run.status == "succeeded" or code in LOST
    else:
        assert run.status == "succeeded", code

    answered = [record.get("response") for record in run.history() if record["resolution_mode"] == "user_reply"]
    assert answered == sorted(set(answered)), "each question was answered once"
    accepted = lines(folder / "accepted.log")
    assert set(accepted) - {"canceled"} <= set(answered), "an accepted reply was lost"
    turns = Counter(lines(folder / "turns.log"))
    assert all(count == 1 for count in turns.values()), f"a turn ran twice: {turns}"
    attempts = Counter(turn.split()[0] for turn in turns)
    if MODES[mode].get("interrupted_turn") != "retry":
        assert all(count == 1 for count in attempts.values()), f"an attempt ran twice without retry: {turns}"
    assert all(count <= 1 + crashed for count in attempts.values())
    if run.status == "succeeded":
        assert sorted(attempts) == [str(n + 1) for n in range(run.attempt_number)]


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.parametrize("mode", MODES)
def test_a_crash_at_any_boundary(tmp_path: Path, mode: str) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    boundaries = run_host(whole, mode, 0, "whole")
    assert boundaries is not None
    assert boundaries >= 14
    with ThreadPoolExecutor(4) as pool:
        crashes = range(1, boundaries + 1)
        tests = [pool.submit(crash_and_go_on, tmp_path / str(n), mode, [n]) for n in crashes]
        assert [test.result() for test in tests] == [1] * len(crashes)
    KILLS[mode] = len(crashes)
    if KILLS.keys() == MODES.keys():
        gates.report("killed-host", kills=sum(KILLS.values()), scenarios=len(MODES))


@pytest.mark.parametrize("mode", ["resumable", "sticky"])
def test_crashes_while_recovering_from_crashes(tmp_path: Path, mode: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        crashes = [[first, second, second + 1] for first in (7, 15) for second in (1, 3)]
        tests = [pool.submit(crash_and_go_on, tmp_path / str(n), mode, each) for n, each in enumerate(crashes)]
        assert sum(test.result() for test in tests) > len(crashes)

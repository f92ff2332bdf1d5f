"""A SQLite file has one host at a time (HOST-11), in real processes."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hosting import DONE, plan
from turnlatch import AsyncioTimers, Command, Driver, DriverUsageError, LocalSlots, SqliteStore, SubprocessRunner

HOST = str(Path(__file__).with_name("sqlite_host.py"))


def holder(path: Path) -> subprocess.Popen[str]:
    """Another process that has the file open until its input ends."""
    command = [sys.executable, HOST, "hold", str(path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    return process


def refusal(path: Path) -> DriverUsageError:
    with pytest.raises(DriverUsageError) as refused:
        SqliteStore(path)
    assert refused.value.code == "DATABASE_IN_USE"
    return refused.value


def test_a_second_process_is_refused_and_learns_which_one_has_the_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with holder(path) as first:
        error = refusal(path)
        assert error.details == {"pid": first.pid}
        assert f"process {first.pid} uses {path}" in error.message
        first.communicate("")
    assert first.returncode == 0
    SqliteStore(path).close()


def test_the_file_is_free_when_its_host_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with holder(path) as first:
        refusal(path)
        first.send_signal(signal.SIGKILL)
    assert (tmp_path / "runs.db.owner.pid").read_text() == f"{first.pid}\n"
    store = SqliteStore(path)
    assert refusal(path).details == {"pid": os.getpid()}
    store.close()


def test_a_second_store_of_this_process_is_refused_until_the_first_is_closed(tmp_path: Path) -> None:
    path, link = tmp_path / "runs.db", tmp_path / "link.db"
    link.symlink_to(path)
    first = SqliteStore(path)
    for _ in range(2):
        assert refusal(path).details == {"pid": os.getpid()}
    assert refusal(link).details == {"pid": os.getpid()}, "it is the same file"
    other = subprocess.run([sys.executable, HOST, "recover", str(path)], capture_output=True, text=True)
    assert "DATABASE_IN_USE" in other.stderr, "what was refused here has not freed the lock"
    first.close()
    SqliteStore(link).close()
    assert sorted(os.listdir(tmp_path)) == ["link.db", "runs.db", "runs.db.owner"]


def test_a_database_in_memory_has_no_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = SqliteStore(":memory:"), SqliteStore(":memory:")
    first.close()
    second.close()
    assert os.listdir(tmp_path) == []


def test_a_file_that_is_no_database_is_left_without_an_owner(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    path.write_text("no database at all, and long enough to be looked at" * 50)
    for _ in range(2):
        with pytest.raises(sqlite3.DatabaseError, match="not a database"):
            SqliteStore(path)


def test_who_only_reads_needs_no_ownership(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with holder(path) as first, sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM runs").fetchone() == (0,)
        first.communicate("")


def test_a_second_host_cannot_fail_the_turns_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    turn = f"touch begun; while ! test -e go; do sleep 0.01; done; echo '{DONE}'"

    async def scenario() -> None:
        store = SqliteStore(path)
        processes = SubprocessRunner(lambda *_: Command(["sh", "-c", turn], cwd=tmp_path))
        parts: Any = {"slots": LocalSlots(1), "timers": AsyncioTimers(), "processes": processes, "store": store}
        async with Driver(**parts) as driver:
            await driver.start(plan())
            await driver.wait("r1", "running")
            await driver.settled("r1")
            other = [sys.executable, HOST, "recover", str(path)]
            done = await asyncio.to_thread(subprocess.run, other, capture_output=True, text=True)
            assert (done.returncode, f"DATABASE_IN_USE: process {os.getpid()}" in done.stderr) == (1, True), done
            assert driver.view("r1")["status"] == "running"
            (tmp_path / "go").touch()
            assert (await driver.wait("r1"))["status"] == "succeeded"
            await driver.settled("r1")
        store.close()

    asyncio.run(asyncio.wait_for(scenario(), 60))

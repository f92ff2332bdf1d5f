"""A host without descriptors, processes or memory: its runs wait for their start, and no run fails because of it."""

from __future__ import annotations

import asyncio
import errno
import json
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hosting import DONE, plan, until
from turnlatch import Run, _supervise, is_out_of_resources
from turnlatch.driver import Driver, RetryPolicy
from turnlatch.local import AsyncioTimers, LocalSlots, MemoryStore

QUICK = RetryPolicy(attempts=3, delay_sec=0.01, pause_sec=0.02)
SCARCE = [errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM]
TESTS = Path(__file__).parent
NOBODY = 65534


class Agents:
    """Turns that are over when they begin, after their start has failed in these ways."""

    def __init__(self, failures: list[Exception]) -> None:
        self.failures = failures
        self.started: list[str] = []

    def start(self, run: Run, effect: Any, finished: Callable[[Any], None]) -> None:
        if self.failures:
            raise self.failures.pop(0)
        self.started.append(effect["id"])
        finished({"text": DONE})

    def terminate(self, slot_id: str) -> None: ...

    def alive(self) -> list[str]:
        return []


def driver_of(agents: Agents, **changed: Any) -> Driver:
    usual = {"slots": LocalSlots(1), "timers": AsyncioTimers(), "store": MemoryStore(), "retry": QUICK}
    return Driver(**{**usual, "processes": agents, **changed})


def test_what_is_out_of_resources() -> None:
    assert all(is_out_of_resources(OSError(number, os.strerror(number))) for number in SCARCE)
    others = [OSError(errno.ENOENT, ""), OSError("EMFILE"), RuntimeError("EMFILE"), KeyboardInterrupt()]
    assert not any(is_out_of_resources(error) for error in others)


@pytest.mark.parametrize("number", SCARCE)
def test_a_turn_waits_for_its_start_as_long_as_the_host_is_out_of_resources(number: int) -> None:
    async def main() -> None:
        agents = Agents([OSError(number, os.strerror(number)) for _ in range(10)])
        seen: list[tuple[str, str]] = []
        async with driver_of(agents, on_error=lambda *told: seen.append((told[1]["type"], repr(told[2])))) as driver:
            await driver.start(plan())
            assert (await asyncio.wait_for(driver.wait("r1"), 20))["status"] == "succeeded"
            await driver.settled("r1")
        assert seen == [("start_turn", repr(OSError(number, os.strerror(number))))] * 10
        assert agents.started == ["r1/2/1"]

    asyncio.run(main())


def test_other_failures_count_and_these_do_not() -> None:
    scarce, broken = OSError(errno.EMFILE, "none left"), RuntimeError("no such engine")

    async def outcome(failures: list[Exception]) -> tuple[str, str | None, int]:
        agents = Agents(failures)
        async with driver_of(agents) as driver:
            await driver.start(plan())
            view = await asyncio.wait_for(driver.wait("r1"), 20)
        error = view.get("error")
        return view["status"], error and error["code"], len(agents.failures)

    assert asyncio.run(outcome([scarce, broken, broken, scarce, scarce])) == ("succeeded", None, 0)
    assert asyncio.run(outcome([scarce, broken, scarce, broken, scarce, broken])) == ("succeeded", None, 0)
    assert asyncio.run(outcome([scarce, broken, broken, broken, broken])) == ("failed", "HOST_FAILED", 1)


def test_a_run_that_waits_for_its_start_can_be_canceled() -> None:
    async def main() -> None:
        agents, slots = Agents([OSError(errno.EMFILE, "none left")] * 1000), LocalSlots(1)
        async with driver_of(agents, slots=slots, retry=RetryPolicy(delay_sec=0.01, pause_sec=600)) as driver:
            await driver.start(plan())
            await until(lambda: [effect["type"] for effect in driver.owed("r1")] == ["start_turn"])
            assert driver.view("r1")["status"] == "running" and slots.granted() == {"r1/s1"}
            assert (await driver.cancel("r1"))["kind"] == "canceled"
            await driver.settled("r1")
            assert (driver.owed("r1"), slots.held(), len(agents.failures)) == ([], set(), 997)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("policy", "status", "code"),
    [("fail", "failed", "ORCHESTRATOR_RESTART_INTERRUPTED"), ("retry", "succeeded", None)],
)
def test_a_host_that_dies_while_a_turn_waits_for_its_start(policy: str, status: str, code: str | None) -> None:
    """That it was begun was noted, so that the turn counts as lost, and is neither started twice nor forgotten."""

    async def main() -> None:
        store = MemoryStore()
        async with driver_of(Agents([OSError(errno.EMFILE, "none left")] * 1000), store=store) as first:
            await first.start(plan(interrupted_turn=policy))
            await until(lambda: first.owed("r1") != [])
        agents, slots = Agents([]), LocalSlots(1)
        async with driver_of(agents, store=store, slots=slots) as second:
            assert await second.recover() == ["r1"]
            view = await asyncio.wait_for(second.wait("r1"), 20)
            await second.settled("r1")
        error = view.get("error")
        assert (view["status"], error and error["code"]) == (status, code)
        assert len(agents.started) == (policy == "retry") and slots.held() == set()

    asyncio.run(main())


@pytest.mark.parametrize("locks", ["locks", "without"])
def test_a_host_without_descriptors_starts_its_turns_when_it_has_some(locks: str, tmp_path: Path) -> None:
    script = [sys.executable, str(TESTS / "scarce_host.py"), str(tmp_path), locks]
    ended = subprocess.run(script, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert [outcome for _, _, outcome, _ in told["outcomes"]] == ["succeeded"] * len(told["outcomes"])
    waited = [errors for waited, status, _, errors in told["outcomes"] if waited and status == "running"]
    assert len(waited) >= 9, told
    assert all("Too many open files" in error for errors in waited for error in errors)
    assert len(set(told["open"])) == 1, f"descriptors are lost: {told['open']}"


def _supervise_without_processes(lifeline: int, folder: Path) -> None:
    """Becomes the supervisor of a command, and may have no process until the alarm."""
    import ctypes  # noqa: F401 (another user may not be allowed to read it)

    # Root may have any number of processes.
    if os.getuid() == 0:
        os.setuid(NOBODY)
    most = resource.getrlimit(resource.RLIMIT_NPROC)[1]

    def allow_processes(*_: object) -> None:
        (folder / "allowed").touch()
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))

    signal.signal(signal.SIGALRM, allow_processes)
    resource.setrlimit(resource.RLIMIT_NPROC, (0, most))
    signal.setitimer(signal.ITIMER_REAL, 1.0)
    command = ["sh", "-c", f"test -e {folder}/allowed && exit 7"]
    sys.argv = ["_supervise.py", str(lifeline), "0.5", "", "", *command]
    os._exit(_supervise.main())


def test_a_supervisor_waits_until_it_may_have_a_process() -> None:
    # Another user must reach it, so it is in no folder of the test run's own.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        lifeline, writer = os.pipe()
        os.write(writer, b"s")
        supervisor = multiprocessing.get_context("fork").Process(
            target=_supervise_without_processes, args=(lifeline, folder)
        )
        supervisor.start()
        supervisor.join(60)
        os.close(lifeline)
        os.close(writer)
        assert supervisor.exitcode == 7


def test_a_supervisor_whose_host_gave_up_starts_nothing(tmp_path: Path) -> None:
    lifeline, writer = os.pipe()
    os.close(writer)
    supervisor = [sys.executable, "-I", "-S", str(Path(_supervise.__file__)), str(lifeline), "0.5", "", ""]
    command = ["touch", str(tmp_path / "started")]
    ended = subprocess.run([*supervisor, *command], pass_fds=(lifeline,), timeout=60)
    os.close(lifeline)
    assert ended.returncode == 127 and list(tmp_path.iterdir()) == []

"""Callbacks that raise ``SystemExit``, ``KeyboardInterrupt`` or another ``BaseException``: what a program sees of it.

That every callback of every part may do so, and no run is lost by it, is tested in test_failing_host.py.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hosting import DONE, plan, until
from turnlatch import Run
from turnlatch.driver import Driver, RetryPolicy
from turnlatch.local import AsyncioTimers, LocalSlots, MemoryStore
from turnlatch.parts import DriverUsageError
from turnlatch.processes import Command, SubprocessRunner
from turnlatch.sync_driver import SyncDriver

QUICK = RetryPolicy(delay_sec=0.01, pause_sec=0.05)
PATIENCE_SEC = 20


class Escaped(BaseException):
    """What no ``except Exception`` catches."""


class Agents:
    """Turns that are over when they begin."""

    def start(self, run: Run, effect: Any, finished: Any) -> None:
        finished({"text": DONE})

    def terminate(self, slot_id: str) -> None: ...

    def alive(self) -> list[str]:
        return []


def parts(**changed: Any) -> Any:
    usual = {"timers": AsyncioTimers(), "processes": Agents(), "store": MemoryStore(), "retry": QUICK}
    return {**usual, "slots": LocalSlots(1), **changed}


def raises(error: BaseException) -> Any:
    def callback(*_: Any) -> Any:
        raise error

    return callback


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
def test_a_callback_that_exits_closes_a_synchronous_driver_for_all_threads(error: BaseException) -> None:
    slots, others = LocalSlots(1), ThreadPoolExecutor(4)
    slots.hold("another", "another/s1")  # so that the run waits
    begun = threading.Barrier(4)

    def wait(driver: SyncDriver) -> None:
        begun.wait(PATIENCE_SEC)
        driver.wait("r1")

    with pytest.raises(type(error)) as raised, SyncDriver(**parts(slots=slots)) as driver:
        driver.start(plan())
        waiting = [others.submit(wait, driver) for _ in range(3)]
        begun.wait(PATIENCE_SEC)
        driver._loop.call_soon_threadsafe(raises(error))
        for call in waiting:
            with pytest.raises(DriverUsageError) as closed:
                call.result(PATIENCE_SEC)
            assert closed.value.code == "DRIVER_CLOSED" and closed.value.__cause__ is error
        with pytest.raises(DriverUsageError) as closed:
            driver.reply("r1", 1, "b.txt")
        assert closed.value.code == "DRIVER_CLOSED"
    assert raised.value is error
    driver.close()  # it is raised once
    others.shutdown()


def test_the_run_of_a_callback_that_exits_goes_on_with_the_next_driver() -> None:
    store, slots = MemoryStore(), LocalSlots(1)
    with (
        pytest.raises(SystemExit),
        SyncDriver(**parts(store=store, slots=slots, on_notify=raises(SystemExit(1)))) as first,
    ):
        first.start(plan())
        with pytest.raises(DriverUsageError, match="DRIVER_CLOSED"):
            first.wait("r1", timeout_sec=PATIENCE_SEC)
    with SyncDriver(**parts(store=store, slots=slots)) as second:
        assert second.recover() == ["r1"]
        assert second.wait("r1", timeout_sec=PATIENCE_SEC)["status"] == "succeeded"
        second.settled("r1")
    assert slots.held() == set()


def test_a_call_under_way_does_not_wait_for_a_synchronous_driver_that_was_closed() -> None:
    reached = threading.Event()

    async def hangs() -> None:
        reached.set()
        await asyncio.Event().wait()

    store: Any = MemoryStore()
    store.unfinished = hangs
    driver = SyncDriver(**parts(store=store))
    with ThreadPoolExecutor(1) as others:
        recovery = others.submit(driver.recover)
        assert reached.wait(PATIENCE_SEC)
        driver.close()
        with pytest.raises(DriverUsageError, match="DRIVER_CLOSED"):
            recovery.result(PATIENCE_SEC)


PROGRAM = """
import asyncio, sys
sys.path.insert(0, {tests!r})
from hosting import plan
from test_exiting_callbacks import parts
from turnlatch import Driver, SyncDriver

def on_notify(run_id, effect):
    sys.exit(3)

async def main():
    async with Driver(**parts(on_notify=on_notify)) as driver:
        await driver.start(plan())
        await driver.settled("r1")
        await asyncio.Event().wait()

def blocking():
    with SyncDriver(**parts(on_notify=on_notify)) as driver:
        driver.start(plan())
        driver.settled("r1")
        driver.wait("r1", "waiting_user")
        driver.wait("another")

{call}
"""


@pytest.mark.parametrize("call", ["asyncio.run(main())", "blocking()"])
def test_sys_exit_in_a_callback_ends_the_program_with_its_code(call: str) -> None:
    program = PROGRAM.format(tests=str(Path(__file__).parent), call=call)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 3, ended.stderr


@pytest.mark.parametrize("error", [Escaped(), asyncio.CancelledError()])
def test_other_exceptions_are_failures_like_any(error: BaseException) -> None:
    told: list[BaseException] = []

    class Slots(LocalSlots):
        def release(self, slot_id: str) -> None:
            if len(told) < 4:
                raise error
            super().release(slot_id)

    async def main() -> None:
        slots = Slots(1)
        async with Driver(**parts(slots=slots, on_error=lambda *what: told.append(what[2]))) as driver:
            await driver.start(plan())
            assert (await asyncio.wait_for(driver.wait("r1"), PATIENCE_SEC))["status"] == "succeeded"
            await until(lambda: slots.held() == set())

    asyncio.run(main())
    assert [(type(failure), failure.__cause__) for failure in told] == [(RuntimeError, error)] * 4


def test_a_failing_save_by_any_exception_leaves_the_run_as_it_was() -> None:
    class Store(MemoryStore):
        fails = False

        def save(self, *args: Any) -> None:
            if self.fails:
                raise Escaped
            super().save(*args)

    async def main() -> None:
        store, slots = Store(), LocalSlots(1)
        slots.hold("another", "another/s1")
        async with Driver(**parts(store=store, slots=slots)) as driver:
            await driver.start(plan())
            store.fails = True
            with pytest.raises(RuntimeError, match="the callback raised Escaped"):
                await driver.cancel("r1")
            assert driver.view("r1")["status"] == "queued"
            slots.release("another/s1")  # which is reported, and cannot be saved yet
            await driver.retry_owed("r1")
            store.fails = False
            assert (await asyncio.wait_for(driver.wait("r1"), PATIENCE_SEC))["status"] == "succeeded"

    asyncio.run(main())


def test_the_log_says_where_a_callback_is_wrong(caplog: pytest.LogCaptureFixture) -> None:
    def command(run: Run, effect: Any) -> Any:
        return ["echo", DONE]

    async def main() -> None:
        async with Driver(**parts(processes=SubprocessRunner(command))) as driver:
            await driver.start(plan())
            assert (await asyncio.wait_for(driver.wait("r1"), PATIENCE_SEC))["error"]["code"] == "HOST_FAILED"

    asyncio.run(main())
    traces = [record.exc_info for record in caplog.records if "start_turn failed" in record.message]
    assert [trace is not None for trace in traces] == [True, False, False]
    assert "TypeError: command() has to return a Command, and returned list" in caplog.text


@pytest.mark.parametrize("error", [OSError("no clock"), Escaped(), SystemExit(3)])
def test_a_timer_survives_its_clock(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnlatch.local._CLOCK_FAILED_SEC", 0.01)
    fails: list[BaseException] = []

    def clock() -> int:
        if fails:
            raise fails.pop()
        return 1000

    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda *_: None)
    timers, fired = AsyncioTimers(clock), loop.create_future()

    async def main() -> None:
        timers.set("r1", 1, 1000, lambda: fired.set_result(None))
        fails.append(error)
        await asyncio.wait_for(fired, PATIENCE_SEC)

    main_task = loop.create_task(main())
    if isinstance(error, SystemExit):
        with pytest.raises(SystemExit):
            loop.run_until_complete(main_task)
        assert timers.pending() == [("r1", 1)]
    loop.run_until_complete(main_task)
    assert timers.pending() == []
    loop.close()


@pytest.mark.parametrize("error", [Escaped(), SystemExit(3)])
def test_what_listens_to_an_agent_may_raise_anything(error: BaseException, caplog: pytest.LogCaptureFixture) -> None:
    loop = asyncio.new_event_loop()
    reports: list[Any] = []
    runner = SubprocessRunner(lambda run, effect: Command(["echo", DONE]), on_said=raises(error))

    async def main() -> None:
        effect: Any = {"type": "start_turn", "id": "r1/2/1", "attempt_number": 1, "slot_id": "r1/s1"}
        await runner.start(Run.create(plan(), 1)[0], effect, reports.append)
        await until(lambda: len(reports) == 1)

    task = loop.create_task(main())
    if isinstance(error, SystemExit):
        with pytest.raises(SystemExit):
            loop.run_until_complete(task)
    loop.run_until_complete(task)
    loop.close()
    assert reports[0]["exit_code"] == 0
    assert "on_said failed" in caplog.text

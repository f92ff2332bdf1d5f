"""Whole runs: real processes, a real store, the driver between them."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import uuid
from collections.abc import AsyncIterator, Callable, Collection, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hosting import DONE, STICKY, plan, processes_marked, until
from turnlatch import EventRejectedError, Run, codes, replay
from turnlatch.driver import Driver, RetryPolicy
from turnlatch.local import AsyncioTimers, LocalSlots, MemoryStore, wall_clock
from turnlatch.parts import DriverUsageError, RunNotFoundError, StoreConflictError
from turnlatch.processes import Command, SubprocessRunner
from turnlatch.sqlite_store import SqliteStore
from turnlatch.sync_driver import SyncDriver

QUICK = RetryPolicy(attempts=3, delay_sec=0.01, pause_sec=0.05)
STICKY_AGENT = (
    f"echo 'Which file?'; echo ==; while read -r line; do echo \"$line\" >> heard.txt; echo '{DONE}'; echo ==; done"
)


def asks_then_finishes(run: Run, effect: Any) -> Command:
    return Command(["echo", DONE if "resume" in effect else "Which file?"])


class Host:
    """A driver with its parts and a record of what was notified and what failed."""

    def __init__(self, store: Any, command: Any = asks_then_finishes, slots: Any = 2, **changed: Any) -> None:
        self.statuses: list[str] = []
        self.errors: list[tuple[str, str, str, int]] = []
        self.slots = LocalSlots(slots) if isinstance(slots, int) else slots
        self.timers = AsyncioTimers()
        self.processes = SubprocessRunner(command, grace_sec=0.5)
        self.store = store
        parts: dict[str, Any] = {
            "slots": self.slots,
            "timers": self.timers,
            "processes": self.processes,
            "store": store,
            "on_notify": lambda run_id, effect: self.statuses.append(effect["status"]),
            "on_error": lambda run_id, what, error, n: self.errors.append(
                (run_id, what["type"] if what else "recovery", repr(error), n)
            ),
            "retry": QUICK,
        }
        self.driver = Driver(**(parts | changed))

    async def ended(self, run_id: str) -> Any:
        view = await asyncio.wait_for(self.driver.wait(run_id), 20)
        await self.driver.settled(run_id)
        return view

    def nothing_left(self) -> None:
        assert self.slots.held() == set()
        assert list(self.processes.running()) == []
        assert list(self.timers.pending()) == []


@asynccontextmanager
async def hosted(store: Any, command: Any = asks_then_finishes, **changed: Any) -> AsyncIterator[Host]:
    host = Host(store, command, **changed)
    try:
        yield host
    finally:
        await host.driver.close()
        await host.processes.close()


def scenario(test: Callable[[Any], Coroutine[Any, Any, None]]) -> Callable[[Path], None]:
    """A test with a SQLite store."""

    def run(tmp_path: Path) -> None:
        store = SqliteStore(tmp_path / "runs.db")
        try:
            asyncio.run(asyncio.wait_for(test(store), 30))
        finally:
            store.close()

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


class NeverFires:
    """Timers that are set and never fire."""

    def set(self, run_id: str, interaction_id: int, at: int, fired: Callable[[], None]) -> None:
        pass

    def cancel(self, run_id: str, interaction_id: int) -> None:
        pass

    def pending(self) -> list[tuple[str, int]]:
        return []


@scenario
async def test_a_late_reply_to_a_sticky_wait_is_stale_although_no_timer_fired(store: Any) -> None:
    ahead = 0
    command = lambda run, effect: Command(["sh", "-c", STICKY_AGENT], end_of_turn="==")  # noqa: E731
    async with hosted(store, command, timers=NeverFires(), clock=lambda: wall_clock() + ahead) as host:
        await host.driver.start(plan(interactive_profile=STICKY, session_timeout_sec=60))
        await host.driver.wait("r1", "waiting_user")
        ahead = 61_000
        receipt = await host.driver.reply("r1", 1, "the second")
        assert (receipt["kind"], receipt["code"], receipt["status"]) == ("stale", "STALE_INTERACTION", "failed")
        assert (await host.ended("r1"))["error"]["code"] == "INTERACTION_WAIT_TIMEOUT"
        assert host.errors == []
        host.nothing_left()
        run, _ = replay(plan(interactive_profile=STICKY, session_timeout_sec=60), await store.journal("r1"))
        assert run.to_json() == await store.load("r1"), "the deadline is in the journal with the reply that met it"


@scenario
async def test_a_report_of_a_turn_that_was_never_started_is_an_error_and_changes_nothing(store: Any) -> None:
    async with hosted(store) as host:
        await host.driver.start(plan())
        await host.driver.wait("r1", "waiting_user")
        before = await store.load("r1")
        with pytest.raises(EventRejectedError) as raised:
            await host.driver.tell("r1", {"type": "turn_finished", "attempt_number": 2, "text": DONE})
        assert raised.value.code == "EVENT_UNKNOWN_ATTEMPT"
        assert await store.load("r1") == before


@scenario
async def test_a_driver_starts_a_plan_and_says_so_if_it_gets_something_else(store: Any) -> None:
    async with hosted(store) as host:
        with pytest.raises(TypeError, match="expected a Plan, which `admit` returns, found dict"):
            await host.driver.start({"run_id": "r1"})


@scenario
async def test_a_part_that_reports_a_turn_that_was_never_started_is_heard_once(store: Any) -> None:
    async with hosted(store, lambda run, effect: Command(["sleep", "60"])) as host:
        await host.driver.start(plan())
        await host.driver.wait("r1", "running")
        await host.driver.settled("r1")
        before = await store.load("r1")
        host.driver._performer.finished("r1", 5, "r1/s1")({"text": DONE})
        await until(lambda: host.errors != [])
        await host.driver.settled("r1")
        error = EventRejectedError("EVENT_UNKNOWN_ATTEMPT", "attempt 5 was never started; the last one that was is 1")
        assert host.errors == [("r1", "turn_finished", repr(error), 1)]
        assert list(host.driver._runs["r1"].inbox) == []
        assert await store.load("r1") == before
        await host.driver.cancel("r1")
        await host.driver.settled("r1")
        host.nothing_left()


@scenario
async def test_an_auto_run_finishes(store: Any) -> None:
    async with hosted(store, lambda run, effect: Command(["echo", DONE])) as host:
        assert await host.driver.start(plan(execution_mode="auto")) == "r1"
        view = await host.ended("r1")
        assert (view["status"], view["data"]) == ("succeeded", {"file": "b.txt"})
        assert host.statuses == ["queued", "running", "succeeded"]
        host.nothing_left()


@scenario
async def test_an_interactive_run_asks_is_answered_and_finishes(store: Any) -> None:
    async with hosted(store) as host:
        await host.driver.start(plan())
        view = await host.driver.wait("r1", "waiting_user")
        assert view["pending_interaction_id"] == 1
        await host.driver.settled("r1")
        host.nothing_left()
        receipt = await host.driver.reply("r1", 1, "the second", "k1")
        assert receipt["kind"] == "accepted"
        assert (await host.driver.reply("r1", 1, "the second", "k1"))["kind"] == "duplicate"
        assert (await host.driver.reply("r1", 1, "the first"))["kind"] == "stale"
        assert (await host.ended("r1"))["status"] == "succeeded"
        assert host.statuses == ["queued", "running", "waiting_user", "queued", "running", "succeeded"]
        host.nothing_left()
        assert host.errors == []
        run, effects = replay(plan(), await store.journal("r1"))
        assert run.to_json() == await store.load("r1") == host.driver.run("r1").to_json()
        assert len(effects) == run.revision
        host.driver.forget("r1")
        with pytest.raises(RunNotFoundError):
            host.driver.view("r1")
        assert (await host.driver.cancel("r1"))["kind"] == "already_ended", "loaded from the store"


def test_a_sticky_run_keeps_its_process_and_slot(tmp_path: Path) -> None:
    async def test(store: Any) -> None:
        command = Command(["sh", "-c", STICKY_AGENT], end_of_turn="==", cwd=tmp_path)
        async with hosted(store, lambda run, effect: command) as host:
            await host.driver.start(plan(interactive_profile=STICKY))
            await host.driver.wait("r1", "waiting_user")
            await host.driver.settled("r1")
            assert list(host.processes.running()) == ["r1/s1"]
            assert host.slots.granted() == {"r1/s1"}
            assert list(host.timers.pending()) == [("r1", 1)]
            await host.driver.reply("r1", 1, "the second")
            assert (await host.ended("r1"))["status"] == "succeeded"
            assert (tmp_path / "heard.txt").read_text() == "the second\n"
            host.nothing_left()

    scenario(test)(tmp_path)


@scenario
async def test_a_sticky_process_that_dies_while_it_waits_fails_the_run(store: Any) -> None:
    async with hosted(store, lambda *_: Command(["sh", "-c", "echo '?'; echo =="], end_of_turn="==")) as host:
        await host.driver.start(plan(interactive_profile=STICKY))
        assert (await host.ended("r1"))["error"]["code"] == "INTERACTION_PROCESS_LOST"
        host.nothing_left()


@scenario
async def test_a_cancel_in_the_middle_of_a_turn_leaves_no_process(store: Any) -> None:
    mark = f"TURNLATCH_TEST={uuid.uuid4()}"
    env = {**os.environ, **dict([mark.split("=")])}
    async with hosted(store, lambda *_: Command(["sh", "-c", "sleep 100 & sleep 100"], env=env)) as host:
        await host.driver.start(plan())
        await until(lambda: sum("sleep 100" in p for p in processes_marked(mark)) >= 2)
        receipt = await host.driver.cancel("r1", "changed my mind")
        assert receipt["kind"] == "canceled"
        await host.driver.settled("r1")
        assert processes_marked(mark) == []
        assert host.driver.view("r1")["error"]["code"] == "CANCELED_BY_USER"
        host.nothing_left()


@scenario
async def test_a_deadline_decides_when_nobody_answers(store: Any) -> None:
    async with hosted(store) as host:
        await host.driver.start(plan(interactive_require_user_reply=False, session_timeout_sec=1))
        view = await host.ended("r1")
        assert (view["status"], view["auto_decision_count"]) == ("succeeded", 1)
        history = host.driver.run("r1").history()
        assert [record["resolution_mode"] for record in history] == ["auto_decide_timeout"]
        host.nothing_left()


@scenario
async def test_what_a_reply_resumes_with_reaches_the_agent(store: Any) -> None:
    seen: list[Any] = []

    async def command(run: Run, effect: Any) -> Command:
        seen.append((effect.get("resume"), [record["prompt"] for record in run.history()]))
        return Command(["echo", DONE if "resume" in effect else "Which file?"])

    async with hosted(store, command) as host:
        await host.driver.start(plan())
        await host.driver.wait("r1", "waiting_user")
        await host.driver.reply("r1", 1, "b")
        await host.ended("r1")
        assert seen == [(None, []), ({"interaction_id": 1, "response": "b"}, ["Which file?"])]


class AsyncSlots:
    """The same slots with coroutines."""

    def __init__(self) -> None:
        self.inner = LocalSlots(1)

    async def acquire(self, run_id: str, slot_id: str, granted: Any) -> None:
        await asyncio.sleep(0)
        self.inner.acquire(run_id, slot_id, granted)

    async def hold(self, run_id: str, slot_id: str) -> bool:
        return self.inner.hold(run_id, slot_id)

    async def release(self, slot_id: str) -> None:
        self.inner.release(slot_id)

    async def held(self) -> Collection[str]:
        return self.inner.held()


@scenario
async def test_callbacks_may_be_coroutines(store: Any) -> None:
    statuses = []

    async def on_notify(run_id: str, effect: Any) -> None:
        await asyncio.sleep(0)
        statuses.append(effect["status"])

    slots = AsyncSlots()
    async with hosted(store, lambda *_: Command(["echo", DONE]), slots=slots, on_notify=on_notify) as host:
        await host.driver.start(plan(execution_mode="auto"))
        await host.ended("r1")
        assert statuses == ["queued", "running", "succeeded"]
        assert slots.inner.held() == set()


class FailingSlots(LocalSlots):
    """Fails the first ``failures`` calls of a method."""

    def __init__(self, method: str, failures: int) -> None:
        super().__init__(1)
        self.method, self.failures = method, failures

    def _maybe_fail(self, method: str) -> None:
        if method == self.method and self.failures > 0:
            self.failures -= 1
            raise OSError("slot service is down")

    def acquire(self, run_id: str, slot_id: str, granted: Any) -> None:
        self._maybe_fail("acquire")
        super().acquire(run_id, slot_id, granted)

    def release(self, slot_id: str) -> None:
        self._maybe_fail("release")
        super().release(slot_id)


@pytest.mark.parametrize("method", ["acquire", "release"])
@pytest.mark.parametrize("failures", [2, 7])
def test_a_failing_callback_is_reported_retried_and_kept_as_owed(tmp_path: Path, method: str, failures: int) -> None:
    async def test(store: Any) -> None:
        slots = FailingSlots(method, failures)
        async with hosted(store, lambda *_: Command(["echo", DONE]), slots=slots) as host:
            await host.driver.start(plan(execution_mode="auto"))
            assert (await host.ended("r1"))["status"] == "succeeded"
            await until(lambda: slots.held() == set())
            assert [error[1:] for error in host.errors[:2]] == [
                (f"{method}_slot", "OSError('slot service is down')", 1),
                (f"{method}_slot", "OSError('slot service is down')", 2),
            ]
            assert len(host.errors) == failures
            await host.driver.settled("r1")
            assert host.driver.owed("r1") == []

    scenario(test)(tmp_path)


@scenario
async def test_a_turn_that_cannot_be_started_fails_the_run(store: Any) -> None:
    def command(run: Run, effect: Any) -> Command:
        raise ValueError("no such engine")

    async with hosted(store, command) as host:
        await host.driver.start(plan())
        assert (await host.ended("r1"))["error"]["code"] == "HOST_FAILED"
        assert [error[1:] for error in host.errors] == [
            ("start_turn", "ValueError('no such engine')", n) for n in (1, 2, 3)
        ]
        host.nothing_left()


@scenario
async def test_a_turn_whose_start_fails_once_runs_once(store: Any) -> None:
    tries = []

    def command(run: Run, effect: Any) -> Command:
        tries.append(effect["id"])
        if len(tries) == 1:
            raise OSError("busy")
        return Command(["echo", DONE])

    async with hosted(store, command) as host:
        await host.driver.start(plan())
        assert (await host.ended("r1"))["status"] == "succeeded"
        assert tries == ["r1/2/1", "r1/2/1"]


class BeginsAndFails:
    """Processes whose first start fails, though the turn has begun; it ends some rounds of the event loop later."""

    def __init__(self, rounds: int) -> None:
        self.begun: list[str] = []
        self._rounds = rounds
        self._living: list[str] = []

    def start(self, run: Run, effect: Any, finished: Callable[[Any], None]) -> None:
        slot_id = effect["slot_id"]
        if slot_id in self._living:
            return
        self.begun.append(slot_id)
        self._living.append(slot_id)
        self._end_after(self._rounds, finished)
        if len(self.begun) == 1:
            raise OSError("the answer was lost")

    def _end_after(self, rounds: int, finished: Callable[[Any], None]) -> None:
        if rounds:
            asyncio.get_running_loop().call_soon(self._end_after, rounds - 1, finished)
        else:
            self._living.clear()
            finished({"text": DONE})

    def alive(self) -> list[str]:
        return self._living


@pytest.mark.parametrize("rounds", range(8))
def test_a_turn_that_ended_while_its_start_failed_is_not_begun_again(tmp_path: Path, rounds: int) -> None:
    async def test(store: Any) -> None:
        processes = BeginsAndFails(rounds)
        async with hosted(store, processes=processes, retry=RetryPolicy(delay_sec=0)) as host:
            await host.driver.start(plan())
            assert (await host.ended("r1"))["status"] == "succeeded"
            assert processes.begun == ["r1/s1"]

    scenario(test)(tmp_path)


@scenario
async def test_a_report_the_core_cannot_read_fails_the_turn_and_not_the_host(store: Any) -> None:
    async with hosted(store) as host:
        host.processes.start = lambda run, effect, finished: finished({"nonsense": 1})  # type: ignore
        await host.driver.start(plan())
        assert (await host.ended("r1"))["error"]["code"] == "HOST_FAILED"
        assert "EVENT_MALFORMED" in host.errors[0][2]


@scenario
async def test_what_is_no_report_fails_the_turn_and_not_the_host(store: Any) -> None:
    async with hosted(store) as host:
        host.processes.start = lambda run, effect, finished: finished(5)  # type: ignore
        await host.driver.start(plan())
        assert (await host.ended("r1"))["error"]["code"] == "HOST_FAILED"


@scenario
async def test_a_process_that_cannot_be_ended_keeps_its_slot(store: Any) -> None:
    async with hosted(store, lambda *_: Command(["sleep", "100"])) as host:
        terminate = host.processes.terminate

        async def stuck(slot_id: str) -> None:
            raise OSError("stuck")

        host.processes.terminate = stuck  # type: ignore
        await host.driver.start(plan())
        await until(lambda: bool(host.processes.running()))
        await host.driver.cancel("r1")
        await until(lambda: len(host.errors) >= 3)
        await host.driver.settled("r1")
        assert host.slots.granted() == {"r1/s1"}, "the next turn must not run beside it"
        assert [effect["type"] for effect in host.driver.owed("r1")] == ["terminate_process", "release_slot"]
        host.processes.terminate = terminate  # type: ignore
        await host.driver.retry_owed()
        await until(lambda: host.slots.held() == set())
        await host.driver.settled("r1")
        host.nothing_left()


class FlakyStore(MemoryStore):
    """Fails ``failures`` saves: before or after it has saved."""

    def __init__(self, after: bool = False) -> None:
        super().__init__()
        self.failures, self.after = 0, after

    def save(self, *args: Any) -> None:
        failing, self.failures = self.failures > 0, max(0, self.failures - 1)
        if failing and not self.after:
            raise OSError("disk full")
        super().save(*args)
        if failing:
            raise OSError("connection lost after the commit")


def test_a_failing_store_loses_nothing() -> None:
    async def test() -> None:
        store = FlakyStore()
        async with hosted(store) as host:
            await host.driver.start(plan())
            store.failures = 4  # the grant is told again until it is saved
            await host.driver.wait("r1", "waiting_user")
            await host.driver.settled("r1")
            store.failures, before = 1, store.load("r1")
            with pytest.raises(OSError, match="disk full"):
                await host.driver.reply("r1", 1, "b", "k")
            assert store.load("r1") == before == host.driver.run("r1").to_json()
            assert host.driver.view("r1")["status"] == "waiting_user"
            assert (await host.driver.reply("r1", 1, "b", "k"))["kind"] == "accepted"
            store.failures = 3
            assert (await host.ended("r1"))["status"] == "succeeded"
            assert {error[1] for error in host.errors} <= {"slot_granted", "turn_finished"}
            host.nothing_left()

    asyncio.run(asyncio.wait_for(test(), 20))


def test_a_save_that_fails_after_its_commit_counts() -> None:
    async def test() -> None:
        store = FlakyStore(after=True)
        store.failures = 100
        async with hosted(store) as host:
            await host.driver.start(plan())
            await host.driver.wait("r1", "waiting_user")
            assert (await host.driver.reply("r1", 1, "b"))["kind"] == "accepted"
            assert (await host.ended("r1"))["status"] == "succeeded"
            assert host.errors == []

    asyncio.run(asyncio.wait_for(test(), 20))


def test_a_run_that_another_host_changed_is_loaded_again(tmp_path: Path) -> None:
    async def test(store: Any) -> None:
        async with hosted(store) as host:
            await host.driver.start(plan())
            await host.driver.wait("r1", "waiting_user")
            await host.driver.settled("r1")
            other = Run.from_json(await store.load("r1"))
            canceled = other.cancel(wall_clock())
            await store.save("r1", other.revision - 1, other.to_json(), canceled.entry, True)
            with pytest.raises(StoreConflictError):
                await host.driver.reply("r1", 1, "b")
            assert host.driver.view("r1")["status"] == "canceled"
            assert (await host.driver.reply("r1", 1, "b"))["kind"] == "stale"

    scenario(test)(tmp_path)


@scenario
async def test_refusals_reach_the_caller(store: Any) -> None:
    async with hosted(store) as host:
        with pytest.raises(RunNotFoundError):
            await host.driver.cancel("nobody")
        await host.driver.start(plan())
        with pytest.raises(StoreConflictError, match="RUN_EXISTS"):
            await host.driver.start(plan())
        with pytest.raises(EventRejectedError, match="EVENT_MALFORMED"):
            await host.driver.tell("r1", {"type": "nonsense"})  # type: ignore
        await host.driver.wait("r1", "waiting_user")
        assert (await host.driver.reply("r1", 1, "b", expected_revision=1))["code"] == "REVISION_CONFLICT"
        await host.driver.cancel("r1")
        await host.ended("r1")
    with pytest.raises(DriverUsageError, match="closed") as refused:
        await host.driver.cancel("r1")
    assert refused.value.code == "DRIVER_CLOSED"
    with pytest.raises(DriverUsageError, match="DRIVER_CLOSED"):
        await host.driver.wait("r1", "running")


@scenario
async def test_a_run_is_forgotten_when_it_is_done_and_not_before(store: Any) -> None:
    async with hosted(store) as host:
        await host.driver.start(plan())
        await host.driver.wait("r1", "waiting_user")
        with pytest.raises(DriverUsageError, match="RUN_NOT_DONE"):
            host.driver.forget("r1")
        await host.driver.cancel("r1")
        await host.ended("r1")
        host.driver.forget("r1")
        with pytest.raises(RunNotFoundError, match="RUN_UNKNOWN"):
            host.driver.run("r1")


@scenario
async def test_nobody_waits_in_a_closed_driver(store: Any) -> None:
    async with hosted(store) as host:
        await host.driver.start(plan())
        await host.driver.wait("r1", "waiting_user")
        waiting = asyncio.create_task(host.driver.wait("r1", "succeeded"))
        await asyncio.sleep(0)
    with pytest.raises(DriverUsageError, match="DRIVER_CLOSED"):
        await waiting


def test_a_driver_stays_on_its_event_loop(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db")
    parts: Any = {"slots": LocalSlots(1), "timers": AsyncioTimers(), "processes": SubprocessRunner(asks_then_finishes)}

    async def first_use() -> Driver:
        driver = Driver(**parts, store=store)
        await driver.recover()
        return driver

    driver = asyncio.run(first_use())
    with pytest.raises(DriverUsageError, match="OTHER_EVENT_LOOP"):
        asyncio.run(driver.recover())
    store.close()


def test_what_a_driver_cannot_do_has_codes_of_the_table() -> None:
    hosting = {info["code"] for info in codes() if info["kind"] == "hosting"}
    drivers = {"DRIVER_CLOSED", "INSIDE_CALLBACK", "RUN_NOT_DONE", "OTHER_EVENT_LOOP", "CORE_PANICKED"}
    hosts = {"DRIVER_EXISTS", "EXECUTOR_ID_IN_USE", "DATABASE_IN_USE"}
    assert hosting == drivers | hosts
    assert issubclass(DriverUsageError, RuntimeError), "as it was raised before it had a code"


@scenario
async def test_callbacks_may_call_back(store: Any) -> None:
    receipts = []

    async def answer(run_id: str, effect: Any) -> None:
        if effect["status"] == "waiting_user":
            receipts.append(await host.driver.reply(run_id, effect["interaction_id"], "b"))

    async with hosted(store, on_notify=answer) as host:
        await host.driver.start(plan())
        assert (await host.ended("r1"))["status"] == "succeeded"
        assert receipts[0]["kind"] == "accepted"


@scenario
async def test_waiting_inside_of_a_callback_is_refused_with_a_clear_text(store: Any) -> None:
    async def impatient(run_id: str, effect: Any) -> None:
        if effect["status"] == "queued":
            await host.driver.wait(run_id)

    async with hosted(store, on_notify=impatient) as host:
        await host.driver.start(plan(execution_mode="auto"))
        await host.ended("r1")
        assert "wait() was called inside of a callback of run r1" in host.errors[0][2]


@scenario
async def test_two_runs_and_one_slot_are_fair(store: Any) -> None:
    order: list[str] = []

    def command(run: Run, effect: Any) -> Command:
        order.append(f"{run.run_id}{effect['attempt_number']}")
        return asks_then_finishes(run, effect)

    async with hosted(store, command, slots=1) as host:
        for name in ("a", "b", "c"):
            await host.driver.start(plan(name))
        for name in ("a", "b", "c"):
            await host.driver.wait(name, "waiting_user")
        for name in ("c", "a", "b"):
            await host.driver.reply(name, 1, "x")
            await host.driver.wait(name, "running")
        for name in ("a", "b", "c"):
            await host.ended(name)
        assert order == ["a1", "b1", "c1", "c2", "a2", "b2"]


@scenario
async def test_fifty_runs_never_use_more_than_three_slots(store: Any) -> None:
    together: list[int] = []

    def command(run: Run, effect: Any) -> Command:
        together.append(len(host.processes.running()) + 1)
        return asks_then_finishes(run, effect)

    async with hosted(store, command, slots=3) as host:

        async def one(n: int) -> Any:
            run_id = await host.driver.start(plan(f"r{n}"))
            await host.driver.wait(run_id, "waiting_user")
            await host.driver.reply(run_id, 1, "b")
            return await host.ended(run_id)

        views = await asyncio.gather(*(one(n) for n in range(50)))
        assert [view["status"] for view in views] == ["succeeded"] * 50
        assert len(together) == 100
        assert max(together) == 3
        host.nothing_left()


@scenario
async def test_a_caller_that_is_cancelled_does_not_break_a_save(store: Any) -> None:
    async with hosted(store) as host:
        await host.driver.start(plan())
        await host.driver.wait("r1", "waiting_user")
        await host.driver.settled("r1")
        caller = asyncio.ensure_future(host.driver.reply("r1", 1, "b"))
        for _ in range(3):
            await asyncio.sleep(0)
        caller.cancel()
        assert (await host.ended("r1"))["status"] == "succeeded"


@scenario
async def test_a_closed_driver_s_runs_go_on_in_another(store: Any) -> None:
    release: Any = None
    async with hosted(store, lambda *_: Command(["sh", "-c", "sleep 0.3; echo 'Which file?'"])) as first:
        await first.driver.start(plan())
        await until(lambda: bool(first.processes.running()))
        await first.driver.close()
        # The same parts, another driver: the process is still alive and reports to it.
        second = Driver(slots=first.slots, timers=first.timers, processes=first.processes, store=store, retry=QUICK)
        release = await second.recover()
        assert release == ["r1"]
        await second.wait("r1", "waiting_user")
        assert second.view("r1")["attempt_number"] == 1
        await second.cancel("r1")
        await second.settled("r1")
        first.nothing_left()
        await second.close()


@pytest.mark.parametrize("policy", ["fail", "retry"])
def test_a_turn_lost_by_a_restart_goes_by_policy(tmp_path: Path, policy: str) -> None:
    async def test(store: Any) -> None:
        async with hosted(store, lambda *_: Command(["sleep", "100"])) as first:
            await first.driver.start(plan(interrupted_turn=policy))
            await until(lambda: bool(first.processes.running()))
        async with hosted(store, lambda *_: Command(["echo", DONE])) as second:
            assert await second.driver.recover() == ["r1"]
            view = await second.ended("r1")
            if policy == "fail":
                assert view["error"]["code"] == "ORCHESTRATOR_RESTART_INTERRUPTED"
            else:
                assert (view["status"], view["attempt_number"]) == ("succeeded", 1)
            second.nothing_left()

    scenario(test)(tmp_path)


def test_what_no_run_keeps_is_given_back_at_recovery(tmp_path: Path) -> None:
    async def test(store: Any) -> None:
        async with hosted(store) as host:
            host.slots.acquire("gone", "gone/s1", lambda: None)
            host.timers.set("gone", 1, wall_clock() + 100_000, lambda: None)
            effect: Any = {"type": "start_turn", "id": "x", "attempt_number": 1, "slot_id": "gone/s1"}
            await host.processes.start(Run.create(plan("gone"), 1)[0], effect, lambda report: None)
            assert await host.driver.recover() == []
            host.nothing_left()

    scenario(test)(tmp_path)


def test_a_run_that_cannot_be_read_does_not_keep_the_others_from_going_on(tmp_path: Path) -> None:
    async def test(store: Any) -> None:
        async with hosted(store, lambda *_: Command(["sleep", "100"])) as first:
            for name in ("bad", "good"):
                await first.driver.start(plan(name, interrupted_turn="retry"))
                await until(lambda name=name: f"{name}/s1" in list(first.processes.running()))
            await first.driver.close()
            with sqlite3.connect(tmp_path / "runs.db") as db:
                db.execute("UPDATE runs SET snapshot = replace(snapshot, 'running', 'queued') WHERE run_id = 'bad'")
            second = Host(store, lambda *_: Command(["echo", DONE]))
            second.slots.hold("bad", "bad/s1")
            assert await second.driver.recover() == ["bad", "good"]
            assert (await second.ended("good"))["status"] == "succeeded"
            assert [error[:2] for error in second.errors] == [("bad", "recovery")]
            assert "SNAPSHOT_INVALID" in second.errors[0][2]
            assert second.slots.held() == {"bad/s1"}, "whether it still wants its slot is not known"
            assert await second.driver.recover() == ["bad"]
            await second.driver.close()

    scenario(test)(tmp_path)


@scenario
async def test_recovering_again_changes_nothing(store: Any) -> None:
    turns = []

    def command(run: Run, effect: Any) -> Command:
        turns.append(effect["id"])
        return Command(["sh", "-c", f"sleep 0.2; echo '{DONE}'"])

    async with hosted(store, command) as host:
        for name in ("a", "b", "c"):
            await host.driver.start(plan(name))
        while not all(host.driver.view(name)["status"] == "succeeded" for name in "abc"):
            await host.driver.recover()
        assert sorted(turns) == ["a/2/1", "b/2/1", "c/2/1"]
        for name in "abc":
            await host.ended(name)
        assert host.errors == []
        host.nothing_left()


@scenario
async def test_failing_parts_are_reported_at_recovery_and_tried_again(store: Any) -> None:
    async with hosted(store, lambda *_: Command(["sleep", "100"])) as first:
        await first.driver.start(plan(interrupted_turn="retry"))
        await until(lambda: bool(first.processes.running()))
    slots = FailingSlots("release", 2)
    slots.acquire("gone", "gone/s1", lambda: None)
    async with hosted(store, lambda *_: Command(["echo", DONE]), slots=slots) as second:
        await second.driver.recover()
        assert (await second.ended("r1"))["status"] == "succeeded"
        assert [error[:2] for error in second.errors] == [("gone", "recovery")] * 2
        assert slots.held() == set()


class ForgetfulSlots(LocalSlots):
    """A pool that has given a lost host's slots to somebody else."""

    def hold(self, run_id: str, slot_id: str) -> bool:
        return False


@scenario
async def test_a_turn_whose_slot_somebody_else_has_is_ended_and_lost(store: Any) -> None:
    host = Host(store, lambda *_: Command(["sleep", "100"]))
    await host.driver.start(plan(interrupted_turn="retry"))
    await until(lambda: "r1/s1" in host.processes.running())
    await host.driver.close()
    host.processes._command = lambda *_: Command(["echo", DONE])
    async with hosted(store, slots=ForgetfulSlots(1), processes=host.processes) as second:
        await second.driver.recover()
        await second.driver.settled("r1")
        assert "r1/s1" not in host.processes.running(), "it must not run beside the slot's new owner"
        assert (await second.ended("r1"))["status"] == "succeeded"
        assert second.slots.held() == set()


def test_a_deadline_survives_a_restart(tmp_path: Path) -> None:
    async def test(store: Any) -> None:
        async with hosted(store) as first:
            await first.driver.start(plan(interactive_require_user_reply=False, session_timeout_sec=1))
            await first.driver.wait("r1", "waiting_user")
        async with hosted(store) as second:
            await second.driver.recover()
            assert (await second.ended("r1"))["auto_decision_count"] == 1
            second.nothing_left()

    scenario(test)(tmp_path)


def test_the_synchronous_driver(tmp_path: Path) -> None:
    store, refused = SqliteStore(tmp_path / "runs.db"), []
    processes = SubprocessRunner(asks_then_finishes)

    def on_notify(run_id: str, effect: Any) -> None:
        try:
            driver.cancel(run_id)
        except DriverUsageError as error:
            refused.append(error)

    parts: Any = {"slots": LocalSlots(1), "timers": AsyncioTimers(), "processes": processes, "store": store}
    with SyncDriver(**parts, on_notify=on_notify) as driver:
        assert driver.recover() == []
        run_id = driver.start(plan())
        assert driver.wait(run_id, "waiting_user", timeout_sec=10)["status"] == "waiting_user"
        with pytest.raises(TimeoutError):
            driver.wait(run_id, timeout_sec=0.05)
        assert driver.reply(run_id, 1, "b")["kind"] == "accepted"
        assert driver.wait(run_id, timeout_sec=10)["data"] == {"file": "b.txt"}
        driver.settled(run_id)
        assert driver.cancel(run_id)["kind"] == "already_ended"
        assert refused[0].code == "INSIDE_CALLBACK"
        driver.forget(run_id)
        with pytest.raises(RunNotFoundError):
            driver.view(run_id)
    driver.close()
    with pytest.raises(DriverUsageError, match="DRIVER_CLOSED"):
        driver.recover()
    store.close()

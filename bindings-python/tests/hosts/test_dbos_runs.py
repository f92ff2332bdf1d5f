"""Runs through the host on DBOS, in one process: on SQLite and on PostgreSQL alike."""

from __future__ import annotations

import asyncio
import errno
import subprocess
import sys
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from dbos import DBOS

from hosting import DONE, STICKY, plan, until
from turnlatch import (
    DriverUsageError,
    EventRejectedError,
    RetryPolicy,
    Run,
    RunNotFoundError,
    StoreConflictError,
    SubprocessRunner,
    Transition,
    replay,
)
from turnlatch.hosts.dbos import DbosDriver
from turnlatch.hosts.dbos.tables import Hold, Tables
from turnlatch.parts import Finished
from turnlatch.types import StartTurn

from .agents import Agents, turns
from .postgres import Postgres

Place = dict[str, Any]
Scenario = Callable[[DbosDriver], Coroutine[Any, Any, None]]


def drive(place: Place, folder: Path, scenario: Scenario, **options: Any) -> None:
    """Plays a scenario with a driver. What its parts complain of fails the test."""
    errors: list[Any] = []

    async def main() -> None:
        processes = SubprocessRunner(Agents(folder), grace_sec=0.3)
        told: dict[str, Any] = {"slots": 2, "poll_sec": 0.1, "takeover_after_sec": 1.5, **place, **options}
        async with DbosDriver(processes=processes, on_error=lambda *what: errors.append(what), **told) as driver:
            await asyncio.wait_for(scenario(driver), 60)
        assert list(processes.running()) == []

    asyncio.run(main())
    assert errors == []


def test_a_run_asks_waits_is_answered_and_finishes(place: Place, tmp_path: Path) -> None:
    notices: list[str] = []

    async def scenario(driver: DbosDriver) -> None:
        assert await driver.start(plan("ask-1")) == "ask-1"
        view = await driver.wait("ask-1", "waiting_user")
        assert view["pending_interaction_id"] == 1
        assert (await driver.run("ask-1")).pending_view()["pending"] is not None
        assert await driver.unfinished() == ["ask-1"]
        assert (await driver.reply("ask-1", 1, "c.txt"))["kind"] == "accepted"
        view = await driver.wait("ask-1")
        assert (view["status"], view["data"]) == ("succeeded", {"file": "c.txt"})
        await driver.settled("ask-1")
        assert await driver.unfinished() == []
        run = await driver.run("ask-1")
        again, _ = replay(run.plan, await driver.journal("ask-1"))
        assert again.to_json() == run.to_json()
        lines = await driver.lines("ask-1")
        assert await driver.lines("ask-1", after=run.revision - 1) == lines[-1:]

    drive(place, tmp_path, scenario, on_notify=lambda run_id, effect: notices.append(effect["status"]))
    assert notices == ["queued", "running", "waiting_user", "queued", "running", "succeeded"]
    assert [(what, attempt) for what, _, attempt in turns(tmp_path)] == [
        ("start", 1),
        ("end", 1),
        ("start", 2),
        ("end", 2),
    ]


def test_what_happens_is_observed_once_it_is_saved(place: Place, tmp_path: Path) -> None:
    observations: list[Any] = []

    async def scenario(driver: DbosDriver) -> None:
        await driver.start(plan("ask-1"))
        await driver.wait("ask-1", "waiting_user")
        assert (await driver.reply("ask-1", 7, "x"))["code"] == "UNKNOWN_INTERACTION"
        refused = await driver.tell("ask-1", {"type": "reply", "interaction_id": 8, "response": "x"})
        assert refused.receipt is not None and refused.receipt["code"] == "UNKNOWN_INTERACTION"
        await driver.reply("ask-1", 1, "c.txt")
        await driver.wait("ask-1")
        await driver.settled("ask-1")

    drive(place, tmp_path, scenario, on_observation=observations.append)
    # A worker and a client pass on what each has saved, one as soon as the other.
    observations.sort(key=lambda seen: (seen["revision"], "rejected" in seen))
    assert [(seen["event"], seen.get("left"), seen.get("rejected")) for seen in observations] == [
        ("created", None, None),
        ("slot_granted", "queued", None),
        ("turn_finished", "running", None),
        ("reply", None, "UNKNOWN_INTERACTION"),
        ("reply", None, "UNKNOWN_INTERACTION"),
        ("reply", "waiting_user", None),
        ("slot_granted", "queued", None),
        ("turn_finished", "running", None),
    ]


def test_every_reply_gets_its_receipt(place: Place, tmp_path: Path) -> None:
    async def scenario(driver: DbosDriver) -> None:
        await driver.start(plan("ask-1"))
        view = await driver.wait("ask-1", "waiting_user")
        assert (await driver.reply("ask-1", 7, "x"))["code"] == "UNKNOWN_INTERACTION"
        conflict = await driver.reply("ask-1", 1, "x", expected_revision=view["revision"] - 1)
        assert conflict["code"] == "REVISION_CONFLICT"
        both = await asyncio.gather(*(driver.reply("ask-1", 1, f"{n}.txt", f"key {n}") for n in range(8)))
        assert sorted(receipt["kind"] for receipt in both) == ["accepted"] + ["stale"] * 7
        (winner,) = [n for n, receipt in enumerate(both) if receipt["kind"] == "accepted"]
        assert (await driver.reply("ask-1", 1, f"{winner}.txt", f"key {winner}"))["kind"] == "duplicate"
        assert (await driver.reply("ask-1", 1, "other", f"key {winner}"))["code"] == "IDEMPOTENCY_CONFLICT"
        view = await driver.wait("ask-1")
        assert view["data"] == {"file": f"{winner}.txt"}
        assert len((await driver.run("ask-1")).history()) == 1

    drive(place, tmp_path, scenario)


def test_a_sticky_run_keeps_its_process_and_slot(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused: list[str] = []

    class Counted(Tables):
        def take_slot(self, db: sa.Connection, run_id: str, hold: Hold, limit: int) -> bool:
            is_taken = super().take_slot(db, run_id, hold, limit)
            if not is_taken:
                refused.append(run_id)
            return is_taken

    monkeypatch.setattr("turnlatch.hosts.dbos.office.Tables", Counted)

    async def scenario(driver: DbosDriver) -> None:
        await driver.start(plan("talk-1", interactive_profile=STICKY))
        await driver.wait("talk-1", "waiting_user")
        # The queue lets another turn through, so that only the exact count of the slots is left to refuse it.
        office = driver._opened()
        await office.in_thread(partial(office.enqueuer.make_queues, 2, 0.1))
        await driver.start(plan("done-2"))
        while len(refused) < 3:
            await asyncio.sleep(0.02)
        assert await office.in_thread(partial(office.enqueuer.carrier, "done-2/s1")) is not None, "DBOS has claimed it"
        assert set(refused) == {"done-2"}
        assert (await driver.view("done-2"))["status"] == "queued", "there is one slot, and it is kept"
        await driver.reply("talk-1", 1, "again")
        view = await driver.wait("talk-1", "waiting_user")
        while view.get("pending_interaction_id") != 2:
            view = await driver.wait("talk-1", "waiting_user")
        await driver.reply("talk-1", 2, "c.txt")
        assert (await driver.wait("talk-1"))["data"] == {"file": "c.txt"}
        assert (await driver.wait("done-2"))["status"] == "succeeded"

    drive(place, tmp_path, scenario, slots=1)
    assert {slot for _, slot, _ in turns(tmp_path) if slot.startswith("talk")} == {"talk-1/s1"}


@pytest.mark.parametrize("moment", ["queued", "running", "waiting", "sticky"])
def test_a_run_is_canceled(place: Place, tmp_path: Path, moment: str) -> None:
    async def scenario(driver: DbosDriver) -> None:
        if moment == "queued":
            await driver.start(plan("hold-0"))
            await driver.wait("hold-0", "running")
        run_id = {"running": "deaf-1", "sticky": "talk-1"}.get(moment, "ask-1")
        await driver.start(plan(run_id, interactive_profile=STICKY if moment == "sticky" else {"kind": "resumable"}))
        if moment == "running":
            await driver.wait(run_id, "running")
            while not turns(tmp_path):
                await asyncio.sleep(0.02)
        elif moment != "queued":
            await driver.wait(run_id, "waiting_user")
        assert (await driver.cancel(run_id, "enough"))["kind"] == "canceled"
        assert (await driver.cancel(run_id))["kind"] == "already_ended"
        await driver.settled(run_id)
        if moment == "queued":
            await driver.cancel("hold-0")
            await driver.settled("hold-0")
        # The slots are free again.
        await driver.start(plan("done-9"))
        assert (await driver.wait("done-9"))["status"] == "succeeded"
        assert (await driver.view(run_id))["error"] == {"code": "CANCELED_BY_USER", "message": "enough"}

    drive(place, tmp_path, scenario, slots=1)
    if moment == "queued":
        assert not [slot for _, slot, _ in turns(tmp_path) if slot.startswith("ask-1")], "it never had a turn"


def test_a_deadline_decides(place: Place, tmp_path: Path) -> None:
    async def scenario(driver: DbosDriver) -> None:
        await driver.start(plan("ask-1", interactive_require_user_reply=False, session_timeout_sec=1))
        view = await driver.wait("ask-1")
        assert (view["status"], view["auto_decision_count"]) == ("succeeded", 1)
        await driver.start(plan("talk-2", interactive_profile=STICKY, session_timeout_sec=1))
        assert (await driver.wait("talk-2"))["error"]["code"] == "INTERACTION_WAIT_TIMEOUT"
        await driver.settled("talk-2")

    drive(place, tmp_path, scenario)


def test_a_deadline_survives_a_restart(place: Place, tmp_path: Path) -> None:
    async def begin(driver: DbosDriver) -> None:
        await driver.start(plan("ask-1", interactive_require_user_reply=False, session_timeout_sec=2))
        await driver.wait("ask-1", "waiting_user")

    async def go_on(driver: DbosDriver) -> None:
        view = await driver.wait("ask-1")
        assert (view["status"], view["auto_decision_count"]) == ("succeeded", 1)
        (record,) = (await driver.run("ask-1")).history()
        assert record["resolved_at"] - record["asked_at"] >= 2000

    drive(place, tmp_path, begin)
    drive(place, tmp_path, go_on)


@pytest.mark.parametrize(("policy", "status", "attempts"), [("fail", "failed", [1]), ("retry", "waiting_user", [1, 1])])
def test_a_turn_that_a_closed_driver_left_is_lost(
    place: Place, tmp_path: Path, policy: str, status: str, attempts: list[int]
) -> None:
    async def begin(driver: DbosDriver) -> None:
        await driver.start(plan("hold-1", interrupted_turn=policy))
        await driver.wait("hold-1", "running")
        while not turns(tmp_path):
            await asyncio.sleep(0.02)

    async def go_on(driver: DbosDriver) -> None:
        (tmp_path / "go-hold-1").touch()
        view = await driver.wait("hold-1", "waiting_user")
        assert view["status"] == status
        if policy == "fail":
            assert view["error"]["code"] == "ORCHESTRATOR_RESTART_INTERRUPTED"

    drive(place, tmp_path, begin)
    drive(place, tmp_path, go_on)
    assert [attempt for what, _, attempt in turns(tmp_path) if what == "start"] == attempts


def test_a_command_that_fails_is_the_turns_failure(place: Place, tmp_path: Path) -> None:
    def broken(*_: Any) -> Any:
        raise OSError("no such thing")

    async def main() -> None:
        errors: list[Any] = []
        processes = SubprocessRunner(broken)
        async with DbosDriver(
            processes=processes,
            poll_sec=0.1,
            takeover_after_sec=1.5,
            on_error=lambda *what: errors.append(what),
            **place,
        ) as driver:
            await driver.start(plan("ask-1"))
            assert (await driver.wait("ask-1"))["error"]["code"] == "HOST_FAILED"
        assert len(errors) == 3

    asyncio.run(main())


class Failing(SubprocessRunner):
    """Fails in these ways before it does what it is asked."""

    def __init__(self, folder: Path, starts: Sequence[BaseException] = (), ends: Sequence[BaseException] = ()) -> None:
        super().__init__(Agents(folder), grace_sec=0.3)
        self.starts, self.ends = list(starts), list(ends)

    async def start(self, run: Run, effect: StartTurn, finished: Finished) -> None:
        if self.starts:
            raise self.starts.pop(0)
        await super().start(run, effect, finished)

    async def terminate(self, slot_id: str) -> None:
        if self.ends:
            raise self.ends.pop(0)
        await super().terminate(slot_id)


class Escaped(BaseException):
    """What no ``except Exception`` catches."""


def raises(error: BaseException) -> Callable[..., None]:
    def callback(*_: Any) -> None:
        raise error

    return callback


async def one_run_succeeds(place: Place, processes: SubprocessRunner, **options: Any) -> list[tuple[str, str]]:
    """Carries out a run and gives what failed meanwhile."""
    errors: list[tuple[str, str]] = []

    def on_error(_run_id: str, what: Any, error: Exception, _attempt: int) -> None:
        errors.append((what["type"] if what else "", repr(error)))

    quick = RetryPolicy(attempts=3, delay_sec=0.01, pause_sec=0.02)
    async with DbosDriver(
        processes=processes, poll_sec=0.1, retry=quick, on_error=on_error, **place, **options
    ) as driver:
        await driver.start(plan("done-1"))
        view = await asyncio.wait_for(driver.wait("done-1"), 60)
        assert (view["status"], view["data"]) == ("succeeded", {"file": "b.txt"})
        await asyncio.wait_for(driver.settled("done-1"), 60)
        assert (await driver.slots()).held == []
    assert list(processes.running()) == []
    return errors


def test_a_turn_waits_for_its_start_as_long_as_the_host_is_out_of_resources(place: Place, tmp_path: Path) -> None:
    scarce = OSError(errno.EMFILE, "none left")
    errors = asyncio.run(one_run_succeeds(place, Failing(tmp_path, starts=[scarce] * 10)))
    assert errors == [("start_turn", repr(scarce))] * 10
    assert turns(tmp_path) == [("start", "done-1/s1", 1), ("end", "done-1/s1", 1)]


def test_callbacks_that_raise_more_than_an_exception_lose_no_slot(place: Place, tmp_path: Path) -> None:
    processes = Failing(tmp_path, starts=[Escaped()], ends=[Escaped()] * 5)
    errors = asyncio.run(one_run_succeeds(place, processes, on_notify=raises(Escaped())))
    contained = repr(RuntimeError("the callback raised Escaped"))
    expected = [("", contained)] * 5 + [("notify", contained)] * 3 + [("start_turn", contained)]
    assert sorted(errors) == expected
    assert turns(tmp_path) == [("start", "done-1/s1", 1), ("end", "done-1/s1", 1)]


@pytest.mark.parametrize("callback", ["on_notify", "terminate"])
def test_a_callback_that_exits_ends_the_program_and_loses_no_slot(place: Place, tmp_path: Path, callback: str) -> None:
    processes = Failing(tmp_path, ends=[SystemExit(3)] if callback == "terminate" else [])
    options: dict[str, Any] = {"on_notify": raises(SystemExit(3))} if callback == "on_notify" else {}

    async def exits() -> None:
        async with DbosDriver(processes=processes, poll_sec=0.1, takeover_after_sec=1.5, **options, **place) as driver:
            await driver.start(plan("done-1", interrupted_turn="retry"))
            await asyncio.Event().wait()

    with pytest.raises(SystemExit):
        asyncio.run(exits())

    async def continues(driver: DbosDriver) -> None:
        assert (await driver.wait("done-1"))["status"] == "succeeded"
        await driver.settled("done-1")
        assert (await driver.slots()).held == []

    drive(place, tmp_path, continues)


def test_a_report_of_a_turn_that_was_never_started_is_heard_once(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply = Run.apply

    def of_another_attempt(run: Run, event: Any, now: int) -> Transition:
        is_the_agents = event["type"] == "turn_finished" and event.get("text") != DONE
        applied: Any = {**event, "attempt_number": 5} if is_the_agents else event
        return apply(run, applied, now)

    monkeypatch.setattr(Run, "apply", of_another_attempt)

    async def main() -> None:
        errors: list[tuple[str, str, int]] = []
        processes = SubprocessRunner(Agents(tmp_path), grace_sec=0.3)

        def on_error(_run_id: str, what: Any, error: Exception, attempt: int) -> None:
            errors.append((what["type"], str(error).partition(":")[0], attempt))

        async with DbosDriver(processes=processes, poll_sec=0.1, on_error=on_error, **place) as driver:
            await driver.start(plan("ask-1"))
            await until(lambda: errors != [], 60)
            assert ((await driver.run("ask-1")).revision, len(await driver.lines("ask-1"))) == (2, 2)
            # A report that was kept would be an error again.
            await driver.tell("ask-1", {"type": "turn_finished", "attempt_number": 1, "text": DONE})
            assert (await driver.wait("ask-1"))["status"] == "succeeded"
            await driver.settled("ask-1")
        assert errors == [("turn_finished", "EVENT_UNKNOWN_ATTEMPT", 1)]

    asyncio.run(main())


def test_what_cannot_be_done_is_told_by_a_code(place: Place, tmp_path: Path) -> None:
    kept: list[DbosDriver] = []

    async def scenario(driver: DbosDriver) -> None:
        kept.append(driver)
        await driver.start(plan("ask-1"))
        await driver.wait("ask-1", "waiting_user")
        before = (await driver.run("ask-1")).to_json()
        with pytest.raises(StoreConflictError, match="RUN_EXISTS"):
            await driver.start(plan("ask-1"))
        for ask in (driver.run, driver.view, driver.wait, driver.lines, driver.cancel):
            for unknown in ("nobody", "", "a\0b", "\ud800", "' OR 1=1 --"):
                with pytest.raises(RunNotFoundError, match="RUN_UNKNOWN"):
                    await ask(unknown)
        with pytest.raises(EventRejectedError, match="EVENT_MALFORMED"):
            await driver.tell("ask-1", {"type": "turn_finished"})  # type: ignore[typeddict-item]
        with pytest.raises(EventRejectedError, match="EVENT_MALFORMED"):
            await driver.reply("ask-1", -1, "x")
        late = await driver.tell("ask-1", {"type": "timer_fired", "interaction_id": 5})
        assert late.entry is None
        assert (await driver.run("ask-1")).to_json() == before
        with pytest.raises(DriverUsageError, match=r"DRIVER_EXISTS|DATABASE_IN_USE"):
            await DbosDriver(processes=SubprocessRunner(Agents(tmp_path)), executor_id="two", **place).open()
        with pytest.raises(DriverUsageError, match="DRIVER_CLOSED"):
            await driver.open()

    drive(place, tmp_path, scenario)

    async def afterwards() -> None:
        for ask in (kept[0].run("ask-1"), kept[0].start(plan("ask-2")), kept[0].wait("ask-1")):
            with pytest.raises(DriverUsageError, match="DRIVER_CLOSED"):
                await ask

    asyncio.run(afterwards())


def test_changes_of_runs_can_be_followed(place: Place, tmp_path: Path) -> None:
    async def scenario(driver: DbosDriver) -> None:
        seen: list[str | None] = []

        async def follow() -> None:
            async for run_id in driver.changes():
                seen.append(run_id)

        following = asyncio.create_task(follow())
        await asyncio.sleep(0)
        await driver.start(plan("done-1"))
        await driver.wait("done-1")
        while seen.count("done-1") < 3:
            await asyncio.sleep(0.02)
        following.cancel()

    drive(place, tmp_path, scenario)


@pytest.mark.parametrize("options", [{"slots": 0}, {"processes": None}, {"database_url": "sqlite:///runs.db"}])
def test_settings_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"slot|processes|path"):
        DbosDriver(**{"processes": SubprocessRunner(Agents(Path())), **options})


def test_somebody_elses_dbos_is_left_alone(tmp_path: Path) -> None:
    DBOS(config={"name": "theirs", "system_database_url": f"sqlite:///{tmp_path}/theirs.db"})
    try:
        with pytest.raises(DriverUsageError, match="DRIVER_EXISTS"):
            asyncio.run(DbosDriver(processes=SubprocessRunner(Agents(tmp_path)), path=tmp_path / "runs.db").open())
        assert DBOS.executor_id == "local"
    finally:
        DBOS.destroy()


def test_a_sqlite_file_is_for_one_process(tmp_path: Path) -> None:
    other = """
import asyncio, sys
from turnlatch.hosts.dbos import DbosDriver
asyncio.run(DbosDriver(works=False, path=sys.argv[1]).open())
"""

    async def scenario(driver: DbosDriver) -> None:
        asked = [sys.executable, "-c", other, str(tmp_path / "runs.db")]
        done = await asyncio.to_thread(subprocess.run, asked, capture_output=True, text=True)
        assert done.returncode == 1
        assert "DATABASE_IN_USE" in done.stderr

    drive({"path": tmp_path / "runs.db"}, tmp_path, scenario)


def test_a_database_of_the_host_of_node_is_refused(postgres: Postgres) -> None:
    url = postgres.database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE turnlatch_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
        connection.execute("INSERT INTO turnlatch_meta VALUES ('host', 'node')")
        with pytest.raises(DriverUsageError, match="DATABASE_IN_USE") as refused:
            asyncio.run(DbosDriver(works=False, database_url=url).open())
        assert "node" in str(refused.value)
        row = connection.execute("SELECT to_regclass('turnlatch_runs')").fetchone()
    assert row == (None,)


def test_dbos_is_only_imported_by_its_host() -> None:
    code = """
import sys
import turnlatch
assert "dbos" not in sys.modules and "turnlatch.hosts" not in sys.modules
sys.modules["dbos"] = None
try:
    import turnlatch.hosts.dbos
except ImportError as error:
    assert "pip install turnlatch[dbos]" in str(error), error
else:
    raise AssertionError("it was imported without dbos")
"""
    subprocess.run([sys.executable, "-c", code], check=True)

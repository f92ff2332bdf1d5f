"""No slot is held that no run keeps, in whatever order workers die, stop and finish and runs are canceled."""

from __future__ import annotations

import asyncio
import itertools
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
import sqlalchemy as sa

from hosting import plan
from turnlatch import RunNotFoundError
from turnlatch.hosts.dbos import DbosDriver
from turnlatch.hosts.dbos.advance import telling
from turnlatch.hosts.dbos.tables import Displaced, Hold

from .database_side import DatabaseSide
from .fleet import QUICK_TAKEOVER, Fleet, until

SLOTS = 3


@pytest.fixture
def side(tmp_path: Path) -> Generator[DatabaseSide, None, None]:
    made = DatabaseSide(tmp_path / "runs.db")
    yield made
    made.close()


class Workflow:
    """The workflow of a run's first turn, carried out by one execution after the other, as a worker does it."""

    def __init__(self, side: DatabaseSide, run_id: str) -> None:
        self.side = side
        self.run_id = run_id
        self.slot_id = f"{run_id}/s1"
        self.executions = 0
        self.hold: Hold | None = None
        self.is_over = False
        side.advance.create(plan(run_id))

    def execute(self) -> None:
        """A worker takes the workflow and is granted its slot."""
        self.executions += 1
        executor_id = f"w{self.executions}"
        self.note("PENDING", executor_id)
        hold = Hold(self.slot_id, executor_id, f"execution {self.executions}")
        assert self.side.advance.grant(self.run_id, hold, SLOTS) is not None
        self.hold = hold

    def kill(self) -> None:
        """The worker dies; the next one that takes the workflow begins anew."""
        self.hold = None

    def stop(self) -> None:
        """The worker stops and hands over."""
        if self.hold is not None:
            with self.side.database.transaction() as db:
                self.side.tables.displace(db, self.hold.executor_id)
            self.hold = None
        if not self.is_over:
            self.note("ENQUEUED", "")

    def cancel(self) -> None:
        self.side.advance.change(self.run_id, lambda run, now: run.cancel(now, None))

    def finish(self) -> None:
        """The agent ends its turn, and its worker reports that."""
        if self.hold is not None and self.is_kept:
            event = telling({"type": "turn_finished", "attempt_number": 1, "text": "Which file?"})
            self.side.advance.change(self.run_id, event, self.hold)

    def release(self) -> None:
        """The worker gives the slot back if the run does not keep it, and the workflow is over."""
        if self.hold is not None and not self.is_kept:
            self.side.advance.release(self.hold)
            self.hold, self.is_over = None, True
            self.note("SUCCESS", "")

    def complete(self) -> None:
        """A worker carries the workflow out to its end."""
        if self.hold is None and not self.is_over:
            self.execute()
        self.finish()
        self.release()

    @property
    def is_kept(self) -> bool:
        """Whether the run keeps the process in the slot, as the core says."""
        return self.side.run(self.run_id).outstanding()["keep"].get("process") == self.slot_id

    def note(self, status: str, executor_id: str) -> None:
        noted = "UPDATE workflow_status SET status = :status, executor_id = :executor_id WHERE workflow_uuid = :id"
        with self.side.database.transaction() as db:
            db.execute(sa.text(noted), {"status": status, "executor_id": executor_id, "id": self.slot_id})


def held(side: DatabaseSide) -> list[str]:
    return side.advance.read(side.tables.held_slots)


STEPS = ["kill", "stop", "cancel", "finish", "release"]


ORDERS = [order for count in range(len(STEPS) + 1) for order in itertools.permutations(STEPS, count)]


@pytest.mark.parametrize("frees", [False, True], ids=["executions alone", "slots are looked after"])
@pytest.mark.parametrize("at_once", [False, True], ids=["followed at the end", "followed at once"])
def test_no_order_of_kill_stop_cancel_and_finish_leaves_a_slot_held(
    side: DatabaseSide, at_once: bool, frees: bool
) -> None:
    for number, order in enumerate(ORDERS):
        workflow = Workflow(side, f"r{number}")
        workflow.execute()
        for step in order:
            if at_once and workflow.hold is None and not workflow.is_over:
                workflow.execute()
            getattr(workflow, step)()
            freed = side.advance.free_unwanted() if frees else []
            assert not (freed and workflow.is_kept), order
            assert not (freed and workflow.hold), f"{order}: its worker is ending the process"
        workflow.complete()
        assert workflow.is_over, order
        assert held(side) == [], order
    assert side.advance.free_unwanted() == []


def test_a_slot_is_kept_while_its_process_is_being_ended(side: DatabaseSide) -> None:
    workflow = Workflow(side, "r1")
    workflow.execute()
    workflow.kill()
    workflow.cancel()
    workflow.execute()  # which finds that the run wants nothing of the slot
    assert held(side) == ["r1/s1"], "something of the process may be left (LIFE-7)"
    assert side.advance.free_unwanted() == []
    workflow.release()
    assert held(side) == []


@pytest.mark.parametrize("status", ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED", "deleted"])
def test_slots_that_were_lost_are_found(side: DatabaseSide, status: str) -> None:
    lost, used, wanted = (Workflow(side, run_id) for run_id in ("lost", "used", "wanted"))
    for workflow in (lost, used, wanted):
        workflow.execute()
    lost.cancel()
    lost.note(status, "w1")
    if status == "deleted":
        with side.database.transaction() as db:
            db.exec_driver_sql("DELETE FROM workflow_status WHERE workflow_uuid = 'lost/s1'")
    wanted.note(status, "w1")  # whatever became of its workflow: the run has it
    assert side.advance.free_unwanted() == ["lost/s1"]
    assert held(side) == ["used/s1", "wanted/s1"]


def test_a_slot_that_was_handed_to_a_version_without_workers_is_found(side: DatabaseSide) -> None:
    workflow = Workflow(side, "r1")
    workflow.execute()
    workflow.stop()
    assert side.advance.free_unwanted() == [], "the run still has it"
    workflow.cancel()
    assert side.advance.free_unwanted() == ["r1/s1"]


def test_the_slot_of_a_run_that_is_gone_is_given_back(side: DatabaseSide) -> None:
    workflow = Workflow(side, "r1")
    workflow.execute()
    first = workflow.hold
    assert first is not None
    with side.database.transaction() as db:
        db.exec_driver_sql("DELETE FROM turnlatch_runs")
    assert side.advance.free_unwanted() == [], "its worker does it"
    with pytest.raises(RunNotFoundError):
        workflow.execute()
    with pytest.raises(Displaced):
        side.advance.abandon("r1", first)
    side.advance.abandon("r1", Hold("r1/s1", "w2", "another execution"))
    assert held(side) == []


# Where each run is when its worker is gone: its turn begun and not started, under way, or over with its slot held.
BEGUN, FINISHED = ("ask-begun",), ("ask-finished", "ask-finished-and-canceled")
RUNNING = ("hold-lost", "hold-again", "hold-canceled")
CANCELED = ("ask-begun", "ask-finished-and-canceled", "hold-canceled", "ask-released")


@pytest.mark.parametrize(
    ("way", "follower"), [("kill", "w1"), ("kill", "w2"), ("stop", "w1"), ("stop", "w2"), ("pause", "w2")]
)
def test_no_slot_is_lost_with_a_worker(fleet: Fleet, way: str, follower: str) -> None:
    stuck = {**dict.fromkeys(BEGUN, "begun"), **dict.fromkeys(FINISHED, "finished")}
    slots = len(BEGUN + FINISHED + RUNNING)
    worker = fleet.worker("w1", slots=slots, stuck=stuck, takeover_after_sec=QUICK_TAKEOVER)

    async def is_at_rest(client: DbosDriver) -> bool:
        statuses = [(await client.view(run_id))["status"] for run_id in (*FINISHED, *RUNNING)]
        begun = fleet.rows("SELECT run_id FROM turnlatch_begun WHERE run_id = ANY(%s)", list(BEGUN))
        waits = statuses == ["waiting_user"] * len(FINISHED) + ["running"] * len(RUNNING)
        return waits and len(begun) == len(BEGUN) and all(map(fleet.started, RUNNING))

    async def scenario(client: DbosDriver) -> None:
        await client.start(plan("ask-released"))
        await client.wait("ask-released", "waiting_user")
        await client.settled("ask-released")
        for run_id in (*BEGUN, *FINISHED, *RUNNING):
            await client.start(plan(run_id, interrupted_turn="retry" if run_id == "hold-again" else "fail"))
        while not await is_at_rest(client):
            await asyncio.sleep(0.05)
        assert len(fleet.held()) == slots, "all of them"

        agents = set(fleet.agents())
        if way == "stop":
            await asyncio.to_thread(worker.close)
        else:
            worker.send(signal.SIGKILL if way == "kill" else signal.SIGSTOP)
        for run_id in CANCELED:
            assert (await client.cancel(run_id))["kind"] == "canceled"
        await asyncio.to_thread(fleet.worker, follower, slots=slots, takeover_after_sec=QUICK_TAKEOVER)

        assert (await client.wait("hold-lost"))["status"] == "failed"
        fleet.let_go("hold-again")
        await client.wait("hold-again", "waiting_user")
        for run_id in (*BEGUN, *FINISHED, *RUNNING):
            await client.settled(run_id)
        assert fleet.held() == set()

        # And they are there for others.
        for number in range(slots):
            await client.start(plan(f"hold-{number}"))
        while len(fleet.held()) < slots:
            await asyncio.sleep(0.05)
        for number in range(slots):
            fleet.let_go(f"hold-{number}")
            await client.wait(f"hold-{number}", "waiting_user")
        worker.send(signal.SIGCONT)
        for number in range(slots):
            await client.settled(f"hold-{number}")
        if way == "pause":
            # It is back, and has ended the processes of turns that are not its own any more.
            await until(lambda: fleet.is_present("w1"))
            await until(lambda: not agents & set(fleet.agents()))
        assert fleet.held() == set()

    fleet.ask(scenario)


def test_a_worker_finds_slots_that_were_lost(fleet: Fleet) -> None:
    fleet.worker("w1")

    async def scenario(client: DbosDriver) -> None:
        await client.start(plan("done-ended"))
        assert (await client.wait("done-ended"))["status"] == "succeeded"
        await client.start(plan("ask-waiting"))
        await client.wait("ask-waiting", "waiting_user")
        await client.start(plan("hold-kept"))
        while not fleet.started("hold-kept"):
            await asyncio.sleep(0.02)
        for run_id in ("done-ended", "ask-waiting"):
            await client.settled(run_id)
        # Whichever worker held them: it is gone, and so are their workflows.
        fleet.rows(
            """INSERT INTO turnlatch_slots VALUES ('done-ended/s1', 'done-ended', 'w0', 'gone'),
            ('ask-waiting/s1', 'ask-waiting', 'w0', ''), ('nothing/s1', 'nothing', 'w0', 'gone') RETURNING slot_id"""
        )
        while fleet.held() != {"hold-kept/s1"}:
            await asyncio.sleep(0.05)

    fleet.ask(scenario)


def test_the_slot_of_a_run_that_was_deleted_is_given_back(fleet: Fleet) -> None:
    fleet.worker("w1")

    async def scenario(client: DbosDriver) -> None:
        await client.start(plan("hold-1"))
        while not fleet.started("hold-1"):
            await asyncio.sleep(0.02)
        fleet.rows("DELETE FROM turnlatch_runs RETURNING run_id")
        await client.settled("hold-1")

    fleet.ask(scenario)
    assert fleet.agents() == []

"""Several workers on one database, with one of them dying, stopping or losing the database in the middle."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import psycopg
import pytest

from hosting import STICKY, plan
from turnlatch import Run, replay
from turnlatch.hosts.dbos import DbosDriver

from .agents import most_at_a_time, turns
from .fleet import QUICK_TAKEOVER, Fleet, until
from .postgres import Postgres

LOST = "ORCHESTRATOR_RESTART_INTERRUPTED"


async def until_started(fleet: Fleet, run_id: str, attempts: int = 1) -> None:
    while len(fleet.started(run_id)) < attempts:
        await asyncio.sleep(0.02)


async def until_gone(fleet: Fleet) -> None:
    while fleet.agents():
        await asyncio.sleep(0.02)


def owner(fleet: Fleet, run_id: str) -> str:
    """The worker that carries out the run's turn."""
    with psycopg.connect(fleet.url) as connection:
        row = connection.execute("SELECT executor_id FROM turnlatch_slots WHERE run_id = %s", (run_id,)).fetchone()
    assert row is not None
    return str(row[0])


async def checked(client: DbosDriver, run_id: str) -> Run:
    """The run; its journal tells the same, and no question was resolved twice."""
    run = await client.run(run_id)
    again, _ = replay(run.plan, await client.journal(run_id))
    assert again.to_json() == run.to_json()
    questions = [record["interaction_id"] for record in run.history()]
    assert len(questions) == len(set(questions))
    return run


def test_the_limit_of_slots_holds_for_all_workers_together(fleet: Fleet) -> None:
    workers = [fleet.begin(f"w{n}") for n in range(3)]  # all at once: they make the tables together
    for worker in workers:
        worker.opened()
    held = [f"hold-{n}" for n in range(6)]
    runs = [f"nap-{n}" for n in range(100)]

    async def scenario(client: DbosDriver) -> None:
        async def whole(run_id: str) -> None:
            await client.start(plan(run_id))
            await client.wait(run_id, "waiting_user")
            assert (await client.reply(run_id, 1, f"{run_id}.txt"))["kind"] == "accepted"
            assert (await client.wait(run_id))["data"] == {"file": f"{run_id}.txt"}

        for run_id in held:
            await client.start(plan(run_id))
        # All slots are in use, and the others have to wait.
        while len(turns(fleet.folder)) < 4:
            await asyncio.sleep(0.05)
        for run_id in held:
            fleet.let_go(run_id)
        for run_id in held:
            await client.wait(run_id, "waiting_user")
        await asyncio.gather(*map(whole, runs))
        assert len(await client.unfinished()) == len(held)

    fleet.ask(scenario)
    assert len(turns(fleet.folder)) == 2 * (len(held) + 2 * len(runs)), "every turn began and ended once"
    assert most_at_a_time(fleet.folder) == 4


@pytest.mark.parametrize(("policy", "attempts"), [("fail", [1]), ("retry", [1, 1, 2])])
def test_a_worker_is_killed_in_the_middle_of_a_turn(fleet: Fleet, policy: str, attempts: list[int]) -> None:
    workers = {name: fleet.worker(name) for name in ("w1", "w2")}

    async def scenario(client: DbosDriver) -> None:
        await client.start(plan("hold-1", interrupted_turn=policy))
        await until_started(fleet, "hold-1")
        workers[owner(fleet, "hold-1")].send(signal.SIGKILL)
        await until_gone(fleet)  # its supervisor ends it at once, and nobody has begun another one
        assert fleet.started("hold-1") == [1]
        fleet.let_go("hold-1")
        view = await client.wait("hold-1", "waiting_user")
        if policy == "fail":
            assert view["error"]["code"] == LOST
        else:
            await client.reply("hold-1", 1, "c.txt")
            assert (await client.wait("hold-1"))["data"] == {"file": "c.txt"}
        await client.settled("hold-1")
        await checked(client, "hold-1")

    fleet.ask(scenario)
    assert fleet.started("hold-1") == attempts
    assert fleet.agents() == []


@pytest.mark.parametrize(
    ("moment", "policy", "status", "attempts"),
    [
        # Nobody had begun the turn, so it is begun, whatever the policy is.
        ("granted", "fail", "succeeded", [1]),
        # It may have begun, and nobody can know how far it came.
        ("begun", "fail", "failed", []),
        ("begun", "retry", "succeeded", [1]),
    ],
)
def test_a_worker_is_killed_between_a_transaction_and_its_effect(
    fleet: Fleet, moment: str, policy: str, status: str, attempts: list[int]
) -> None:
    dying = fleet.worker("w1", dies=moment, takeover_after_sec=QUICK_TAKEOVER)

    async def scenario(client: DbosDriver) -> None:
        await client.start(plan("done-1", interrupted_turn=policy))
        await asyncio.to_thread(dying.process.wait)
        fleet.worker("w2", takeover_after_sec=QUICK_TAKEOVER)
        view = await client.wait("done-1")
        assert view["status"] == status
        if status == "failed":
            assert view["error"]["code"] == LOST
        await client.settled("done-1")
        await checked(client, "done-1")

    fleet.ask(scenario)
    assert fleet.started("done-1") == attempts


def test_no_reply_is_lost_while_no_worker_lives(fleet: Fleet) -> None:
    async def scenario(client: DbosDriver) -> None:
        worker = fleet.worker("w1")
        timed: dict[str, Any] = {"interactive_require_user_reply": False, "session_timeout_sec": 2}
        for run_id, options in (("ask-1", {}), ("ask-2", timed), ("ask-3", {})):
            await client.start(plan(run_id, **options))
            await client.wait(run_id, "waiting_user")
        worker.send(signal.SIGKILL)
        receipts = [await client.reply("ask-1", 1, f"{n}.txt") for n in range(2)]
        assert [receipt["kind"] for receipt in receipts] == ["accepted", "stale"]
        await client.cancel("ask-3")
        fleet.worker("w1")  # the same id again: its lock is free
        assert (await client.wait("ask-1"))["data"] == {"file": "0.txt"}
        assert (await client.wait("ask-2"))["auto_decision_count"] == 1
        assert (await client.view("ask-3"))["status"] == "canceled"
        for run_id in ("ask-1", "ask-2", "ask-3"):
            await checked(client, run_id)
            assert fleet.started(run_id) == ([1] if run_id == "ask-3" else [1, 2])

    fleet.ask(scenario)


def test_a_sticky_run_ends_with_its_worker(fleet: Fleet) -> None:
    workers = {name: fleet.worker(name) for name in ("w1", "w2")}

    async def scenario(client: DbosDriver) -> None:
        await client.start(plan("talk-1", interactive_profile=STICKY))
        await client.wait("talk-1", "waiting_user")
        workers[owner(fleet, "talk-1")].send(signal.SIGKILL)
        assert (await client.wait("talk-1"))["error"]["code"] == "INTERACTION_PROCESS_LOST"
        await client.settled("talk-1")
        run = await checked(client, "talk-1")
        assert [record["resolution_mode"] for record in run.history()] == ["canceled"]

    fleet.ask(scenario)
    assert fleet.agents() == []


@pytest.mark.parametrize("policy", ["fail", "retry"])
def test_a_stopped_worker_that_goes_on_cannot_advance_the_run(fleet: Fleet, policy: str) -> None:
    workers = {name: fleet.worker(name) for name in ("w1", "w2")}

    async def scenario(client: DbosDriver) -> None:
        await client.start(plan("hold-1", interrupted_turn=policy))
        await until_started(fleet, "hold-1")
        zombie = workers[owner(fleet, "hold-1")]
        zombie.send(signal.SIGSTOP)
        # Its agent lives on and finishes the turn; the report waits in the pipe until the worker goes on.
        if policy == "fail":
            assert (await client.wait("hold-1"))["error"]["code"] == LOST
            fleet.let_go("hold-1")
        else:
            await until_started(fleet, "hold-1", 2)
            fleet.let_go("hold-1")
            await client.wait("hold-1", "waiting_user")
        while ("end", "hold-1/s1", 1) not in turns(fleet.folder):
            await asyncio.sleep(0.02)
        before = await checked(client, "hold-1")
        zombie.send(signal.SIGCONT)
        # It works again: one run for each slot there is, so that both workers have some.
        for n in range(8):
            await client.start(plan(f"done-{n}"))
        for n in range(8):
            assert (await client.wait(f"done-{n}"))["status"] == "succeeded"
        await client.settled("hold-1")
        assert (await client.run("hold-1")).to_json() == before.to_json(), "nothing has come of the late report"
        if policy == "retry":
            assert (await client.reply("hold-1", 1, "c.txt"))["kind"] == "accepted"
            assert (await client.wait("hold-1"))["data"] == {"file": "c.txt"}
        zombie.close()
        assert zombie.process.returncode == 0, zombie.errors.read_text()

    fleet.ask(scenario)
    assert fleet.agents() == []


@pytest.mark.parametrize(("policy", "attempts"), [("fail", [1]), ("retry", [1, 1])])
def test_whoever_takes_over_dies_before_he_has_handed_over(fleet: Fleet, policy: str, attempts: list[int]) -> None:
    fleet.worker("w1")

    async def scenario(client: DbosDriver) -> None:
        await client.start(plan("hold-1", interrupted_turn=policy))
        await until_started(fleet, "hold-1")
        # The first half of a takeover: the turn is taken away from a worker that lives, and nobody else gets it.
        with psycopg.connect(fleet.url) as connection:
            connection.execute("UPDATE turnlatch_slots SET holder = '' WHERE run_id = 'hold-1'")
        await until_started(fleet, "hold-1", len(attempts))
        fleet.let_go("hold-1")
        view = await client.wait("hold-1", "waiting_user")
        error = view.get("error")
        assert (error and error["code"]) == (LOST if policy == "fail" else None)
        await client.settled("hold-1")
        await checked(client, "hold-1")
        assert fleet.started("hold-1") == attempts

    fleet.ask(scenario)
    assert fleet.agents() == []


def test_two_workers_with_one_id_are_refused(fleet: Fleet) -> None:
    first = fleet.worker("w1")
    second = fleet.begin("w1")
    assert second.process.wait() == 1
    assert "EXECUTOR_ID_IN_USE" in second.errors.read_text()

    async def scenario(client: DbosDriver) -> None:
        await client.start(plan("done-1"))
        assert (await client.wait("done-1"))["status"] == "succeeded"

    fleet.ask(scenario)
    assert first.process.poll() is None


def test_the_database_restarts_in_the_middle(fleet: Fleet, postgres: Postgres) -> None:
    workers = {name: fleet.worker(name) for name in ("w1", "w2")}

    async def scenario(client: DbosDriver) -> None:
        await client.start(plan("hold-1"))
        await until_started(fleet, "hold-1")
        await client.start(plan("ask-2"))
        await client.wait("ask-2", "waiting_user")
        restarted = asyncio.create_task(asyncio.to_thread(postgres.restart))
        # Asked while it is away, the driver waits for it; a reply is taken once.
        receipt = await client.reply("ask-2", 1, "c.txt")
        assert receipt["kind"] == "accepted"
        await restarted
        assert (await client.wait("ask-2"))["data"] == {"file": "c.txt"}
        # Both leases ended with the server. Once both are back, no worker can be taken for dead any more.
        await until(lambda: all(map(fleet.is_present, workers)))
        fleet.let_go("hold-1")
        await client.wait("hold-1", "waiting_user")
        await client.reply("hold-1", 1, "d.txt")
        assert (await client.wait("hold-1"))["data"] == {"file": "d.txt"}
        for run_id in ("hold-1", "ask-2"):
            await checked(client, run_id)
            assert fleet.started(run_id) == [1, 2], "every turn was carried out once"
        for worker in workers.values():
            assert "takes over" not in worker.errors.read_text()

    fleet.ask(scenario)


def test_a_worker_that_closes_hands_over_at_once(fleet: Fleet) -> None:
    workers = {name: fleet.worker(name, takeover_after_sec=60) for name in ("w1", "w2")}

    async def scenario(client: DbosDriver) -> None:
        await client.start(plan("hold-1", interrupted_turn="retry"))
        await until_started(fleet, "hold-1")
        await asyncio.to_thread(workers[owner(fleet, "hold-1")].close)
        await until_started(fleet, "hold-1", 2)
        fleet.let_go("hold-1")
        await client.wait("hold-1", "waiting_user")

    fleet.ask(scenario)
    assert [(what, slot) for what, slot, _ in turns(fleet.folder)] == [
        ("start", "hold-1/s1"),
        ("start", "hold-1/s2"),
        ("end", "hold-1/s2"),
    ]


def test_clients_change_runs_and_carry_out_nothing(fleet: Fleet) -> None:
    hostile = "a\0b \x1b[31m \u202e é€😀"

    async def scenario(client: DbosDriver) -> None:
        await client.start(plan("ask-1"))
        assert (await client.view("ask-1"))["status"] == "queued"
        await client.tell("ask-1", {"type": "slot_granted", "slot_id": "ask-1/s1"})
        await client.tell("ask-1", {"type": "turn_finished", "attempt_number": 1, "text": hostile})
        assert (await client.reply("ask-1", 1, hostile))["kind"] == "accepted"
        (record,) = (await checked(client, "ask-1")).history()
        assert record["response"] == hostile
        async with fleet.client() as another:
            assert (await another.cancel("ask-1"))["kind"] == "canceled"
        assert (await client.wait("ask-1"))["status"] == "canceled"

    fleet.ask(scenario)
    assert not Path(fleet.folder / "turns.log").exists()

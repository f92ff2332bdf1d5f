"""What others build on: numbers for followers of all runs, counts, and tables that are kept beside the runs'."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from hosting import plan
from turnlatch import RunNotFoundError, StoreConflictError, SubprocessRunner
from turnlatch.hosts.dbos import Change, DbosDriver, SlotUse

from .agents import Agents
from .postgres import Postgres

Place = dict[str, Any]


def client(place: Place) -> DbosDriver:
    return DbosDriver(works=False, poll_sec=0.1, **place)


async def all_changes(driver: DbosDriver, number: int = 0, most: int = 500) -> list[Change]:
    """Everything after a number, as a follower reads it."""
    found: list[Change] = []
    while more := await driver.changes_after(found[-1].number if found else number, most):
        found += more
    return found


def test_every_entry_has_a_number(place: Place) -> None:
    async def main() -> None:
        async with client(place) as driver:
            assert (await driver.last_change(), await driver.changes_after(0)) == (0, [])
            for run_id in ("b", "a"):
                await driver.start(plan(run_id))
            await driver.cancel("b")
            changes = [Change(1, "b", 1), Change(2, "a", 1), Change(3, "b", 2)]
            assert await all_changes(driver, most=2) == changes
            await driver.cancel("a")
            assert await driver.last_change() == 4
            assert await all_changes(driver, 2) == [*changes[2:], Change(4, "a", 2)]

    asyncio.run(main())


def test_a_transaction_that_wrote_first_and_commits_last(postgres: Postgres) -> None:
    """With numbers that are drawn at writing, a follower would be past its line before the line is there."""
    url = postgres.database()

    async def main() -> None:
        async with client({"database_url": url}) as driver:
            with psycopg.connect(url) as slow:
                slow.execute("INSERT INTO turnlatch_journal (run_id, revision, line) VALUES ('slow', 1, '')")
                await driver.start(plan("fast"))
                assert await driver.changes_after(0) == [Change(1, "fast", 1)]
                slow.commit()
            assert await driver.changes_after(1) == [Change(2, "slow", 1)]

    asyncio.run(main())


def test_followers_in_two_processes_see_all_in_one_order(postgres: Postgres) -> None:
    url = postgres.database()

    async def follow(driver: DbosDriver, wanted: int) -> list[Change]:
        seen: list[Change] = []
        while len(seen) < wanted:
            seen += await driver.changes_after(seen[-1].number if seen else 0, 7)
        return seen

    async def main() -> None:
        # Two clients share nothing but the database, so they are as good as two processes.
        async with client({"database_url": url}) as one, client({"database_url": url}) as two:
            followers = [asyncio.ensure_future(follow(driver, 120)) for driver in (one, two, one, two)]
            run_ids = [f"r{number}" for number in range(60)]
            await asyncio.gather(*((one, two)[n % 2].start(plan(run_id)) for n, run_id in enumerate(run_ids)))
            await asyncio.gather(*((two, one)[n % 2].cancel(run_id) for n, run_id in enumerate(run_ids)))
            seen = await asyncio.gather(*followers)
            assert all(other == seen[0] for other in seen)
            assert [change.number for change in seen[0]] == list(range(1, 121))
            assert {(change.run_id, change.revision) for change in seen[0]} == {(r, n) for r in run_ids for n in (1, 2)}
            assert [c.revision for c in seen[0] if c.run_id == "r7"] == [1, 2]

    asyncio.run(main())


def test_counts_by_status(place: Place) -> None:
    async def main() -> None:
        async with client(place) as driver:
            assert await driver.count_unfinished() == {}
            for number in range(4):
                await driver.start(plan(f"r{number}"))
            assert await driver.count_unfinished() == {"queued": 4}
            await driver.cancel("r0")
            assert await driver.count_unfinished() == {"queued": 3}

    asyncio.run(main())


def test_what_is_kept_beside_a_run_is_there_if_the_run_is(place: Place) -> None:
    def note(db: sa.Connection) -> None:
        db.exec_driver_sql("INSERT INTO notes VALUES ('kept')")

    def fail(db: sa.Connection) -> None:
        note(db)
        raise LookupError("there is no such skill")

    def count(db: sa.Connection) -> int:
        return int(db.exec_driver_sql("SELECT COUNT(*) FROM notes").scalar_one())

    async def main() -> None:
        async with client(place) as driver:
            await driver.write(lambda db: db.exec_driver_sql("CREATE TABLE notes (note TEXT)"))
            with pytest.raises(LookupError):
                await driver.start(plan("r1"), fail)
            with pytest.raises(RunNotFoundError):
                await driver.run("r1")
            await driver.start(plan("r1"), note)
            with pytest.raises(StoreConflictError, match="RUN_EXISTS"):
                await driver.start(plan("r1"), note)
            assert await driver.read(count) == 1

    asyncio.run(main())


def test_a_worker_that_stops_working_still_answers(place: Place, tmp_path: Path) -> None:
    async def main() -> None:
        processes = SubprocessRunner(Agents(tmp_path), grace_sec=0.3)
        async with DbosDriver(processes=processes, slots=1, poll_sec=0.1, **place) as driver:
            assert await driver.slots() == SlotUse(1, [], 0)
            await driver.start(plan("hold-1", interrupted_turn="retry"))
            await driver.wait("hold-1", "running")
            await driver.start(plan("ask-2"))
            assert await driver.slots() == SlotUse(1, ["hold-1/s1"], 1)
            await driver.stop_work()
            assert list(processes.running()) == []
            assert (await driver.view("hold-1"))["status"] == "running", "the next worker tells the core"
            assert (await driver.cancel("ask-2"))["kind"] == "canceled"
        (tmp_path / "go-hold-1").touch()
        async with DbosDriver(processes=processes, slots=1, poll_sec=0.1, **place) as driver:
            assert (await asyncio.wait_for(driver.wait("hold-1", "waiting_user"), 60))["attempt_number"] == 1

    asyncio.run(main())

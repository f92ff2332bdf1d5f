"""The store in a SQLite file."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from hosting import DONE, plan
from turnlatch import Plan, Run, replay
from turnlatch.parts import RunNotFoundError, StoreConflictError
from turnlatch.sqlite_store import SqliteStore


async def finished_run(store: SqliteStore, the_plan: Plan) -> Run:
    """Asks, is answered and finishes; every step is saved."""
    run, applied = Run.create(the_plan, 1)
    await store.create(run.run_id, run.to_json(), applied.entry)
    for now, event in enumerate(
        [
            {"type": "slot_granted", "slot_id": f"{run.run_id}/s1"},
            {"type": "turn_finished", "attempt_number": 1, "text": "Which file? " * 50},
            {"type": "reply", "interaction_id": 1, "response": "the second"},
            {"type": "slot_granted", "slot_id": f"{run.run_id}/s2"},
            {"type": "turn_finished", "attempt_number": 2, "text": DONE},
        ],
        start=2,
    ):
        before = run.revision
        applied = run.apply(event, now)
        await store.save(run.run_id, before, run.to_json(), applied.entry, run.ended)
    assert run.status == "succeeded"
    return run


@pytest.mark.parametrize("compact", [False, True])
def test_the_journal_replays_to_the_stored_snapshot(tmp_path: Path, compact: bool) -> None:
    async def scenario() -> None:
        store = SqliteStore(tmp_path / "runs.db", compact=compact)
        run = await finished_run(store, plan())
        store.close()
        store = SqliteStore(tmp_path / "runs.db")
        assert await store.load("r1") == run.to_json()
        replayed, _ = replay(plan(), await store.journal("r1"))
        assert replayed.to_json() == run.to_json()
        assert ("turn_decided" in (await store.journal("r1")).to_json()) is compact
        assert await store.unfinished() == []
        lines = await store.lines("r1")
        assert lines == (await store.journal("r1")).lines()
        assert (await store.lines("r1", after=4), await store.lines("r1", after=99)) == (lines[4:], [])
        store.close()

    asyncio.run(scenario())


def test_only_the_expected_revision_is_replaced(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = SqliteStore(tmp_path / "runs.db")
        run, created = Run.create(plan(), 1)
        await store.create("r1", run.to_json(), created.entry)
        with pytest.raises(StoreConflictError, match="RUN_EXISTS"):
            await store.create("r1", run.to_json(), created.entry)
        other = Run.from_json(await store.load("r1"))
        canceled = other.cancel(5)
        await store.save("r1", 1, other.to_json(), canceled.entry, True)
        granted = run.apply({"type": "slot_granted", "slot_id": "r1/s1"}, 5)
        with pytest.raises(StoreConflictError, match="expected revision 1, found 2"):
            await store.save("r1", 1, run.to_json(), granted.entry, False)
        assert await store.load("r1") == other.to_json()
        assert replay(plan(), await store.journal("r1"))[0].to_json() == other.to_json()
        store.close()

    asyncio.run(scenario())


def test_of_many_that_save_at_once_one_wins(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = SqliteStore(tmp_path / "runs.db")
        run, created = Run.create(plan(), 1)
        await store.create("r1", run.to_json(), created.entry)
        canceled = run.cancel(2)
        saves = (store.save("r1", 1, run.to_json(), canceled.entry, True) for _ in range(6))
        results = await asyncio.gather(*saves, return_exceptions=True)
        assert sorted(type(result).__name__ for result in results) == ["NoneType"] + ["StoreConflictError"] * 5
        assert len(await store.journal("r1")) == 2
        store.close()

    asyncio.run(scenario())


def test_snapshot_and_journal_line_are_one_transaction(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = SqliteStore(tmp_path / "runs.db")
        run, created = Run.create(plan(), 1)
        await store.create("r1", run.to_json(), created.entry)
        saved = run.to_json()
        with sqlite3.connect(tmp_path / "runs.db") as db:
            db.execute("CREATE TRIGGER full BEFORE INSERT ON journal BEGIN SELECT RAISE(ABORT, 'disk full'); END")
        applied = run.apply({"type": "slot_granted", "slot_id": "r1/s1"}, 2)
        with pytest.raises(sqlite3.IntegrityError, match="disk full"):
            await store.save("r1", 1, run.to_json(), applied.entry, False)
        assert await store.load("r1") == saved
        with sqlite3.connect(tmp_path / "runs.db") as db:
            db.execute("DROP TRIGGER full")
        await store.save("r1", 1, run.to_json(), applied.entry, False)
        assert await store.load("r1") == run.to_json()
        assert len(await store.journal("r1")) == 2
        store.close()

    asyncio.run(scenario())


def test_begun_effects_and_unfinished_runs_survive(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = SqliteStore(tmp_path / "runs.db")
        for name in ("b", "a", "c"):
            run, created = Run.create(plan(name), 1)
            await store.create(name, run.to_json(), created.entry)
        await finished_run(store, plan("done"))
        await store.mark_begun("a", "a/2/1")
        await store.mark_begun("a", "a/2/1")
        store.close()
        store = SqliteStore(tmp_path / "runs.db")
        assert await store.unfinished() == ["b", "a", "c"]
        assert await store.was_begun("a", "a/2/1")
        assert not await store.was_begun("b", "a/2/1")
        for unknown in (store.load("x"), store.journal("x"), store.save("x", 1, "", created.entry, False)):
            with pytest.raises(RunNotFoundError):
                await unknown
        store.close()

    asyncio.run(scenario())


def test_the_file_is_kept_safe(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = SqliteStore(tmp_path / "runs.db")
        pragmas = await store._do(
            lambda db: [db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
        )
        assert pragmas == ["wal", 2]
        store.close()

    asyncio.run(scenario())

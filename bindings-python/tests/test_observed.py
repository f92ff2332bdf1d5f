"""What a driver observes: every step once it is saved, every rejection, and nothing that did not happen."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hosting import DONE, plan
from test_driver import hosted, scenario
from turnlatch import EventRejectedError, SqliteStore

SECRET = "sk-SECRET\n\x1b[31m"


def told(observations: list[Any]) -> list[tuple[Any, ...]]:
    return [(seen["event"], seen.get("left"), seen["status"], seen.get("rejected")) for seen in observations]


def test_steps_and_rejections_are_observed_after_they_were_saved(tmp_path: Path) -> None:
    observations: list[Any] = []
    saved: list[int] = []

    def observed(observation: Any) -> None:
        with closing(sqlite3.connect(tmp_path / "runs.db")) as db:
            saved.extend(db.execute("SELECT revision FROM runs WHERE run_id = ?", (observation["run_id"],)).fetchone())
        observations.append(observation)

    async def body(store: Any) -> None:
        async with hosted(store, on_observation=observed) as host:
            await host.driver.start(plan())
            await host.driver.wait("r1", "waiting_user")
            assert host.driver.count_unfinished() == {"waiting_user": 1}
            assert (await host.driver.reply("r1", 9, SECRET))["code"] == "UNKNOWN_INTERACTION"
            with pytest.raises(EventRejectedError, match="EVENT_MALFORMED"):
                await host.driver.tell("r1", {"type": SECRET})  # type: ignore[typeddict-item]
            await host.driver.reply("r1", 1, SECRET, idempotency_key="k")
            await host.driver.reply("r1", 1, SECRET, idempotency_key="k")
            await host.ended("r1")

    scenario(body)(tmp_path)
    assert told(observations) == [
        ("created", None, "queued", None),
        ("slot_granted", "queued", "running", None),
        ("turn_finished", "running", "waiting_user", None),
        ("reply", None, "waiting_user", "UNKNOWN_INTERACTION"),
        ("unknown", None, "waiting_user", "EVENT_MALFORMED"),
        ("reply", "waiting_user", "queued", None),
        ("slot_granted", "queued", "running", None),
        ("turn_finished", "running", "succeeded", None),
    ]
    assert saved == [seen["revision"] for seen in observations]
    assert "SECRET" not in repr(observations)
    assert "file" not in repr(observations), "a question or an output"


@scenario
async def test_a_callback_that_fails_harms_nothing(store: Any) -> None:
    calls: list[str] = []

    def observed(observation: Any) -> None:
        calls.append(observation["event"])
        raise RuntimeError("the meter is broken")

    async with hosted(store, on_observation=observed) as host:
        await host.driver.start(plan())
        await host.driver.wait("r1", "waiting_user")
        await host.driver.reply("r1", 1, "b.txt")
        assert (await host.ended("r1"))["status"] == "succeeded"
        assert host.errors == []
    assert len(calls) == 6


def test_a_save_that_fails_is_not_observed(tmp_path: Path) -> None:
    class Failing(SqliteStore):
        broken = False

        async def save(self, *arguments: Any) -> None:
            if self.broken:
                raise OSError("the disk is full")
            await super().save(*arguments)

    async def body(_: Any) -> None:
        observations: list[Any] = []
        store = Failing(tmp_path / "other.db")
        async with hosted(store, on_observation=observations.append) as host:
            await host.driver.start(plan())
            await host.driver.wait("r1", "waiting_user")
            before = len(observations)
            store.broken = True
            with pytest.raises(OSError, match="full"):
                await host.driver.reply("r1", 1, DONE)
            assert len(observations) == before
        store.close()

    scenario(body)(tmp_path)

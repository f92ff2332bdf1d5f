"""One host as a process of its own, to be measured and killed: ``python one_host.py CONFIG``.

It says ``open`` when it has gone on with everything, plays its scene, says what came of it as JSON, and stays until its
input ends.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from hosting import plan
from hosts.agents import Agents
from turnlatch import AsyncioTimers, Driver, LocalSlots, SqliteStore, SubprocessRunner
from turnlatch.hosts.dbos import DbosDriver

AnyDriver = Driver | DbosDriver
DATABASE = {"embedded": "runs.sqlite", "dbos": "runs.db"}
"""The file of each kind of host in its folder."""


@asynccontextmanager
async def opened(config: dict[str, Any]) -> AsyncGenerator[AnyDriver, None]:
    """The host that the configuration names, after it has gone on with what is there."""
    folder, slots = Path(config["folder"]), config["slots"]
    processes = SubprocessRunner(Agents(folder))
    if config["kind"] == "embedded":
        store = SqliteStore(folder / DATABASE["embedded"])
        driver = Driver(slots=LocalSlots(slots), timers=AsyncioTimers(), processes=processes, store=store)
        await driver.recover()
        yield driver
        await driver.close()
        store.close()
        return
    place = {"database_url": config["url"]} if "url" in config else {"path": folder / DATABASE["dbos"]}
    works = config["kind"] != "client"
    part = {"processes": processes, "slots": slots, "executor_id": config["worker"]} if works else {}
    async with DbosDriver(**place, **part, works=works, poll_sec=config["poll_sec"]) as dbos:
        yield dbos


async def whole(driver: AnyDriver, run_id: str) -> None:
    """A run of two turns, with an answer in between."""
    await driver.start(plan(run_id))
    await answer(driver, run_id)


async def answer(driver: AnyDriver, run_id: str) -> None:
    await driver.wait(run_id, "waiting_user")
    await driver.reply(run_id, 1, f"{run_id}.txt")
    assert (await driver.wait(run_id))["status"] == "succeeded"


async def work(driver: AnyDriver, config: dict[str, Any]) -> dict[str, float]:
    """All runs at once, from their start to their end."""
    began = time.monotonic()
    await asyncio.gather(*(whole(driver, f"ask-{number}") for number in range(config["runs"])))
    return {"turns per second": 2 * config["runs"] / (time.monotonic() - began)}


async def enqueue(driver: AnyDriver, config: dict[str, Any]) -> dict[str, float]:
    """Runs are made and nobody carries them out: what the database can take."""
    began = time.monotonic()
    await asyncio.gather(*(driver.start(plan(f"{config['worker']}-{number}")) for number in range(config["runs"])))
    return {"runs made per second": config["runs"] / (time.monotonic() - began)}


async def leave(driver: AnyDriver, config: dict[str, Any]) -> dict[str, float]:
    """Many runs that wait for their user, and some in the middle of a turn that is begun again if it is lost."""

    async def asked(run_id: str) -> None:
        await driver.start(plan(run_id))
        await driver.wait(run_id, "waiting_user")

    await asyncio.gather(*(asked(f"ask-{number}") for number in range(config["runs"])))
    for number in range(config["held"]):
        await driver.start(plan(f"hold-{number}", interrupted_turn="retry"))
        await driver.wait(f"hold-{number}", "running")
    return {}


async def go_on(driver: AnyDriver, _: dict[str, Any]) -> dict[str, float]:
    """Answers a run that was left waiting."""
    began = time.monotonic()
    await answer(driver, "ask-0")
    return {"answer to end": time.monotonic() - began}


async def stand_by(_: AnyDriver, __: dict[str, Any]) -> dict[str, float]:
    """A worker without a scene of its own."""
    return {}


SCENES = {scene.__name__: scene for scene in (work, enqueue, leave, go_on, stand_by)}


async def main(config: dict[str, Any]) -> None:
    async with opened(config) as driver:
        print("open", flush=True)
        print(json.dumps(await SCENES[config["scene"]](driver, config)), flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))

"""A host in Python for tests that share a SQLite file between processes and languages (test_owner.py, and
sqlite-shared.test.ts and owner.test.ts in bindings-wasm/tests).

usage: sqlite_host.py ask|answer|journal|recover FILE     prints what it found as JSON
       sqlite_host.py hold FILE                           prints "held" and has the file open until its input ends
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from hosting import DONE, plan
from turnlatch import (
    AsyncioTimers,
    Command,
    Driver,
    LocalSlots,
    Run,
    SqliteStore,
    SubprocessRunner,
    replay,
)


def asks_then_finishes(run: Run, effect: Any) -> Command:
    return Command(["echo", DONE if "resume" in effect else "Which file?"])


async def ask(driver: Driver) -> Any:
    """Starts the run and leaves it with its question."""
    await driver.start(plan())
    return await driver.wait("r1", "waiting_user")


async def answer(driver: Driver) -> Any:
    """Goes on with the run that another host has left, to its end."""
    assert await driver.recover() == ["r1"]
    question = driver.run("r1").pending_view()["pending"]
    assert question is not None
    receipt = await driver.reply("r1", question["interaction_id"], "the second")
    assert receipt["kind"] == "accepted", receipt
    view = await driver.wait("r1")
    await driver.settled("r1")
    return view


async def main(what: str, path: str) -> Any:
    store = SqliteStore(path)
    try:
        if what == "hold":
            print("held", flush=True)
            sys.stdin.read()
            return None
        if what == "journal":
            run, _ = replay(plan(), await store.journal("r1"))
            return {"unfinished": await store.unfinished(), "same": run.to_json() == await store.load("r1")}
        parts: Any = {
            "slots": LocalSlots(1),
            "timers": AsyncioTimers(),
            "processes": SubprocessRunner(asks_then_finishes),
        }
        async with Driver(**parts, store=store) as driver:
            return await {"ask": ask, "answer": answer, "recover": Driver.recover}[what](driver)
    finally:
        store.close()


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(*sys.argv[1:]))))

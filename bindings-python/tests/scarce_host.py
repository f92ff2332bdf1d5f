"""A host that runs out of descriptors, in a process of its own; used by test_out_of_resources.py.

usage: scarce_host.py FOLDER LOCKS

For each number of descriptors that are left, a run is accepted, waits for its start, and succeeds when there are more.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

from hosting import DONE, plan, until
from turnlatch import AsyncioTimers, Command, Driver, LocalSlots, RetryPolicy, SqliteStore, SubprocessRunner

LIMIT = 64
MOST_LEFT = 12


def take_all() -> list[int]:
    taken: list[int] = []
    while True:
        try:
            taken.append(os.open(os.devnull, os.O_RDONLY))
        except OSError:
            return taken


async def main(folder: Path, locks: Path | None) -> dict[str, Any]:
    resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, LIMIT))
    store = SqliteStore(folder / "runs.db")
    processes = SubprocessRunner(lambda run, effect: Command(["echo", DONE], stdin="go"), locks=locks)
    errors: list[str] = []
    driver = Driver(
        slots=LocalSlots(1),
        timers=AsyncioTimers(),
        processes=processes,
        store=store,
        on_error=lambda run_id, what, error, attempt: errors.append(str(error)),
        retry=RetryPolicy(delay_sec=0.01, pause_sec=0.02),
    )
    outcomes: list[Any] = []
    open_before: list[int] = []
    async with driver:
        for left in range(MOST_LEFT):
            run_id = f"r{left}"
            errors.clear()
            taken = take_all()
            for _ in range(left):
                os.close(taken.pop())
            await driver.start(plan(run_id, execution_mode="auto"))
            # With the last of them there may be enough.
            while len(errors) < 4 and driver.view(run_id)["status"] != "succeeded":
                await asyncio.sleep(0.005)
            waited, status = len(errors) >= 4, driver.view(run_id)["status"]
            for descriptor in taken:
                os.close(descriptor)
            view = await asyncio.wait_for(driver.wait(run_id), 60)
            await driver.settled(run_id)
            await until(lambda: not processes.running(), 60)
            outcomes.append([waited, status, view["status"], sorted(set(errors))])
            open_before.append(len(os.listdir("/proc/self/fd")))
    await processes.close()
    store.close()
    return {"outcomes": outcomes, "open": open_before}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    print(json.dumps(asyncio.run(main(folder, folder / "locks" if sys.argv[2] == "locks" else None))))

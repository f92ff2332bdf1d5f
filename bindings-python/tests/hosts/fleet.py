"""Workers as processes, to be killed, stopped and continued, and a client that asks."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import psycopg

from hosting import processes_marked
from turnlatch.hosts.dbos import DbosDriver
from turnlatch.hosts.dbos.takeover import _key

from .agents import turns

TESTS = Path(__file__).resolve().parents[1]
QUICK_TAKEOVER = 3
# These end tests that hang; nothing is measured by them.
_LONGEST_SCENARIO_SEC = 300
_SLOWEST_CLOSE_SEC = 120


async def until(condition: Callable[[], bool]) -> None:
    """Waits as long as the scenario may take."""
    while not condition():
        await asyncio.sleep(0.05)


class Worker:
    """``launcher`` is the command that starts the worker's, if it is not to be started as it is."""

    def __init__(self, fleet: Fleet, executor_id: str, launcher: Sequence[str] = (), **options: Any) -> None:
        self.errors = fleet.folder / f"{executor_id}.err"
        config: dict[str, Any] = {
            "executor_id": executor_id,
            "database_url": fleet.url,
            "folder": str(fleet.folder),
            "mark": fleet.mark,
            "slots": 4,
            "poll_sec": 0.1,
            # Longer than a busy machine lets a worker wait for its turn; QUICK_TAKEOVER where failover is the subject.
            "takeover_after_sec": 10,
            "dies": "",
            "stuck": {},
            **options,
        }
        self.process = subprocess.Popen(
            [*launcher, sys.executable, "-m", "hosts.worker", json.dumps(config)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=open(self.errors, "ab"),  # noqa: SIM115
            env={**os.environ, "PYTHONPATH": str(TESTS)},
            text=True,
        )

    def opened(self) -> Worker:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line == "open\n", self.errors.read_text()
        return self

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)
        if number == signal.SIGKILL:
            self.process.wait()

    def close(self) -> None:
        """Ends it properly, if it is there."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            try:
                self.process.communicate("", timeout=_SLOWEST_CLOSE_SEC)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise AssertionError(f"a worker did not close: {self.errors.read_text()}") from None


class Fleet:
    """Workers that share a database and a folder."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder
        self.mark = uuid.uuid4().hex
        self.workers: list[Worker] = []

    def worker(self, executor_id: str, **options: Any) -> Worker:
        return self.begin(executor_id, **options).opened()

    def begin(self, executor_id: str, **options: Any) -> Worker:
        self.workers.append(Worker(self, executor_id, **options))
        return self.workers[-1]

    def client(self) -> DbosDriver:
        return DbosDriver(works=False, database_url=self.url, poll_sec=0.1)

    def ask(self, scenario: Callable[[DbosDriver], Coroutine[Any, Any, None]]) -> None:
        """Plays a scenario with a client."""

        async def main() -> None:
            async with self.client() as client:
                await asyncio.wait_for(scenario(client), _LONGEST_SCENARIO_SEC)

        asyncio.run(main())

    def started(self, run_id: str) -> list[int]:
        """The attempts that the run's agents have begun, in order."""
        return [
            attempt for what, slot, attempt in turns(self.folder) if what == "start" and slot.startswith(f"{run_id}/")
        ]

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """What the database answers."""
        with psycopg.connect(self.url) as connection:
            return connection.execute(query.encode(), values).fetchall()

    def held(self) -> set[str]:
        """The slots that are held."""
        return {row[0] for row in self.rows("SELECT slot_id FROM turnlatch_slots")}

    def is_present(self, executor_id: str) -> bool:
        """Whether the worker has its lease."""
        found = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = %s AND objid = %s"
        key = _key(executor_id)
        return bool(self.rows(found, key >> 32, key & 0xFFFFFFFF))

    def let_go(self, run_id: str) -> None:
        """Lets an agent that holds go on."""
        (self.folder / f"go-{run_id}").touch()

    def agents(self) -> list[str]:
        """The living processes of agents, whoever started them."""
        return [process for process in processes_marked(f"TURNLATCH_TEST={self.mark}") if "hosts.worker" not in process]

    def close(self) -> None:
        for worker in self.workers:
            worker.close()

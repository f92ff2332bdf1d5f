"""DBOS in this process, from launch to shutdown, and the work it hands over."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Coroutine
from functools import partial
from typing import Any

from dbos import DBOS

from ...parts import DriverMisused
from . import workflows
from .advance import telling
from .database import Database
from .tables import Displaced
from .turns import Office, Turn, persistently
from .workflows import APPLICATION

_LOOK_AGAIN_SEC = 1.0


class Engine:
    """Takes workflows from the queues and carries them out on the driver's event loop, where its processes live."""

    def __init__(self, office: Office, executor_id: str) -> None:
        self._office = office
        self._executor_id = executor_id
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._slots: dict[str, asyncio.Lock] = {}
        self._closing = False
        if workflows.worker is not None:
            message = "there is one DBOS for a process, and another driver has it; works=False needs none"
            raise DriverMisused("DRIVER_EXISTS", message)
        workflows.worker = self

    def launch(self, database: Database, application_version: str) -> None:
        """Begins to take workflows. What this worker left unfinished in an earlier life comes first."""
        DBOS(
            config={
                "name": APPLICATION,
                "system_database_url": database.url,
                "system_database_engine": database.engine,
                "application_version": application_version,
                "executor_id": self._executor_id,
                "log_level": "WARNING",
            }
        )
        DBOS.launch()

    def turn(self, run_id: str, slot_id: str) -> None:
        """Carries out a turn; called on a thread of DBOS."""
        self._on_loop(self._turn(run_id, slot_id))

    def timer(self, run_id: str, interaction_id: int, at: int) -> None:
        """Tells the run that its time has come; called on a thread of DBOS."""
        self._on_loop(self._timer(run_id, interaction_id, at))

    async def close(self) -> None:
        """Ends the processes of all turns and stops. What was under way is still this worker's in the database."""
        self._closing = True
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks)
        await asyncio.to_thread(DBOS.destroy)
        workflows.worker = None

    async def _turn(self, run_id: str, slot_id: str) -> None:
        # Should this worker take over from itself, the earlier one ends its process first.
        async with self._slots.setdefault(slot_id, asyncio.Lock()):
            await persistently(
                self._office.host,
                run_id,
                lambda: Turn(self._office, run_id, slot_id, self._executor_id).carry_out(),
            )
        self._slots.pop(slot_id, None)

    async def _timer(self, run_id: str, interaction_id: int, at: int) -> None:
        while (left := at - self._office.host.clock()) > 0:
            await asyncio.sleep(min(left / 1000, _LOOK_AGAIN_SEC))

        async def fire() -> None:
            step = telling({"type": "timer_fired", "interaction_id": interaction_id})
            self._office.took(await self._office.in_thread(partial(self._office.advance.change, run_id, step)))

        await persistently(self._office.host, run_id, fire)

    def _on_loop(self, work: Coroutine[Any, Any, None]) -> None:
        """Waits for work on the driver's loop. If that has gone, so has this worker's part in the workflow."""
        if self._closing or self._loop.is_closed():
            work.close()
            raise Displaced
        future = asyncio.run_coroutine_threadsafe(self._tracked(work), self._loop)
        while not concurrent.futures.wait([future], _LOOK_AGAIN_SEC).done:
            if self._loop.is_closed():
                raise Displaced
        if future.cancelled():
            raise Displaced
        future.result()

    async def _tracked(self, work: Coroutine[Any, Any, None]) -> None:
        if self._closing:
            work.close()
            raise Displaced
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await work
        finally:
            self._tasks.discard(task)

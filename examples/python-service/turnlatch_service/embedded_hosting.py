"""Runs in this process alone: the package's driver, its store in one SQLite file, and local slots."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from turnlatch import AsyncioTimers, Driver, DriverUsageError, LocalSlots, Plan, RunNotFoundError, Transition
from turnlatch.types import RunEvent

from .agents import Agents
from .data_folder import DataFolder
from .database import Database
from .errors import NotServed
from .hosting import Change, Hooks, SlotUse
from .jobs import JobRows, Jobs
from .listing import Listing, ListQuery
from .predecessor import predecessor_gone
from .run_folders import NewFolder
from .store import Changes, WatchedStore

_TRY_AGAIN_SEC = 30.0


class EmbeddedHosting:
    """One data folder, driven by one process."""

    def __init__(self, slots: int, folder: DataFolder, agents: Agents, hooks: Hooks) -> None:
        self.changes = Changes()
        self._store = WatchedStore(folder.file, self.changes, self._forget_soon)
        # Pages are long reads, for which nobody who makes a job should wait.
        self._writing, self._reading = Database(folder.file), Database(folder.file)
        self._jobs, self._listing = Jobs(self._writing), Listing()
        self._slots = LocalSlots(slots)
        self._locks = folder.locks
        self._driver = Driver(
            slots=self._slots,
            timers=AsyncioTimers(),
            processes=agents,
            store=self._store,
            on_notify=hooks.on_notify,
            on_observation=hooks.on_observation,
        )
        self._making: set[str] = set()
        self._made = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Goes on with what an earlier process left."""
        await self._jobs.prepare()
        await predecessor_gone(self._locks)
        await self._driver.recover()

    async def stop(self) -> None:
        """Carries out no more turns."""
        for task in self._tasks:
            task.cancel()
        await self._driver.close()

    async def close(self) -> None:
        """Closes the files."""
        self._store.close()
        self._writing.close()
        self._reading.close()

    async def make(self, plan: Plan, skill: str, folder: NewFolder) -> None:
        """Makes a run. Its job and its folder are there before it; a job without a run does not count."""
        async with self._only_maker_of(plan.run_id):
            if await self._jobs.exists(plan.run_id):
                raise NotServed("RUN_EXISTS", "there is a run of this id already")
            await self._jobs.note(plan.run_id, skill)
            try:
                await asyncio.to_thread(folder.prepare)
                if not folder.place():
                    folder.replace()
                await self._driver.start(plan)
            finally:
                await asyncio.to_thread(folder.discard)

    async def tell(self, run_id: str, event: RunEvent) -> Transition:
        """Applies an event."""
        try:
            return await self._driver.tell(run_id, event)
        finally:
            # Telling an ended run something takes it into memory again.
            with contextlib.suppress(RunNotFoundError):
                if self._driver.run(run_id).ended:
                    self._forget_soon(run_id)

    async def snapshot(self, run_id: str) -> str:
        """The run as it was saved last."""
        return await self._store.load(run_id)

    async def lines(self, run_id: str, after: int = 0) -> list[str]:
        """The lines of the run's journal after a revision."""
        return await self._store.lines(run_id, after)

    async def page(self, query: ListQuery) -> str:
        """One page of the list of jobs."""
        return await self._reading.do(lambda db: self._listing.page(JobRows(db), query))

    async def last_change(self) -> int:
        """The number of the newest change."""
        return await self._jobs.last_change()

    async def changes_after(self, number: int) -> list[Change]:
        """The next changes."""
        return await self._jobs.changes_after(number)

    async def slots(self) -> SlotUse:
        """The slots of this process."""
        granted = self._slots.granted()
        return SlotUse(self._slots.size, sorted(granted), len(self._slots.held() - granted))

    async def count_unfinished(self) -> dict[str, int]:
        """How many runs have not ended, by their status."""
        return self._driver.count_unfinished()

    @asynccontextmanager
    async def _only_maker_of(self, run_id: str) -> AsyncGenerator[None, None]:
        """Two requests for one id must not mix up their folders: the second waits and is told that it is taken."""
        async with self._made:
            await self._made.wait_for(lambda: run_id not in self._making)
            self._making.add(run_id)
        try:
            yield
        finally:
            async with self._made:
                self._making.discard(run_id)
                self._made.notify_all()

    def _forget_soon(self, run_id: str) -> None:
        self._spawn(self._forget(run_id))

    async def _forget(self, run_id: str) -> None:
        """Takes an ended run out of memory as soon as nothing is owed for it."""
        while True:
            try:
                await self._driver.wait(run_id)
                await self._driver.settled(run_id)
                self._driver.forget(run_id)
                return
            except DriverUsageError:
                await asyncio.sleep(_TRY_AGAIN_SEC)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

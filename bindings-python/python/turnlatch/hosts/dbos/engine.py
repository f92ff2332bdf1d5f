"""DBOS in this process, from launch to shutdown, and the work it hands over."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, ClassVar

from dbos import DBOS, error

from ..._host import log
from ...parts import DriverUsageError
from . import workflows
from .advance import telling
from .office import Office
from .tables import Displaced
from .turns import Turn, persistently
from .workflows import APPLICATION

_LOOK_AGAIN_SEC = 1.0
_FREE_SLOTS_SEC = 5.0  # how often slots are looked for that are held for no run


class Engine:
    """Takes workflows from the queues and carries them out on the driver's event loop, where its processes live."""

    _log_filter: ClassVar[Callable[[logging.LogRecord], bool] | None] = None

    def __init__(self, office: Office, executor_id: str) -> None:
        if workflows.worker is not None:
            raise _taken()
        workflows.worker = self
        self._office = office
        self._executor_id = executor_id
        self._tasks: set[asyncio.Task[Any]] = set()
        self._slots: dict[str, asyncio.Lock] = {}
        self._freeing: asyncio.Task[None] | None = None
        self._closing = False
        self._launched = False

    async def launch(self) -> None:
        """Begins to take workflows. What this worker left unfinished in an earlier life comes first."""
        await self._office.in_thread(self._launch)
        self._freeing = asyncio.create_task(self._free_slots())

    def _launch(self) -> None:
        settings = self._office.settings
        self._office.enqueuer.make_queues(settings.slots, settings.poll_sec)
        DBOS(
            config={
                "name": APPLICATION,
                "system_database_url": settings.url,
                "system_database_engine": self._office.database.engine,
                "application_version": settings.application_version,
                "executor_id": self._executor_id,
                "log_level": "WARNING",
            }
        )
        # DBOS gives the instance that there is, whatever it is told here.
        if (DBOS.executor_id, DBOS.application_version) != (self._executor_id, settings.application_version):
            raise _taken()
        self._launched = True
        self._filter_log()
        DBOS.launch()

    def turn(self, run_id: str, slot_id: str) -> None:
        """Carries out a turn; called on a thread of DBOS."""
        self._on_loop(self._turn(run_id, slot_id))

    def timer(self, run_id: str, interaction_id: int, at: int) -> None:
        """Tells the run that its time has come; called on a thread of DBOS."""
        self._on_loop(self._timer(run_id, interaction_id, at))

    async def close(self) -> None:
        """Stops, ends the processes of all turns, and lets others go on with what was under way."""
        self._closing = True
        if self._freeing is not None:
            self._freeing.cancel()
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks)
        if self._launched:
            await asyncio.to_thread(DBOS.destroy)
            await self._office.in_thread(self._hand_over)
        workflows.worker = None

    async def _free_slots(self) -> None:
        """Frees slots that are held for no run, now and then: one that is lost would be missing for ever."""
        while True:
            try:
                for slot_id in await self._office.in_thread(self._office.advance.free_unwanted):
                    log.warning("worker %s frees slot %s, which no run keeps", self._executor_id, slot_id)
            except Exception as error:
                log.warning("worker %s could not look for slots to free: %s", self._executor_id, error)
            await asyncio.sleep(_FREE_SLOTS_SEC)

    def _filter_log(self) -> None:
        # The filter stays when the worker closes, because threads of DBOS may outlive it; the next worker replaces it.
        if Engine._log_filter is not None:
            DBOS.logger.removeFilter(Engine._log_filter)
        Engine._log_filter = self._is_failure
        DBOS.logger.addFilter(self._is_failure)

    def _is_failure(self, record: logging.LogRecord) -> bool:
        """Whether DBOS logs a failure. It also logs turns that are canceled while their end is written down, and
        threads that still wait for a workflow's outcome when the engine closes; other workers continue those workflows.
        """
        cause = record.exc_info[1] if record.exc_info else None
        if isinstance(cause, error.DBOSAwaitedWorkflowCancelledError):
            return False
        return not (self._closing and type(cause) is error.DBOSException)

    def _hand_over(self) -> None:
        # If it fails, the others find out by themselves.
        try:
            with self._office.database.transaction() as db:
                self._office.tables.displace(db, self._executor_id)
            self._office.enqueuer.hand_over(self._executor_id)
        except Exception as error:
            log.warning("worker %s could not hand over: %s", self._executor_id, error)

    async def _turn(self, run_id: str, slot_id: str) -> None:
        async def carry_out() -> None:
            while True:
                try:
                    return await Turn(self._office, run_id, slot_id, self._executor_id).carry_out()
                except Displaced:
                    # Whoever took it away may have died before he handed it over: then nobody else goes on with it.
                    if not await self._is_carried_here(slot_id):
                        raise

        # Should this worker take over from itself, the earlier one ends its process first.
        async with self._slots.setdefault(slot_id, asyncio.Lock()):
            try:
                await persistently(self._office.host, run_id, carry_out)
            finally:
                self._slots.pop(slot_id, None)

    async def _is_carried_here(self, slot_id: str) -> bool:
        carrier = await self._office.in_thread(partial(self._office.enqueuer.carrier, slot_id))
        return carrier == self._executor_id

    async def _timer(self, run_id: str, interaction_id: int, at: int) -> None:
        async def fire() -> None:
            while (left := at - self._office.host.now()) > 0:
                await asyncio.sleep(min(left / 1000, _LOOK_AGAIN_SEC))
            step = telling({"type": "timer_fired", "interaction_id": interaction_id})
            await self._office.change(partial(self._office.advance.change, run_id, step))

        await persistently(self._office.host, run_id, fire)

    def _on_loop(self, work: Coroutine[Any, Any, None]) -> None:
        """Waits for work on the driver's loop. If that has gone, so has this worker's part in the workflow."""
        loop = self._office.loop
        if self._closing or loop.is_closed():
            work.close()
            raise Displaced
        future = asyncio.run_coroutine_threadsafe(self._tracked(work), loop)
        while not concurrent.futures.wait([future], _LOOK_AGAIN_SEC).done:
            if loop.is_closed():
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


def _taken() -> DriverUsageError:
    message = "there is one DBOS for a process, and somebody else has it; a client (works=False) needs none"
    return DriverUsageError("DRIVER_EXISTS", message)

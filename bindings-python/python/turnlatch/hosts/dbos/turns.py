"""Carries out turns: a workflow on the queue is a slot, from its grant until nothing of its process is left.

No decision about a run is made here. What is to be done follows from the run as it is saved: as long as it keeps this
slot's process, what it owes to that process is performed and what the process reports is told; then the process is
ended, and the slot is free.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, cast
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from ..._host import Host, call
from ..._live import Live, Report
from ..._performer import Performer
from ...errors import EventRejectedError, LoadError
from ...parts import RunNotFoundError, Store
from ...run import Run
from .advance import Granted, telling
from .office import Office
from .tables import Displaced, Hold

T = TypeVar("T")


class Turn:
    """One slot's turn, or, of a sticky run, its turns."""

    def __init__(self, office: Office, run_id: str, slot_id: str, executor_id: str) -> None:
        self._office = office
        self._run_id = run_id
        self._hold = Hold(slot_id, executor_id, uuid4().hex)
        # The performer asks the store for one thing only: to note what was begun.
        self._host = replace(office.host, store=cast("Store", _Begun(office, self._hold)))
        self._performer = Performer(self._host, self._post)
        self._loop = asyncio.get_running_loop()
        self._inbox: deque[Report] = deque()
        self._stirred = asyncio.Event()
        self._performed: set[str] = set()

    async def carry_out(self) -> None:
        """Returns when the slot is free again. Raises :class:`Displaced` if somebody else goes on with it."""
        with self._office.news.watching(self._run_id, self._stirred):
            try:
                await self._use_slot(await self._granted())
            except (LoadError, RunNotFoundError):
                # There is no run that could say what becomes of its slot.
                await self._in_thread(partial(self._office.advance.abandon, self._run_id, self._hold))
                raise
            await self._in_thread(partial(self._office.advance.release, self._hold))

    async def _use_slot(self, granted: Granted) -> None:
        """Carries out what the run wants of the slot's process, until the run does not keep it and it is gone."""
        live = Live(granted.advanced.run)
        try:
            if self._is_kept_by(live.run):
                await self._resume(live.run, granted.begun)
            while self._is_kept_by(live.run):
                await self._perform(live)
                await self._listen(live)
        finally:
            # Also if it is not this worker's any more, or the worker closes: no process outlives its slot.
            await self._end_process()

    async def _granted(self) -> Granted:
        grant = partial(self._office.advance.grant, self._run_id, self._hold, self._office.settings.slots)
        while True:
            async with self._office.granting:
                granted = await self._in_thread(grant) if self._office.may_begin() else None
            if granted is not None:
                self._office.took(granted.advanced)
                return granted
            await asyncio.sleep(self._office.settings.poll_sec)

    def _is_kept_by(self, run: Run) -> bool:
        return run.outstanding()["keep"].get("process") == self._hold.slot_id

    async def _resume(self, run: Run, begun: bool) -> None:
        """Goes on as the core says; for a turn that nobody has begun, that is at its beginning."""
        processes = self._host.processes
        alive = self._hold.slot_id in await call(processes.alive)
        found = run.after_restart(process_alive=alive, begun=begun)
        begins = run.outstanding().get("turn_effect_id")
        if begins is not None and not found["effects"]:
            self._performed.add(begins)
        if "attach" in found:
            slot_id, attempt_number = found["attach"]["slot_id"], found["attach"]["attempt_number"]
            await call(processes.attach, slot_id, self._performer.finished(self._run_id, attempt_number, slot_id))
        if "event" in found:
            self._inbox.append(Report(found["event"]))

    async def _perform(self, live: Live) -> None:
        """Begins the run's turn in this slot's process, if that has not been done."""
        begins = live.run.outstanding().get("turn_effect_id")
        if begins is not None and begins not in self._performed:
            self._performed.add(begins)
            # This worker holds the slot, so no other can have begun the turn, and it has the process.
            live.effects.extend(live.run.after_restart(process_alive=True, begun=False)["effects"])
        await self._performer.perform_all(live)
        if live.owed:
            self._performed.difference_update(effect["id"] for effect in live.owed)
            live.owed.clear()
            await asyncio.sleep(self._host.retry.wait_after(self._host.retry.attempts))

    async def _listen(self, live: Live) -> None:
        """Tells what the process has reported, or waits until it reports or the run has changed."""
        if self._inbox:
            await self._tell(live)
            return
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._stirred.wait(), self._office.settings.poll_sec)
        self._stirred.clear()
        if not self._inbox:
            await self._look(live)

    async def _tell(self, live: Live) -> None:
        report = self._inbox[0]
        try:
            advanced = await self._in_thread(
                partial(self._office.advance.change, self._run_id, telling(report.event), self._hold)
            )
        except EventRejectedError as error:
            self._host.observe(error.observation)
            await self._host.report(self._run_id, report.event, error, 1)
            if (replacement := report.replacement(error)) is not None:
                self._inbox[0] = replacement
                return
        else:
            live.take(advanced.run)
            self._office.took(advanced)
        self._inbox.popleft()

    async def _look(self, live: Live) -> None:
        def look(db: sa.Connection) -> tuple[bool, str | None]:
            changed = self._office.tables.revision(db, self._run_id) != live.run.revision
            snapshot = self._office.tables.snapshot(db, self._run_id) if changed else None
            return self._office.tables.holds(db, self._hold), snapshot

        is_mine, snapshot = await self._in_thread(partial(self._office.advance.read, look))
        if not is_mine:
            raise Displaced
        if snapshot is not None:
            live.take(Run.from_json(snapshot))

    async def _end_process(self) -> None:
        # The slot is kept until the process is gone (LIFE-7), however often that has to be tried.
        terminate = partial(self._host.processes.terminate, self._hold.slot_id)
        while not await self._host.attempt(self._run_id, terminate):
            await asyncio.sleep(self._host.retry.wait_after(self._host.retry.attempts))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """Tries until the database answers: a report that has arrived must not be lost."""
        attempt = 0
        while True:
            try:
                return await self._office.in_thread(work)
            except SQLAlchemyError as error:
                attempt += 1
                await self._host.report(self._run_id, None, error, attempt)
                await asyncio.sleep(self._host.retry.wait_after(attempt))

    def _post(self, _run_id: str, report: Report) -> None:
        """Takes what the process reports, from any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._receive, report)

    def _receive(self, report: Report) -> None:
        self._inbox.append(report)
        self._stirred.set()


class _Begun:
    """The one thing that a performer asks of a store."""

    def __init__(self, office: Office, hold: Hold) -> None:
        self._office = office
        self._hold = hold

    async def mark_begun(self, run_id: str, effect_id: str) -> None:
        await self._office.in_thread(partial(self._office.advance.mark_begun, run_id, effect_id, self._hold))


async def persistently(host: Host, run_id: str, work: Callable[[], Awaitable[Any]]) -> None:
    """Does a workflow's work. A fault in it, or in a part, must not end the workflow: the run would wait for ever."""
    attempt = 0
    while True:
        try:
            await work()
            return
        except (LoadError, RunNotFoundError) as error:
            # There is no run to go on with, and what was held for it is free.
            await host.report(run_id, None, error, 1)
            return
        except Exception as error:
            attempt += 1
            await host.report(run_id, None, error, attempt)
            await asyncio.sleep(host.retry.wait_after(attempt))

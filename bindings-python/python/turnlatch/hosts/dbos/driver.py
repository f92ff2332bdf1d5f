"""Hosts runs on DBOS: the driver of a worker, or of a client that only asks."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, cast

import sqlalchemy as sa

from ..._core import __version__
from ..._host import Host, RetryPolicy
from ..._owner import DatabaseOwner
from ...local import AsyncioTimers, LocalSlots, MemoryStore, wall_clock
from ...parts import Clock, DriverUsageError, OnError, OnNotify, OnObservation, Processes
from ...run import Journal, Plan, Run, Transition
from ...types import Receipt, RunEvent, Status, StatusView
from .advance import Beside, Step, telling
from .engine import Engine
from .ledger import Change
from .office import Office, Settings
from .takeover import Attendance
from .workflows import SlotUse

T = TypeVar("T")

_ONLY_WORKER = "local"  # of a SQLite file, whatever the machine is called when it is started again
_LOOK_AGAIN_SEC = 5.0  # changes are announced; this is for those that happen while nobody can hear


class DbosDriver:
    """Drives runs on DBOS. Use it as ``async with DbosDriver(...) as driver``, from one event loop.

    Without ``database_url`` everything is in the SQLite file ``path``, for one process. With the URL of a PostgreSQL
    database any number of workers and clients share the runs. A worker (``works=True``) needs ``processes``, the
    number of ``slots`` that all workers have together, and an ``executor_id`` that no other worker has; a process can
    have one. A client (``works=False``) starts, answers and watches runs, and carries out no turn.

    ``takeover_after_sec`` is the time after which a silent worker is taken for dead, ``poll_sec`` how often
    workers look for work. Workers only take work of their ``application_version``. ``compact`` keeps journals without
    the turns' texts.
    """

    def __init__(
        self,
        *,
        processes: Processes | None = None,
        slots: int = 1,
        database_url: str | None = None,
        path: str | PathLike[str] = "turnlatch.db",
        works: bool = True,
        executor_id: str | None = None,
        application_version: str = f"turnlatch-{__version__}",
        poll_sec: float = 0.2,
        takeover_after_sec: float = 5.0,
        compact: bool = False,
        clock: Clock = wall_clock,
        on_notify: OnNotify | None = None,
        on_error: OnError | None = None,
        on_observation: OnObservation | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        if slots < 1:
            raise ValueError("at least one slot is needed")
        if works and processes is None:
            raise ValueError("a worker needs processes; works=False makes a client")
        if database_url is not None and not database_url.startswith(
            ("postgresql:", "postgres:", "postgresql+psycopg:")
        ):
            raise ValueError("database_url is the address of a PostgreSQL database; a SQLite file is named by path")
        self._path = None if database_url is not None else Path(path).resolve()
        url = database_url if database_url is not None else _sqlite_url(Path(path).resolve())
        own_name = socket.gethostname() if database_url is not None else _ONLY_WORKER
        self._executor_id = (executor_id if executor_id is not None else own_name) if works else None
        name = f"turnlatch {self._executor_id}" if works else "turnlatch client"
        self._settings = Settings(url, name, application_version, slots, poll_sec, compact)
        self._takeover_after_sec = takeover_after_sec
        self._on_notify = on_notify
        # Slots, timers and the store are DBOS and the database: of a host's own parts only the others are asked.
        unused = LocalSlots(slots), AsyncioTimers(), cast("Processes", processes), MemoryStore()
        self._host = Host(*unused, clock, None, on_error, retry or RetryPolicy(), on_observation)
        self._engine: Engine | None = None
        self._office: Office | None = None
        self._closed = False

    async def __aenter__(self) -> DbosDriver:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        """Connects, makes the tables that are not there and, as a worker, begins to work."""
        if self._office is not None or self._closed:
            raise DriverUsageError("DRIVER_CLOSED", "a driver is opened once")
        self._owner = None if self._path is None else DatabaseOwner(self._path)
        self._office = Office(self._host, self._settings, self._on_notify)
        try:
            await self._office.open()
            if self._executor_id is not None:
                await self._begin_to_work(self._office, self._executor_id)
        except BaseException:
            await self.close()
            raise

    async def stop_work(self) -> None:
        """A worker ends the processes of its turns and hands them over: whoever works next tells the core that they
        were lost. From then on the driver is a client, until it is closed."""
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.close()
        office = self._office
        if office is not None and office.attendance is not None:
            await office.in_thread(office.attendance.stop)

    async def close(self) -> None:
        """Stops, as :meth:`stop_work` does, and disconnects."""
        office, was_closed = self._office, self._closed
        self._closed = True
        if office is None or was_closed:
            return
        await self.stop_work()
        await office.close()
        if self._owner is not None:
            self._owner.release()

    async def start(self, plan: Plan, beside: Beside | None = None) -> str:
        """Makes a run of an admitted plan and enqueues its first turn. Returns its id.

        ``beside`` is called on a thread, in the transaction that makes the run, with its connection: what it writes is
        there if and only if the run is. If the connection is lost it is called once more; PostgreSQL ends one whose
        transaction does nothing for 5 seconds.
        """
        office = self._opened()
        return (await office.change(partial(office.advance.create, plan, beside))).run.run_id

    async def reply(
        self,
        run_id: str,
        interaction_id: int,
        response: Any,
        idempotency_key: str | None = None,
        expected_revision: int | None = None,
    ) -> Receipt:
        """Takes a user's reply. The receipt is given when the reply is saved."""

        def step(run: Run, now: int) -> Transition:
            return run.reply(
                interaction_id, response, now, idempotency_key=idempotency_key, expected_revision=expected_revision
            )

        return cast("Receipt", (await self._change(run_id, step)).receipt)

    async def cancel(self, run_id: str, reason: str | None = None) -> Receipt:
        """Ends a run. :meth:`settled` waits until its process is gone and its slot given back."""
        return cast("Receipt", (await self._change(run_id, lambda run, now: run.cancel(now, reason))).receipt)

    async def tell(self, run_id: str, event: RunEvent) -> Transition:
        """Applies any event, or raises :class:`turnlatch.EventRejectedError`."""
        return await self._change(run_id, telling(event))

    async def run(self, run_id: str) -> Run:
        """The run as it is saved, to be read. Raises :class:`turnlatch.RunNotFoundError` if there is none."""
        return Run.from_json(await self.snapshot(run_id))

    async def snapshot(self, run_id: str) -> str:
        """The run as it is saved, as JSON text."""
        office = self._opened()
        return await office.read(lambda db: office.tables.snapshot(db, run_id))

    async def view(self, run_id: str) -> StatusView:
        """The run as a client sees it."""
        return (await self.run(run_id)).status_view()

    async def wait(self, run_id: str, *statuses: Status) -> StatusView:
        """Waits until the run is seen with one of these statuses or has ended. A status that lasts shorter than a look
        at the database may be missed."""
        stirred = asyncio.Event()
        with self._opened().news.watching(run_id, stirred):
            while True:
                run = await self.run(run_id)
                if run.ended or run.status in statuses:
                    return run.status_view()
                await _within(stirred, _LOOK_AGAIN_SEC)

    async def settled(self, run_id: str) -> None:
        """Waits until no turn of the run is carried out by anybody: its processes are gone, its slots given back."""
        office = self._opened()
        while await office.read(lambda db: office.tables.slots_of(db, run_id)):
            await asyncio.sleep(self._settings.poll_sec / 4)
            self._opened()

    async def changes(self) -> AsyncIterator[str | None]:
        """The id of every run that changes from now on, in any process; ``None`` after a gap, when any may have."""
        async for run_id in self._opened().news.follow():
            self._opened()
            yield run_id

    async def journal(self, run_id: str) -> Journal:
        """The run's journal."""
        return Journal.from_lines(run_id, await self.lines(run_id))

    async def lines(self, run_id: str, after: int = 0) -> list[str]:
        """The lines of the run's journal after a revision, for somebody who follows it."""
        office = self._opened()
        return await office.read(lambda db: office.tables.lines(db, run_id, after))

    async def unfinished(self) -> list[str]:
        """The runs that have not ended, oldest first."""
        office = self._opened()
        return await office.read(office.tables.unfinished)

    async def count_unfinished(self) -> dict[str, int]:
        """How many runs have not ended, by their status."""
        office = self._opened()
        return await office.read(office.tables.count_unfinished)

    async def slots(self) -> SlotUse:
        """The slots of all workers together, as the database has them."""
        office = self._opened()
        held = await office.read(office.tables.held_slots)
        waiting = (await self.count_unfinished()).get("queued", 0)  # a run asks for a slot exactly while it is queued
        return SlotUse(await office.in_thread(office.enqueuer.slots), held, waiting)

    async def last_change(self) -> int:
        """The number of the newest entry in all journals; 0 if there is none."""
        office = self._opened()
        return await office.in_thread(office.ledger.last_change)

    async def changes_after(self, number: int, most: int = 500) -> list[Change]:
        """The next entries of all journals. Whoever asks again after the last of them, whenever :meth:`changes` says
        so, misses none: numbers are given in the order in which entries can be seen."""
        office = self._opened()
        return await office.in_thread(partial(office.ledger.changes_after, number, most))

    async def read(self, query: Callable[[sa.Connection], T]) -> T:
        """The answer to a query of one's own, on a thread: for tables that are kept beside those of the runs."""
        return await self._opened().read(query)

    async def write(self, work: Callable[[sa.Connection], T]) -> T:
        """The same in a transaction that is committed. If the connection is lost, the work is done once more."""
        office = self._opened()
        return await office.in_thread(partial(office.advance.write, work))

    async def _change(self, run_id: str, step: Step) -> Transition:
        office = self._opened()
        return (await office.change(partial(office.advance.change, run_id, step))).applied

    async def _begin_to_work(self, office: Office, executor_id: str) -> None:
        self._engine = Engine(office, executor_id)
        if office.database.is_postgres:
            attendance = Attendance(
                office.database, office.tables, office.enqueuer, executor_id, self._takeover_after_sec
            )
            await office.in_thread(attendance.arrive)
            attendance.start()
            office.attendance = attendance
        await self._engine.launch()

    def _opened(self) -> Office:
        if self._office is None or self._closed:
            raise DriverUsageError("DRIVER_CLOSED", "the driver is closed, or was not opened")
        if asyncio.get_running_loop() is not self._office.loop:
            raise DriverUsageError("OTHER_EVENT_LOOP", "a driver belongs to the event loop it was opened on")
        return self._office


def _sqlite_url(path: Path) -> str:
    return sa.URL.create("sqlite", database=str(path)).render_as_string()


async def _within(stirred: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(stirred.wait(), seconds)
    except asyncio.TimeoutError:
        return
    stirred.clear()

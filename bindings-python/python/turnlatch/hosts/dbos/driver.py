"""Hosts runs on DBOS: the driver of a worker, or of a client that only asks."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, cast

import sqlalchemy as sa
from dbos import DBOS, DBOSClient

from ..._core import __version__
from ..._host import Host, RetryPolicy, log, settle
from ...local import AsyncioTimers, LocalSlots, MemoryStore, wall_clock
from ...parts import Clock, DriverMisused, OnError, OnNotify, Processes
from ...run import Applied, Journal, Plan, Run
from ...types import Event, Notify, Receipt, StatusView
from .advance import Advance, Advanced, Step, telling
from .changes import Changes, Listener
from .database import Database, FileLock
from .engine import Engine
from .tables import Tables
from .takeover import Attendance
from .workflows import APPLICATION, Enqueuer

T = TypeVar("T")

_LOOK_AGAIN_SEC = 1.0
_THREADS = 16


class DbosDriver:
    """Drives runs on DBOS. Use it as ``async with DbosDriver(...) as driver``, from one event loop.

    Without ``database_url`` everything is in the SQLite file ``path``, for one process. With the URL of a PostgreSQL
    database any number of workers and clients share the runs. A worker (``works=True``) needs ``processes``, the
    number of ``slots`` that all workers have together, and an ``executor_id`` that no other worker has; a process can
    have one. A client (``works=False``) starts, answers and watches runs, and carries out no turn.

    ``takeover_after`` is the number of seconds after which a silent worker is taken for dead, ``poll`` how often
    workers look for work. Workers only take work of their ``application_version``.
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
        poll: float = 0.2,
        takeover_after: float = 5.0,
        compact: bool = False,
        clock: Clock = wall_clock,
        on_notify: OnNotify | None = None,
        on_error: OnError | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        if slots < 1:
            raise ValueError("at least one slot is needed")
        if works and processes is None:
            raise ValueError("a worker needs processes; works=False makes a client")
        self.slots = slots
        self.poll = poll
        self._path = None if database_url is not None else Path(path).resolve()
        self._url = database_url if database_url is not None else f"sqlite:///{self._path}"
        self._works = works
        self._executor_id = executor_id if executor_id is not None else socket.gethostname()
        self._version = application_version
        self._takeover_after = takeover_after
        self._compact = compact
        self._on_notify = on_notify
        # Slots, timers and the store are DBOS and the database: of a host's own parts only the others are asked.
        unused = LocalSlots(slots), AsyncioTimers(), MemoryStore()
        parts = (*unused[:2], cast("Processes", processes), unused[2])
        self.host = Host(*parts, clock, None, on_error, retry or RetryPolicy())
        self._open = False
        self._closed = False

    async def __aenter__(self) -> DbosDriver:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        """Connects, makes the tables that are not there and, as a worker, begins to work."""
        if self._open or self._closed:
            raise DriverMisused("DRIVER_CLOSED", "a driver is opened once")
        self._loop = asyncio.get_running_loop()
        self.news = Changes(self._loop)
        self._notices: asyncio.Queue[tuple[str, Notify]] = asyncio.Queue()
        self._background: set[asyncio.Task[Any]] = set()
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="turnlatch-dbos")
        self._file_lock = None if self._path is None else FileLock(self._path)
        self._engine: Engine | None = None
        self._attendance: Attendance | None = None
        self._listener: Listener | None = None
        self._open = True
        try:
            await self.in_thread(self._connect)
            if self._works:
                await self._begin_to_work()
        except BaseException:
            await self.close()
            raise
        self._spawn(self._pass_on_notices())

    async def close(self) -> None:
        """Stops. A worker ends the processes of its turns and hands them over: whoever works next tells the core that
        they were lost."""
        if self._closed or not self._open:
            self._closed = True
            return
        self._closed = True
        for task in self._background:
            task.cancel()
        if self._engine is not None:
            await self._engine.close()
        await self.in_thread(self._disconnect)
        self._threads.shutdown()
        self.news.tell(None)

    async def start(self, plan: Plan) -> str:
        """Makes a run of an admitted plan and enqueues its first turn. Returns its id."""
        self._check()
        advanced = await self._unbroken(partial(self.advance.create, plan))
        return advanced.run.run_id

    async def reply(
        self,
        run_id: str,
        interaction_id: int,
        response: Any,
        idempotency_key: str | None = None,
        expected_revision: int | None = None,
    ) -> Receipt:
        """Takes a user's reply. The receipt is given when the reply is saved."""

        def step(run: Run, now: int) -> Applied:
            return run.reply(
                interaction_id, response, now, idempotency_key=idempotency_key, expected_revision=expected_revision
            )

        return cast("Receipt", (await self._change(run_id, step)).receipt)

    async def cancel(self, run_id: str, reason: str | None = None) -> Receipt:
        """Ends a run. :meth:`settled` waits until its process is gone and its slot given back."""
        return cast("Receipt", (await self._change(run_id, lambda run, now: run.cancel(now, reason))).receipt)

    async def tell(self, run_id: str, event: Event) -> Applied:
        """Applies any event, or raises :class:`turnlatch.Rejected`."""
        return await self._change(run_id, telling(event))

    async def run(self, run_id: str) -> Run:
        """The run as it is saved, to be read. Raises :class:`turnlatch.RunUnknown` if there is none."""
        self._check()
        return Run.from_json(await self._read(lambda db: self.tables.snapshot(db, run_id)))

    async def view(self, run_id: str) -> StatusView:
        """The run as a client sees it."""
        return (await self.run(run_id)).status_view()

    async def wait(self, run_id: str, *statuses: str) -> StatusView:
        """Waits until the run is seen with one of these statuses or has ended. A status that lasts shorter than a look
        at the database may be missed."""
        stirred = asyncio.Event()
        with self.news.watching(run_id, stirred):
            while True:
                run = await self.run(run_id)
                if run.ended or run.status in statuses:
                    return run.status_view()
                await _within(stirred, _LOOK_AGAIN_SEC)

    async def settled(self, run_id: str) -> None:
        """Waits until no turn of the run is carried out by anybody: its processes are gone, its slots given back."""
        self._check()
        while await self._read(lambda db: self.tables.slots_of(db, run_id)):
            self._check()
            await asyncio.sleep(self.poll / 4)

    async def changes(self) -> AsyncIterator[str | None]:
        """The id of every run that changes from now on, in any process; ``None`` after a gap, when any may have."""
        self._check()
        async for run_id in self.news.follow():
            self._check()
            yield run_id

    async def journal(self, run_id: str) -> Journal:
        """The run's journal."""
        return Journal.from_lines(run_id, await self.lines(run_id))

    async def lines(self, run_id: str, after: int = 0) -> list[str]:
        """The lines of the run's journal after a revision, for somebody who follows it."""
        self._check()
        return await self._read(lambda db: self.tables.lines(db, run_id, after))

    async def unfinished(self) -> list[str]:
        """The runs that have not ended, oldest first."""
        self._check()
        return await self._read(self.tables.unfinished)

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Does what waits for the database."""
        return await self._loop.run_in_executor(self._threads, work)

    def took(self, advanced: Advanced) -> None:
        """Looks after what is to be done after a commit; called on the event loop."""
        run_id = advanced.run.run_id
        if self._listener is None and advanced.applied.entry is not None:
            self.news.tell(run_id)
        for effect in advanced.applied.effects:
            if effect["type"] == "notify":
                self._notices.put_nowait((run_id, effect))
        if advanced.withdrawn and not self._closed:
            self._spawn(self._withdraw(advanced))

    # Opening and closing.

    def _connect(self) -> None:
        DBOS.migrate(self._url)
        self._database = Database(self._url)
        client = DBOSClient(system_database_engine=self._database.engine, application_name=APPLICATION)
        self._enqueuer = Enqueuer(client, self._version)
        self.tables = Tables(self._database, self._compact)
        self.tables.create_all()
        self.advance = Advance(self._database, self.tables, self._enqueuer, self.host.clock)
        if self._database.is_postgres:
            self._listener = Listener(self._url, self.news.tell)
            self._listener.start()

    async def _begin_to_work(self) -> None:
        engine = Engine(self, self._executor_id)
        if self._database.is_postgres:
            attendance = Attendance(
                self._database, self.tables, self._enqueuer, self._executor_id, self._takeover_after
            )
            try:
                await self.in_thread(attendance.arrive)
            except BaseException:
                await engine.close()
                raise
            self._attendance = attendance
        self._engine = engine
        await self.in_thread(partial(self._enqueuer.make_queues, self.slots, self.poll))
        await self.in_thread(partial(engine.launch, self._database, self._version))
        if self._attendance is not None:
            self._attendance.start()

    def _disconnect(self) -> None:
        if self._listener is not None:
            self._listener.stop()
        if self._engine is not None:
            self._hand_over()
        if self._attendance is not None:
            self._attendance.stop()
        if hasattr(self, "_database"):
            self._enqueuer.close()
            self._database.close()
        if self._file_lock is not None:
            self._file_lock.release()

    def _hand_over(self) -> None:
        """Lets others go on at once. If that fails, they find out by themselves."""
        try:
            with self._database.transaction() as db:
                self.tables.displace(db, self._executor_id)
            self._enqueuer.hand_over(self._executor_id)
        except Exception as error:
            log.warning("worker %s could not hand over: %s", self._executor_id, error)

    # Reading and changing runs.

    async def _read(self, query: Callable[[sa.Connection], T]) -> T:
        return await self.in_thread(partial(self.advance.read, query))

    async def _change(self, run_id: str, step: Step) -> Applied:
        self._check()
        return (await self._unbroken(partial(self.advance.change, run_id, step))).applied

    async def _unbroken(self, work: Callable[[], Advanced]) -> Advanced:
        """Runs to the end also if the caller is cancelled: what was committed must not be forgotten."""

        async def change() -> Advanced:
            advanced = await self.in_thread(work)
            self.took(advanced)
            return advanced

        return await asyncio.shield(asyncio.ensure_future(change()))

    async def _withdraw(self, advanced: Advanced) -> None:
        run_id = advanced.run.run_id
        try:
            await self.in_thread(partial(self._enqueuer.withdraw, run_id, advanced.withdrawn))
        except Exception as error:
            log.warning("run %s: what it does not want any more could not be withdrawn: %s", run_id, error)

    async def _pass_on_notices(self) -> None:
        """Notifies in order, apart from everything else: a callback may take its time, and may ask the driver."""
        while True:
            run_id, effect = await self._notices.get()
            if self._on_notify is not None:
                try:
                    await settle(self._on_notify(run_id, effect))
                except Exception as error:
                    await self.host.report(run_id, effect, error, 1)

    def _check(self) -> None:
        if self._closed or not self._open:
            raise DriverMisused("DRIVER_CLOSED", "the driver is closed, or was not opened")
        if asyncio.get_running_loop() is not self._loop:
            raise DriverMisused("OTHER_EVENT_LOOP", "a driver belongs to the event loop it was opened on")

    def _spawn(self, work: Any) -> None:
        task = self._loop.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


async def _within(stirred: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(stirred.wait(), seconds)
    except asyncio.TimeoutError:
        return
    stirred.clear()

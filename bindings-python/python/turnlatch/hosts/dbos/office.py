"""What a driver, its turns and its timers share: the database, and what is to be done after a commit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import sqlalchemy as sa
from dbos import DBOS, DBOSClient

from ..._host import Host, call, log
from ...errors import EventRejectedError
from ...parts import OnNotify
from ...types import Notify
from .advance import Advance, Advanced
from .changes import Changes, Listener
from .database import Database
from .ledger import Ledger
from .tables import Tables
from .takeover import Attendance
from .workflows import APPLICATION, Enqueuer

T = TypeVar("T")

_THREADS = 16


@dataclass(frozen=True, slots=True)
class Settings:
    """What a driver was told of the database and the queues; ``name`` is what the database calls its sessions."""

    url: str
    name: str
    application_version: str
    slots: int
    poll_sec: float
    compact: bool


class Office:
    """Belongs to one event loop. What waits for the database is done by threads."""

    def __init__(self, host: Host, settings: Settings, on_notify: OnNotify | None) -> None:
        self.host = host
        self.settings = settings
        self.attendance: Attendance | None = None
        self.loop = asyncio.get_running_loop()
        self.news = Changes(self.loop)
        self.database = Database(settings.url, settings.name)
        self.tables = Tables(self.database, settings.compact)
        # One at a time: grants wait for each other in the database anyway, and a worker that is cut off leaves no more
        # than one there that holds the lock of the slots until its time is over.
        self.granting = asyncio.Lock()
        self._on_notify = on_notify
        self._notices: asyncio.Queue[tuple[str, Notify]] = asyncio.Queue()
        self._background: set[asyncio.Task[Any]] = set()
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="turnlatch-dbos")
        self._listener: Listener | None = None

    async def open(self) -> None:
        """Connects, and makes the tables that are not there."""
        client = await self.in_thread(self._connect)
        self.enqueuer = Enqueuer(client, self.settings.application_version)
        self.advance = Advance(self.database, self.tables, self.enqueuer, self.host.now)
        self.ledger = Ledger(self.advance, self.tables)
        if self.database.is_postgres:
            self._listener = Listener(self.database, self.news.tell)
            self._listener.start()
        self._spawn(self._pass_on_notices())

    async def close(self) -> None:
        """Lets nobody wait any longer."""
        for task in self._background:
            task.cancel()
        if self._listener is not None:
            self._listener.stop()
        await self.in_thread(self._disconnect)
        self._threads.shutdown()
        self.news.tell(None)

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Does what waits for the database."""
        return await self.loop.run_in_executor(self._threads, work)

    async def read(self, query: Callable[[sa.Connection], T]) -> T:
        """The answer to a query."""
        return await self.in_thread(partial(self.advance.read, query))

    async def change(self, work: Callable[[], Advanced]) -> Advanced:
        """Changes a run, to the end also if the caller is cancelled: what was committed must not be forgotten."""

        async def change() -> Advanced:
            try:
                advanced = await self.in_thread(work)
            except EventRejectedError as rejected:
                self.host.observe(rejected.observation)
                raise
            self.took(advanced)
            return advanced

        return await asyncio.shield(asyncio.ensure_future(change()))

    def took(self, advanced: Advanced) -> None:
        """Looks after what is to be done after a commit."""
        run_id = advanced.run.run_id
        self.host.observe(advanced.applied.observation)
        # With PostgreSQL the transaction itself has announced it, to all processes.
        if not self.database.is_postgres and advanced.applied.entry is not None:
            self.news.tell(run_id)
        for effect in advanced.applied.effects:
            if effect["type"] == "notify":
                self._notices.put_nowait((run_id, effect))
        if advanced.withdrawn:
            self._spawn(self._withdraw(advanced))

    def may_begin(self) -> bool:
        """Whether turns may be begun here: not while others may think that this worker is dead."""
        return self.attendance is None or self.attendance.is_heard()

    def _connect(self) -> DBOSClient:
        DBOS.migrate(self.settings.url)
        self.tables.create_all()
        return DBOSClient(system_database_engine=self.database.engine, application_name=APPLICATION)

    def _disconnect(self) -> None:
        if hasattr(self, "enqueuer"):
            self.enqueuer.close()
        self.database.close()

    async def _withdraw(self, advanced: Advanced) -> None:
        run_id = advanced.run.run_id
        try:
            await self.in_thread(partial(self.enqueuer.withdraw, run_id, advanced.withdrawn))
        except Exception as error:
            log.warning("run %s: what it does not want any more could not be withdrawn: %s", run_id, error)

    async def _pass_on_notices(self) -> None:
        """Notifies in order, apart from everything else: a callback may take its time, and may ask the driver."""
        while True:
            run_id, effect = await self._notices.get()
            if self._on_notify is not None:
                try:
                    await call(self._on_notify, run_id, effect)
                except Exception as error:
                    await self.host.report(run_id, effect, error, 1)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self.loop.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

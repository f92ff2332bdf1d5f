"""The service behind the routes: the driver with its parts, and the making of jobs."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from turnlatch import AsyncioTimers, Driver, DriverMisused, LocalSlots, Run, RunUnknown, __version__, admit, read_job
from turnlatch.types import Effect, Event, Receipt

from .agents import Agents
from .database import Database, own
from .engines import read_engines
from .errors import NotServed, compact
from .jobs import Jobs
from .listing import Listing
from .log import log
from .predecessor import predecessor_gone
from .run_folders import RunFolders
from .settings import Settings, SettingsInvalid
from .skills import Skills
from .store import Changes, WatchedStore
from .words import Words

_TRY_AGAIN_SEC = 30.0
_LAST_REQUESTS_SEC = 5.0


class Service:
    """One data folder, driven by one process."""

    def __init__(self, settings: Settings) -> None:
        self._engines = read_engines(settings.engines)
        if not settings.skills.is_dir():
            raise SettingsInvalid(f"there is no skills folder {settings.skills}")
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._owner = own(settings.data / "owner.sqlite")
        if self._owner is None:
            raise SettingsInvalid(f"another service uses {settings.data}")
        file = settings.data / "turnlatch.sqlite"
        self.changes = Changes()
        self.store = WatchedStore(file, self.changes, self._forget_soon)
        self._databases = [Database(file), Database(file)]
        self.jobs, self.listing = Jobs(self._databases[0]), Listing(self._databases[1])
        self._skills, self._folders = Skills(settings.skills), RunFolders(settings.data)
        self._slots = LocalSlots(settings.slots)
        self._locks = settings.data / "locks"
        self.words = Words()
        self._agents = Agents(self._engines, self._folders, self._locks, self.words)
        self._driver = Driver(
            slots=self._slots,
            timers=AsyncioTimers(),
            processes=self._agents,
            store=self.store,
            on_notify=self._status_changed,
        )
        self.stopping = asyncio.Event()
        self._making: set[str] = set()
        self._made = asyncio.Condition()
        self._at_work = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Goes on with what an earlier process left."""
        await self.jobs.prepare()
        await predecessor_gone(self._locks)
        unfinished = await self._driver.recover()
        log.info("recovered %d unfinished runs", len(unfinished))

    async def stop(self) -> None:
        """Takes no more requests, lets those under way finish, and ends every agent. The next start goes on."""
        log.info("stopping")
        self.stopping.set()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._nobody_at_work(), _LAST_REQUESTS_SEC)
        for task in self._tasks:
            task.cancel()
        await self._driver.close()
        await self._agents.close()

    def close(self) -> None:
        """Closes the files, when nobody reads any more."""
        self.store.close()
        for database in self._databases:
            database.close()
        if self._owner is not None:
            self._owner.close()

    async def create_job(self, body: str) -> tuple[str, str]:
        """Makes a run as the core reads the request. Its id, and what it looked like when it was made."""
        async with self._working():
            job = read_job(body, str(uuid.uuid4()))
            skill = await asyncio.to_thread(self._skills.open, job.skill)
            plan = admit(skill.manifest, job.request, engines=self._engines.names)
            async with self._only_maker_of(job.run_id):
                if await self.jobs.exists(job.run_id):
                    raise NotServed("RUN_EXISTS", "there is a run of this id already")
                await self.jobs.note(job.run_id, job.skill)
                await asyncio.to_thread(self._folders.make, skill, plan, job.request)
                await self._driver.start(plan)
            log.info("run %s of skill %s was made", job.run_id, job.skill)
            # By now the run may have gone on; a client gets to see where it began.
            run, _ = Run.first(plan, (await self.store.lines(job.run_id))[0])
            return job.run_id, run.status_view_json()

    async def tell(self, run_id: str, event: Event) -> Receipt:
        """Hands a client's request to the run. The receipt, or the core's rejection."""
        async with self._working():
            try:
                applied = await self._driver.tell(run_id, event)
            finally:
                # Telling an ended run something takes it into memory again.
                with contextlib.suppress(RunUnknown):
                    if self._driver.run(run_id).ended:
                        self._forget_soon(run_id)
            assert applied.receipt is not None, "requests get receipts"
            log.info("run %s took a %s: %s", run_id, event["type"], applied.receipt["receipt"])
            return applied.receipt

    async def snapshot(self, run_id: str) -> str:
        """The run as it was saved last. What is not the form of an id is unknown like any other."""
        try:
            return await self.store.load(run_id)
        except RunUnknown:
            raise NotServed("RUN_UNKNOWN", "there is no run of this id") from None

    async def run(self, run_id: str) -> Run:
        """The run as it was saved last, to be read."""
        return Run.from_json(await self.snapshot(run_id))

    async def skills(self) -> str:
        """The skills and engines as JSON text."""
        names = self._engines.names
        skills = await asyncio.to_thread(self._skills.describe, names)
        return compact({"engines": names, "skills": skills})

    async def health(self) -> str:
        """How the service is, as JSON text."""
        granted = self._slots.granted()
        slots = {
            "total": self._slots.size,
            "held": sorted(granted),
            "waiting": len(self._slots.held() - granted),
        }
        status = "stopping" if self.stopping.is_set() else "ok"
        unfinished = len(await self.store.unfinished())
        return compact({"status": status, "version": __version__, "slots": slots, "unfinished": unfinished})

    def check_open(self) -> None:
        """Raises if nothing new is taken any more."""
        if self.stopping.is_set():
            raise NotServed("SERVICE_STOPPING", "the service is stopping; try again when it is back")

    @asynccontextmanager
    async def _working(self) -> AsyncGenerator[None, None]:
        self.check_open()
        self._at_work += 1
        try:
            yield
        finally:
            async with self._made:
                self._at_work -= 1
                self._made.notify_all()

    async def _nobody_at_work(self) -> None:
        async with self._made:
            await self._made.wait_for(lambda: self._at_work == 0)

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

    def _status_changed(self, run_id: str, effect: Effect) -> None:
        if effect["type"] == "notify" and effect["status"] != "running":
            self.words.forget(run_id)

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
            except DriverMisused:
                await asyncio.sleep(_TRY_AGAIN_SEC)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

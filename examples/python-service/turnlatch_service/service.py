"""The service behind the routes: what is beside the runs, and the making of jobs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from turnlatch import Replayer, Run, RunNotFoundError, __version__, admit, read_job
from turnlatch.types import Effect, Receipt, RunEvent

from .agents import Agents
from .data_folder import DataFolder
from .engines import read_engines
from .errors import NotServed, check_taken, compact
from .hosting import Hooks, choose_hosting
from .log import log
from .run_folders import RunFolders
from .settings import Settings, SettingsInvalid
from .skills import Skills
from .telemetry import Telemetry
from .words import Words

_LAST_REQUESTS_SEC = 5.0


class Service:
    """Skills, agents, and the hosting of their runs."""

    def __init__(self, settings: Settings) -> None:
        self._engines = read_engines(settings.engines)
        if not settings.skills.is_dir():
            raise SettingsInvalid(f"there is no skills folder {settings.skills}")
        self._data = DataFolder(settings)
        self._skills, self._folders = Skills(settings.skills), RunFolders(settings.data)
        self.words = Words()
        self._agents = Agents(self._engines, self._folders, self._data.locks, self.words)
        self.telemetry = Telemetry(os.environ)
        self.hosting = choose_hosting(
            settings, self._data, self._agents, Hooks(self._status_changed, self.telemetry.observe)
        )
        self.stopping = asyncio.Event()
        self._at_work = 0
        self._left = asyncio.Condition()

    async def start(self) -> None:
        """Goes on with what an earlier process left."""
        await self.hosting.open()
        log.info("recovered %d unfinished runs", await self._count_unfinished())

    async def stop(self) -> None:
        """Takes no more requests, lets those under way finish, and ends every agent. The next start goes on."""
        log.info("stopping")
        self.stopping.set()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._nobody_at_work(), _LAST_REQUESTS_SEC)
        await self.hosting.stop()
        await self._agents.close()

    async def close(self) -> None:
        """Closes the files, when nobody reads any more, and sends the last spans."""
        await self.hosting.close()
        self._data.close()
        await asyncio.to_thread(self.telemetry.close)

    async def create_job(self, body: str) -> tuple[str, str]:
        """Makes a run as the core reads the request. Its id, and what it looked like when it was made."""
        async with self._working():
            job = read_job(body, str(uuid.uuid4()))
            skill = await asyncio.to_thread(self._skills.open, job.skill)
            plan = admit(skill.manifest, job.request, engines=self._engines.names)
            await self.hosting.make(plan, job.skill, self._folders.new(skill, plan, job.request))
            log.info("run %s of skill %s was made", job.run_id, job.skill)
            # By now the run may have gone on; a client gets to see where it began.
            replayer = Replayer(plan)
            replayer.next((await self.hosting.lines(job.run_id))[0])
            assert replayer.run is not None, "a line was replayed"
            return job.run_id, replayer.run.status_view_json()

    async def tell(self, run_id: str, event: RunEvent) -> Receipt:
        """Hands a client's request to the run. The receipt, or the core's rejection."""
        async with self._working():
            applied = await self.hosting.tell(run_id, event)
            assert applied.receipt is not None, "requests get receipts"
            check_taken(applied.receipt)
            log.info("run %s took a %s: %s", run_id, event["type"], applied.receipt["kind"])
            return applied.receipt

    async def snapshot(self, run_id: str) -> str:
        """The run as it was saved last. What is not the form of an id is unknown like any other."""
        try:
            return await self.hosting.snapshot(run_id)
        except RunNotFoundError:
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
        use = await self.hosting.slots()
        slots = {"total": use.total, "held": use.held, "waiting": use.waiting}
        status = "stopping" if self.stopping.is_set() else "ok"
        unfinished = await self._count_unfinished()
        return compact({"status": status, "version": __version__, "slots": slots, "unfinished": unfinished})

    async def metrics(self) -> bytes:
        """What is measured, as Prometheus reads it."""
        return self.telemetry.metrics(await self.hosting.count_unfinished())

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
            async with self._left:
                self._at_work -= 1
                self._left.notify_all()

    async def _count_unfinished(self) -> int:
        return sum((await self.hosting.count_unfinished()).values())

    async def _nobody_at_work(self) -> None:
        async with self._left:
            await self._left.wait_for(lambda: self._at_work == 0)

    def _status_changed(self, run_id: str, effect: Effect) -> None:
        if effect["type"] == "notify" and effect["status"] != "running":
            self.words.forget(run_id)

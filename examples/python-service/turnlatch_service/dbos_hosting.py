"""Runs on DBOS: in a SQLite file of this process, or in a PostgreSQL database that several services share."""

from __future__ import annotations

import asyncio

import psycopg
import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from turnlatch import DriverUsageError, Plan, StoreConflictError, Transition
from turnlatch.hosts.dbos import DbosDriver
from turnlatch.types import RunEvent

from . import dbos_jobs
from .agents import Agents
from .data_folder import DataFolder
from .errors import NotServed
from .hosting import Change, Hooks, SlotUse
from .listing import Listing, ListQuery
from .predecessor import predecessor_gone
from .run_folders import NewFolder
from .settings import Settings, SettingsInvalid
from .store import Changes


class DbosHosting:
    """One worker, which answers for the runs of all."""

    def __init__(self, settings: Settings, folder: DataFolder, agents: Agents, hooks: Hooks) -> None:
        self.changes = Changes()
        self._listing, self._one_page = Listing(), asyncio.Lock()
        self._locks = folder.locks
        self._password = _password(settings.database_url)
        self._driver = DbosDriver(
            processes=agents,
            slots=settings.slots,
            database_url=settings.database_url,
            path=folder.file,
            executor_id=settings.worker,
            on_notify=hooks.on_notify,
            on_observation=hooks.on_observation,
        )
        self._waking: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connects and begins to work; what this worker left unfinished comes first."""
        await predecessor_gone(self._locks)
        try:
            await self._driver.open()
            await self._driver.write(dbos_jobs.prepare)
        except DriverUsageError as misused:
            raise SettingsInvalid(misused.message) from None
        except (SQLAlchemyError, psycopg.Error) as error:
            await self._driver.close()
            raise SettingsInvalid(f"the database cannot be used: {self._reason(error)}") from None
        self._waking = asyncio.get_running_loop().create_task(self._wake())

    async def stop(self) -> None:
        """Ends the agents of this worker and hands their turns over."""
        await self._driver.stop_work()

    async def close(self) -> None:
        """Disconnects."""
        if self._waking is not None:
            self._waking.cancel()
        await self._driver.close()

    async def make(self, plan: Plan, skill: str, folder: NewFolder) -> None:
        """Makes a run and its job in one transaction, in which its folder is put into its place: a request for the same
        id, at whichever service, waits for its end, and no worker sees the first turn before it. The folder is filled
        before: the database ends a transaction that does nothing for some seconds."""

        def beside(db: sa.Connection) -> None:
            dbos_jobs.note(db, plan.run_id, skill)
            if not folder.place():
                # If the transaction still has the id, it is what a creation has left that was cut off. A service that
                # was stopped meanwhile has lost the id, and what is there is another's.
                db.exec_driver_sql("SELECT 1")
                folder.replace()

        taken = NotServed("RUN_EXISTS", "there is a run of this id already")
        if await self._driver.read(lambda db: dbos_jobs.JobRows(db).place(plan.run_id)) is not None:
            raise taken
        try:
            await asyncio.to_thread(folder.prepare)
            await self._driver.start(plan, beside)
        except StoreConflictError:
            raise taken from None
        finally:
            await asyncio.to_thread(folder.discard)

    async def tell(self, run_id: str, event: RunEvent) -> Transition:
        """Applies an event."""
        return await self._driver.tell(run_id, event)

    async def snapshot(self, run_id: str) -> str:
        """The run as it was saved last."""
        return await self._driver.snapshot(run_id)

    async def lines(self, run_id: str, after: int = 0) -> list[str]:
        """The lines of the run's journal after a revision."""
        return await self._driver.lines(run_id, after)

    async def page(self, query: ListQuery) -> str:
        """One page of the list of jobs; one at a time, because they share what they remember."""
        async with self._one_page:
            return await self._driver.read(lambda db: self._listing.page(dbos_jobs.JobRows(db), query))

    async def last_change(self) -> int:
        """The number of the newest change."""
        return await self._driver.last_change()

    async def changes_after(self, number: int) -> list[Change]:
        """The next changes."""
        found = await self._driver.changes_after(number)
        return [Change(change.number, change.run_id, change.revision) for change in found]

    async def slots(self) -> SlotUse:
        """The slots of all workers."""
        use = await self._driver.slots()
        return SlotUse(use.total, sorted(use.held), use.waiting)

    async def count_unfinished(self) -> dict[str, int]:
        """How many runs have not ended, by their status."""
        return await self._driver.count_unfinished()

    async def _wake(self) -> None:
        async for run_id in self._driver.changes():
            self.changes.tell(run_id)

    def _reason(self, error: Exception) -> str:
        """Why, in one line, without the password."""
        text = " ".join(str(getattr(error, "orig", None) or error).split())
        return text.replace(self._password, "***") if self._password else text


def _password(url: str | None) -> str | None:
    if url is None:
        return None
    try:
        return sa.make_url(url).password
    except (ValueError, SQLAlchemyError):
        raise SettingsInvalid("the database's URL cannot be read") from None

"""What the service needs of whatever drives its runs and keeps them, and the choice of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from turnlatch import Plan, Transition
from turnlatch.parts import OnNotify, OnObservation
from turnlatch.types import RunEvent

from .agents import Agents
from .data_folder import DataFolder
from .listing import ListQuery
from .run_folders import NewFolder
from .settings import Settings, SettingsInvalid
from .store import Changes


@dataclass(frozen=True)
class SlotUse:
    """How many slots there are, which of them are held, and how many runs wait for one."""

    total: int
    held: list[str]
    waiting: int


@dataclass(frozen=True)
class Change:
    """One entry of one run's journal, by its place among all entries."""

    number: int
    run_id: str
    revision: int


@dataclass(frozen=True)
class Hooks:
    """Who is told what happens to runs."""

    on_notify: OnNotify
    on_observation: OnObservation


class Hosting(Protocol):
    """Runs, as the routes ask for them. Nothing of it decides about a run."""

    changes: Changes
    """Wakes those who follow runs."""

    async def open(self) -> None:
        """Goes on with what an earlier process left."""
        ...

    async def stop(self) -> None:
        """Carries out no more turns; the next start goes on. What is kept can still be read."""
        ...

    async def close(self) -> None:
        """Lets go of the database, when nobody reads any more."""
        ...

    async def make(self, plan: Plan, skill: str, folder: NewFolder) -> None:
        """Makes a run of a skill, or raises ``RUN_EXISTS``. Its folder is put into its place while nobody else can make
        a run of this id, and before its first turn."""
        ...

    async def tell(self, run_id: str, event: RunEvent) -> Transition:
        """Applies an event, or raises the core's rejection."""
        ...

    async def snapshot(self, run_id: str) -> str:
        """The run as it was saved last. Raises :class:`turnlatch.RunNotFoundError`."""
        ...

    async def lines(self, run_id: str, after: int = 0) -> list[str]:
        """The lines of the run's journal after a revision."""
        ...

    async def page(self, query: ListQuery) -> str:
        """One page of the list of jobs, as JSON text."""
        ...

    async def last_change(self) -> int:
        """The number of the newest change of any run."""
        ...

    async def changes_after(self, number: int) -> list[Change]:
        """The next changes; ask again after the last of them until there are none."""
        ...

    async def slots(self) -> SlotUse:
        """The slots, of all services that share the runs."""
        ...

    async def count_unfinished(self) -> dict[str, int]:
        """How many runs have not ended, by their status."""
        ...


def choose_hosting(settings: Settings, folder: DataFolder, agents: Agents, hooks: Hooks) -> Hosting:
    """What the settings name. Only that is imported: DBOS need not be installed for a service without it."""
    if settings.engine == "embedded":
        from .embedded_hosting import EmbeddedHosting

        return EmbeddedHosting(settings.slots, folder, agents, hooks)
    try:
        from .dbos_hosting import DbosHosting
    except ImportError as error:
        raise SettingsInvalid(str(error)) from None
    return DbosHosting(settings, folder, agents, hooks)

"""A run in a driver's memory."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field

from .errors import EventRejectedError
from .run import Run
from .types import Effect, RunEvent, StatusView

_Waiter = tuple[tuple[str, ...], "asyncio.Future[StatusView]"]


@dataclass(frozen=True, slots=True)
class Report:
    """What a part reported, and what to apply in its place if the core rejects it."""

    event: RunEvent
    instead: RunEvent | None = None
    ends: tuple[Effect, str] | None = None
    """A turn that was given up and its slot: unless it is over, its process is ended before this is told, which gives
    back the slot."""

    def replacement(self, rejected: EventRejectedError) -> Report | None:
        """What to apply in its place. Nothing for an attempt that was never started: it would be rejected as well."""
        if self.instead is None or rejected.code == "EVENT_UNKNOWN_ATTEMPT":
            return None
        return Report(self.instead)


@dataclass
class Live:
    """``run`` is always what was saved: events are applied to a copy that takes its place."""

    run: Run
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    effects: deque[Effect] = field(default_factory=deque[Effect])  # told and saved, to be performed in order
    owed: list[Effect] = field(default_factory=list[Effect])  # failed too often; tried again later
    inbox: deque[Report] = field(default_factory=deque[Report])  # what parts reported, to be applied in order
    resumed: bool = True  # whether what it owed when it was loaded is being performed
    performer: asyncio.Task[None] | None = None
    courier: asyncio.Task[None] | None = None
    resuming: asyncio.Task[None] | None = None  # going on with what was found in the store
    waiters: list[_Waiter] = field(default_factory=list[_Waiter])

    @property
    def idle(self) -> bool:
        """Whether nothing is to be done for it."""
        tasks = self.performer or self.courier or self.resuming
        return not (self.owed or self.effects or self.inbox or tasks)

    def take(self, run: Run) -> None:
        """Goes on with a state that was saved."""
        self.run = run
        # Answered here and not when the waiter wakes: the run may have gone on by then.
        for statuses, waiter in list(self.waiters):
            if waiter.done() or run.ended or run.status in statuses:
                self.waiters.remove((statuses, waiter))
                if not waiter.done():
                    waiter.set_result(run.status_view())

    def abandon(self, error: Exception) -> None:
        """Lets nobody wait any longer."""
        for _, waiter in self.waiters:
            if not waiter.done():
                waiter.set_exception(error)
        self.waiters.clear()

"""The host's parts, and how they are called: plain functions and coroutines alike, with retries and reports."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from .errors import NotLoaded
from .parts import Clock, MaybeAwaitable, OnError, OnNotify, OnObserved, Processes, Slots, Store, Timers
from .types import Effect, Event, Observation

T = TypeVar("T")
log = logging.getLogger("turnlatch")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a failing callback is tried and how long to wait between tries, in seconds. What still fails is kept
    and tried again every ``pause`` seconds."""

    attempts: int = 3
    delay: float = 0.2
    factor: float = 2.0
    pause: float = 30.0

    def wait_after(self, attempt: int) -> float:
        """The wait after the ``attempt``-th failure."""
        return min(self.delay * self.factor ** min(attempt - 1, 32), self.pause)


@dataclass(frozen=True, slots=True)
class Host:
    """What a driver was given."""

    slots: Slots
    timers: Timers
    processes: Processes
    store: Store
    clock: Clock
    on_notify: OnNotify | None
    on_error: OnError | None
    retry: RetryPolicy
    on_observed: OnObserved | None = None

    def observe(self, observation: Observation | None) -> None:
        """Tells what was observed; ``None`` of what was absorbed."""
        if self.on_observed is not None and observation is not None:
            try:
                self.on_observed(observation)
            except Exception:
                log.exception("on_observed itself failed")

    async def attempt(self, run_id: str, call: Callable[[], MaybeAwaitable[Any]]) -> bool:
        """Calls with retries. Whether it succeeded."""
        for attempt in range(1, self.retry.attempts + 1):
            try:
                await settle(call())
                return True
            except NotLoaded as error:
                await self.report(run_id, None, error, attempt)
                return False  # reading it again would not make it better
            except Exception as error:
                await self.report(run_id, None, error, attempt)
            if attempt < self.retry.attempts:
                await asyncio.sleep(self.retry.wait_after(attempt))
        return False

    async def report(self, run_id: str, what: Effect | Event | None, error: Exception, attempt: int) -> None:
        """Tells what failed; ``None`` stands for recovery."""
        doing = "recovery" if what is None else what["type"]
        log.warning("run %s: %s failed (attempt %d): %r", run_id, doing, attempt, error)
        if self.on_error is not None:
            try:
                await settle(self.on_error(run_id, what, error, attempt))
            except Exception:
                log.exception("on_error itself failed")


async def settle(result: MaybeAwaitable[T]) -> T:
    """The result, waited for if it has to be."""
    if not inspect.isawaitable(result):
        return result
    try:
        return await result
    except asyncio.CancelledError:
        if _is_cancelled():
            raise
        # It is the part's own work that was cancelled, and to the driver that is a failure like any other.
        raise RuntimeError("the callback was cancelled") from None


def _is_cancelled() -> bool:
    """Whether somebody wants the current task to end. Python 3.10 cannot tell, so there it counts as wanted."""
    cancelling = getattr(asyncio.current_task(), "cancelling", None)
    return cancelling is None or cancelling() > 0

"""The host's parts, and how they are called: plain functions and coroutines alike, with retries and reports."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from .errors import LoadError
from .parts import Clock, MaybeAwaitable, OnError, OnNotify, OnObservation, Processes, Slots, Store, Timers
from .types import Effect, Observation, RunEvent

P = ParamSpec("P")
T = TypeVar("T")
log = logging.getLogger("turnlatch")


class TaskOver(BaseException):
    """Raised by a driver's own parts, never by the host's: the task that called has to end, and nothing is retried."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a failing callback is tried and how long to wait between tries. What still fails is kept and tried
    again every ``pause_sec`` seconds."""

    attempts: int = 3
    delay_sec: float = 0.2
    factor: float = 2.0
    pause_sec: float = 30.0

    def wait_after(self, attempt: int) -> float:
        """The wait after the ``attempt``-th failure."""
        return min(self.delay_sec * self.factor ** min(attempt - 1, 32), self.pause_sec)


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
    on_observation: OnObservation | None = None

    def observe(self, observation: Observation | None) -> None:
        """Tells what was observed; ``None`` of what was absorbed."""
        if self.on_observation is not None and observation is not None:
            try:
                call_plain(self.on_observation, observation)
            except Exception:
                log.exception("on_observation itself failed")

    def now(self) -> int:
        """What the clock shows."""
        return call_plain(self.clock)

    async def attempt(self, run_id: str, work: Callable[[], MaybeAwaitable[Any]]) -> bool:
        """Calls with retries. Whether it succeeded."""
        for attempt in range(1, self.retry.attempts + 1):
            try:
                await call(work)
                return True
            except LoadError as error:
                await self.report(run_id, None, error, attempt)
                return False  # reading it again would not make it better
            except Exception as error:
                await self.report(run_id, None, error, attempt)
            if attempt < self.retry.attempts:
                await asyncio.sleep(self.retry.wait_after(attempt))
        return False

    async def report(self, run_id: str, what: Effect | RunEvent | None, error: Exception, attempt: int) -> None:
        """Tells what failed; ``None`` stands for recovery."""
        doing = "recovery" if what is None else what["type"]
        # A traceback says where a callback is wrong; the same one again would say nothing more.
        trace = error if attempt == 1 else None
        log.warning("run %s: %s failed (attempt %d): %r", run_id, doing, attempt, error, exc_info=trace)
        if self.on_error is not None:
            try:
                await call(self.on_error, run_id, what, error, attempt)
            except Exception:
                log.exception("on_error itself failed")


async def call(callback: Callable[P, MaybeAwaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """Calls one of the host's callbacks, a plain function or a coroutine function.

    Whatever it raises is an :class:`Exception` here, so that it is reported and retried. What else leaves this is the
    end of the driver's own task.
    """
    result = call_plain(callback, *args, **kwargs)
    if not inspect.isawaitable(result):
        return result
    try:
        return await result
    except (Exception, GeneratorExit, TaskOver):
        raise
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError) and _is_cancelled():
            raise
        raise _contained(error) from error


def call_plain(callback: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same for a callback that is not awaited."""
    try:
        return callback(*args, **kwargs)
    except Exception:
        raise
    except BaseException as error:
        raise _contained(error) from error


def _contained(error: BaseException) -> RuntimeError:
    """What to raise instead. ``SystemExit`` and ``KeyboardInterrupt`` also end the event loop, as they would out of any
    task, but in a step of their own: the task that called back must not end with what it has in hand."""
    if isinstance(error, asyncio.CancelledError):
        return RuntimeError("the callback was cancelled")
    if isinstance(error, (SystemExit, KeyboardInterrupt)):
        # A thread of the database has no loop; there they are failures and nothing more.
        with contextlib.suppress(RuntimeError):
            asyncio.get_running_loop().call_soon(_raise, error)
    return RuntimeError(f"the callback raised {type(error).__name__}")


def _raise(error: BaseException) -> None:
    raise error


def _is_cancelled() -> bool:
    """Whether somebody wants the current task to end. Python 3.10 cannot tell that of a caller's task, so there it
    counts as wanted."""
    cancelling = getattr(asyncio.current_task(), "cancelling", None)
    return cancelling is None or cancelling() > 0


if sys.version_info >= (3, 11):
    Task = asyncio.Task
else:

    class Task(asyncio.Task[T]):
        """A task that can tell whether it was cancelled."""

        _cancels = 0

        def cancel(self, msg: Any | None = None) -> bool:
            self._cancels += 1
            return super().cancel(msg)

        def cancelling(self) -> int:
            return self._cancels

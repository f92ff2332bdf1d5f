"""The driver for programs without an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from .driver import Driver, RetryPolicy
from .local import wall_clock
from .parts import Clock, DriverMisused, OnError, OnNotify, OnObserved, Processes, Slots, Store, Timers
from .run import Applied, Plan, Run
from .types import Effect, Event, Receipt, StatusView

T = TypeVar("T")


class SyncDriver:
    """A :class:`turnlatch.Driver` on a thread of its own, with blocking methods. Callbacks run on that thread; they
    must not call these methods, which raise there instead of waiting for ever."""

    def __init__(
        self,
        *,
        slots: Slots,
        timers: Timers,
        processes: Processes,
        store: Store,
        clock: Clock = wall_clock,
        on_notify: OnNotify | None = None,
        on_error: OnError | None = None,
        on_observed: OnObserved | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="turnlatch-driver", daemon=True)
        self._thread.start()

        async def make() -> Driver:
            return Driver(
                slots=slots,
                timers=timers,
                processes=processes,
                store=store,
                clock=clock,
                on_notify=on_notify,
                on_error=on_error,
                on_observed=on_observed,
                retry=retry,
            )

        self._driver = self._do(make())

    def __enter__(self) -> SyncDriver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, plan: Plan) -> str:
        """See :meth:`Driver.start`."""
        return self._do(self._driver.start(plan))

    def reply(
        self,
        run_id: str,
        interaction_id: int,
        response: Any,
        idempotency_key: str | None = None,
        expected_revision: int | None = None,
    ) -> Receipt:
        """See :meth:`Driver.reply`."""
        return self._do(self._driver.reply(run_id, interaction_id, response, idempotency_key, expected_revision))

    def cancel(self, run_id: str, reason: str | None = None) -> Receipt:
        """See :meth:`Driver.cancel`."""
        return self._do(self._driver.cancel(run_id, reason))

    def tell(self, run_id: str, event: Event) -> Applied:
        """See :meth:`Driver.tell`."""
        return self._do(self._driver.tell(run_id, event))

    def view(self, run_id: str) -> StatusView:
        """See :meth:`Driver.view`."""
        return self._driver.view(run_id)

    def run(self, run_id: str) -> Run:
        """See :meth:`Driver.run`."""
        return self._driver.run(run_id)

    def count_unfinished(self) -> dict[str, int]:
        """See :meth:`Driver.count_unfinished`."""
        return self._driver.count_unfinished()

    def owed(self, run_id: str) -> list[Effect]:
        """See :meth:`Driver.owed`."""
        return self._driver.owed(run_id)

    def wait(self, run_id: str, *statuses: str, timeout: float | None = None) -> StatusView:
        """See :meth:`Driver.wait`. Raises ``TimeoutError`` after ``timeout`` seconds."""
        return self._do(asyncio.wait_for(self._driver.wait(run_id, *statuses), timeout))

    def settled(self, run_id: str) -> None:
        """See :meth:`Driver.settled`."""
        self._do(self._driver.settled(run_id))

    def retry_owed(self, run_id: str | None = None) -> None:
        """See :meth:`Driver.retry_owed`."""
        self._do(self._driver.retry_owed(run_id))

    def forget(self, run_id: str) -> None:
        """See :meth:`Driver.forget`."""

        async def forget() -> None:
            self._driver.forget(run_id)

        self._do(forget())

    def recover(self) -> list[str]:
        """See :meth:`Driver.recover`."""
        return self._do(self._driver.recover())

    def close(self) -> None:
        """Closes the driver and ends its thread."""
        if self._loop.is_closed():
            return
        self._do(self._driver.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        if threading.current_thread() is self._thread:
            work.close()
            message = "a callback of a SyncDriver cannot call it: it runs on the driver's own thread"
            raise DriverMisused("INSIDE_CALLBACK", message)
        if self._loop.is_closed():
            work.close()
            raise DriverMisused("DRIVER_CLOSED", "the driver is closed")
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except asyncio.TimeoutError:
            raise TimeoutError("the run is not there yet") from None

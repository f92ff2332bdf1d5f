"""The driver for programs without an event loop."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from .driver import Driver, RetryPolicy
from .local import wall_clock
from .parts import Clock, DriverUsageError, OnError, OnNotify, OnObservation, Processes, Slots, Store, Timers
from .run import Plan, Run, Transition
from .types import Effect, Receipt, RunEvent, Status, StatusView

T = TypeVar("T")
_LAST_CALLS_SEC = 2.0


class SyncDriver:
    """A :class:`turnlatch.Driver` on a thread of its own, with blocking methods. Callbacks run on that thread; they
    must not call these methods, which raise there instead of waiting for ever.

    A callback that raises ``SystemExit`` or ``KeyboardInterrupt`` has failed like any other, and closes the driver:
    threads that wait get ``DRIVER_CLOSED``, and :meth:`close`, or leaving the ``with`` block, raises it.
    """

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
        on_observation: OnObservation | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        self._driver = Driver(
            slots=slots,
            timers=timers,
            processes=processes,
            store=store,
            clock=clock,
            on_notify=on_notify,
            on_error=on_error,
            on_observation=on_observation,
            retry=retry,
        )
        self._loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        self._calls: dict[Future[Any], Coroutine[Any, Any, Any]] = {}  # under way, each with a thread that waits
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing: asyncio.Task[None] | None = None
        self._closed = False
        self._exit: BaseException | None = None
        self._thread = threading.Thread(target=self._run_loop, name="turnlatch-driver", daemon=True)
        self._thread.start()

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

    def tell(self, run_id: str, event: RunEvent) -> Transition:
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

    def wait(self, run_id: str, *statuses: Status, timeout_sec: float | None = None) -> StatusView:
        """See :meth:`Driver.wait`. Raises ``TimeoutError`` after ``timeout_sec`` seconds."""

        async def wait() -> StatusView:
            return await asyncio.wait_for(self._driver.wait(run_id, *statuses), timeout_sec)

        return self._do(wait())

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
        """Closes the driver and ends its thread. If a callback has closed it before by ``SystemExit`` or
        ``KeyboardInterrupt``, raises that, once."""
        self._not_inside()
        with self._lock:
            if not self._closed:
                self._loop.call_soon_threadsafe(self._close_soon)
        self._thread.join()
        with self._lock:
            error, self._exit = self._exit, None
        if error is not None:
            raise error

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            self._not_inside()
        except DriverUsageError:
            work.close()
            raise
        call: Future[T] = Future()
        with self._lock:
            if self._closed:
                work.close()
                raise _closed() from self._exit
            self._calls[call] = work
            self._loop.call_soon_threadsafe(self._begin, call)
        try:
            return call.result()
        except asyncio.TimeoutError:
            raise TimeoutError("the run is not there yet") from None
        except DriverUsageError as error:
            raise error from self._exit

    def _not_inside(self) -> None:
        if threading.current_thread() is self._thread:
            message = "a callback of a SyncDriver cannot call it: it runs on the driver's own thread"
            raise DriverUsageError("INSIDE_CALLBACK", message)

    # On the driver's thread.

    def _run_loop(self) -> None:
        """Runs the loop until the driver is closed, also if a callback ends it before: no call may hang."""
        try:
            while self._closing is None or not self._closing.done():
                try:
                    self._loop.run_forever()
                except (SystemExit, KeyboardInterrupt) as error:
                    self._exit = self._exit or error
                    self._close_soon()
        finally:
            with self._lock:
                self._closed = True
                left, self._calls = self._calls, {}
            for call, work in left.items():
                if inspect.getcoroutinestate(work) == inspect.CORO_CREATED:
                    work.close()
                call.set_exception(_closed())
            self._loop.close()

    def _begin(self, call: Future[Any]) -> None:
        task = self._loop.create_task(self._answer(call, self._calls[call]))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, call: Future[T], work: Coroutine[Any, Any, T]) -> None:
        """Hands the outcome to the thread that waits for it, whatever it is: raised here, it could end the loop."""
        try:
            result = await work
        except BaseException as error:
            if self._is_waited_for(call):
                cancelled = self._closed and isinstance(error, asyncio.CancelledError)
                call.set_exception(_closed() if cancelled else error)
        else:
            if self._is_waited_for(call):
                call.set_result(result)

    def _is_waited_for(self, call: Future[Any]) -> bool:
        """Not if the loop has ended, which answers all calls; and not any more."""
        return self._calls.pop(call, None) is not None

    def _close_soon(self) -> None:
        self._closing = self._closing or self._loop.create_task(self._close())

    async def _close(self) -> None:
        try:
            await self._driver.close()
            with self._lock:
                self._closed = True
            await asyncio.sleep(0)  # the last calls begin
            for task in self._tasks:
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=_LAST_CALLS_SEC)
        finally:
            self._loop.stop()


def _closed() -> DriverUsageError:
    return DriverUsageError("DRIVER_CLOSED", "the driver is closed")

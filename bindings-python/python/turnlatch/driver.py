"""Hosts runs on asyncio: saves what the core decides, performs its effects, and tells it what happened.

No decision about a run is made here. The driver keeps four promises: a state is saved before its effects are
performed; the effects of one run are performed in order; what a part reports is not lost when the store fails; and
after a crash :meth:`Driver.recover` goes on from what the core says is owed.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar, cast

from ._host import Host, RetryPolicy, Task, call, log
from ._live import Live, Report
from ._performer import Performer
from ._recovery import Belongings, hold_slots
from .errors import EventRejectedError
from .local import wall_clock
from .parts import (
    Clock,
    DriverUsageError,
    OnError,
    OnNotify,
    OnObservation,
    Processes,
    RunNotFoundError,
    Slots,
    Store,
    StoreConflictError,
    Timers,
)
from .run import Plan, Run, Transition
from .types import Effect, Receipt, RunEvent, Status, StatusView

__all__ = ["Driver", "RetryPolicy"]

T = TypeVar("T")
_LAST_REPORTS_SEC = 2.0


class Driver:
    """Drives runs with the host's parts. Use it from one event loop; parts may report from any thread.

    Callbacks may call back: ``start``, ``reply``, ``cancel`` and ``tell`` return when the event is saved, and its
    effects are performed after those that are under way. Only waiting for a run inside of its own
    callback is refused.
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
        retry = retry or RetryPolicy()
        self._host = Host(slots, timers, processes, store, clock, on_notify, on_error, retry, on_observation)
        self._performer = Performer(self._host, self._post)
        self._runs: dict[str, Live] = {}
        self._loading = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    async def __aenter__(self) -> Driver:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def start(self, plan: Plan) -> str:
        """Makes a run of an admitted plan, saves it and lets its effects be performed. Returns its id."""
        self._open()
        return await self._unbroken(self._create(plan))

    async def reply(
        self,
        run_id: str,
        interaction_id: int,
        response: Any,
        idempotency_key: str | None = None,
        expected_revision: int | None = None,
    ) -> Receipt:
        """Takes a user's reply. The receipt is given when the reply is saved."""

        def step(run: Run, now: int) -> Transition:
            return run.reply(
                interaction_id, response, now, idempotency_key=idempotency_key, expected_revision=expected_revision
            )

        return cast("Receipt", (await self._request(run_id, step)).receipt)

    async def cancel(self, run_id: str, reason: str | None = None) -> Receipt:
        """Ends a run. :meth:`settled` waits until its process is gone and its slot given back."""
        return cast("Receipt", (await self._request(run_id, lambda run, now: run.cancel(now, reason))).receipt)

    async def tell(self, run_id: str, event: RunEvent) -> Transition:
        """Applies any event and performs its effects, or raises :class:`turnlatch.EventRejectedError`."""
        return await self._request(run_id, lambda run, now: run.apply(event, now))

    def view(self, run_id: str) -> StatusView:
        """The run as it was saved last. Raises :class:`turnlatch.RunNotFoundError` for a run that is not in memory."""
        return self._in_memory(run_id).run.status_view()

    def run(self, run_id: str) -> Run:
        """A copy of the run, to be read: its question, history, explanation."""
        return self._in_memory(run_id).run.copy()

    def owed(self, run_id: str) -> list[Effect]:
        """The effects that failed too often and wait to be tried again."""
        return list(self._in_memory(run_id).owed)

    def count_unfinished(self) -> dict[str, int]:
        """How many runs have not ended, by their status, of those in memory: after :meth:`recover` that is all."""
        return dict(Counter(live.run.status for live in list(self._runs.values()) if not live.run.ended))

    async def wait(self, run_id: str, *statuses: Status) -> StatusView:
        """Waits until the run has one of these statuses or has ended, and gives its view at that moment."""
        self._open()
        live = await self._known(run_id)
        self._not_inside(live, "wait")
        if live.run.ended or live.run.status in statuses:
            return live.run.status_view()
        waiter: asyncio.Future[StatusView] = asyncio.get_running_loop().create_future()
        live.waiters.append((statuses, waiter))
        return await waiter

    async def settled(self, run_id: str) -> None:
        """Waits until every effect told so far was performed (or is kept as owed) and every report applied."""
        live = await self._known(run_id)
        self._not_inside(live, "settled")
        while busy := [task for task in (live.performer, live.courier, live.resuming) if task is not None]:
            await asyncio.wait(busy)

    async def retry_owed(self, run_id: str | None = None) -> None:
        """Tries what is owed again now, for one run or for all."""
        self._open()
        for live in [await self._known(run_id)] if run_id is not None else list(self._runs.values()):
            self._perform_soon(live, [])

    def forget(self, run_id: str) -> None:
        """Takes an ended run out of memory; the store still has it."""
        live = self._runs.get(run_id)
        if live is not None:
            if not live.run.ended or not live.idle:
                raise DriverUsageError("RUN_NOT_DONE", f"run {run_id} is not done yet")
            del self._runs[run_id]

    async def recover(self) -> list[str]:
        """Goes on after a restart. Returns the ids of the runs that had not ended.

        What no run may keep is given back or ended first; then what is owed is performed. A turn that was begun, but
        whose process is gone, is told to the core as lost. What fails is reported (``on_error`` with ``None`` for the
        effect) and does not keep the other runs from going on; calling this again tries it again.
        """
        self._open()
        host = self._host
        belongings = await Belongings.of(host)
        run_ids = list(await call(host.store.unfinished))
        lives = [self._runs[run_id] for run_id in run_ids if await host.attempt(run_id, partial(self._known, run_id))]
        for live in lives:
            belongings.leave_to(live.run)
        lost = await hold_slots(host, [live.run for live in lives])
        await belongings.give_back(host, unread=set(run_ids) - self._runs.keys())
        for live in lives:
            if not live.resumed and live.resuming is None:
                resume = partial(self._resume, live, slot_lost=live.run.run_id in lost)
                live.resumed = await host.attempt(live.run.run_id, resume)
        return run_ids

    async def close(self) -> None:
        """Stops driving. Parts are not closed and processes not ended: :meth:`recover` can go on from here."""
        self._closed = True
        # A turn's result that has arrived is saved if that is possible; it would have to be run again.
        if couriers := [live.courier for live in self._runs.values() if live.courier is not None]:
            await asyncio.wait(couriers, timeout=_LAST_REPORTS_SEC)
        while self._tasks - {asyncio.current_task()}:
            for task in list(self._tasks):
                # Saving is never broken off: it is short, and half of it would be a lie.
                if task.get_name() != "turnlatch-save" and task is not asyncio.current_task():
                    task.cancel()
            await asyncio.wait(self._tasks - {asyncio.current_task()})
        for live in self._runs.values():
            live.abandon(DriverUsageError("DRIVER_CLOSED", "the driver was closed"))

    # Changing a run: apply to a copy, save, take the copy.

    async def _create(self, plan: Plan) -> str:
        run, applied = Run.create(plan, self._host.now())
        snapshot = run.to_json()
        assert applied.entry is not None, "creation is always journaled"
        try:
            await call(self._host.store.create, run.run_id, snapshot, applied.entry)
        except StoreConflictError:
            raise
        except Exception:
            # The error may have come after the commit; then the run exists and must not be left alone.
            if not await self._was_saved(run.run_id, snapshot):
                raise
        live = self._runs[run.run_id] = Live(run)
        self._perform_soon(live, applied.effects)
        self._host.observe(applied.observation)
        return run.run_id

    async def _request(self, run_id: str, step: Callable[[Run, int], Transition]) -> Transition:
        self._open()
        live = await self._known(run_id)
        return await self._unbroken(self._change(live, step))

    async def _change(self, live: Live, step: Callable[[Run, int], Transition]) -> Transition:
        async with live.lock:
            run = live.run.copy()
            try:
                applied = step(run, self._host.now())
            except EventRejectedError as rejected:
                self._host.observe(rejected.observation)
                raise
            if applied.entry is None:
                self._host.observe(applied.observation)
                return applied
            snapshot = run.to_json()
            try:
                await call(self._host.store.save, run.run_id, live.run.revision, snapshot, applied.entry, run.ended)
            except Exception as error:
                if isinstance(error, StoreConflictError) or not await self._was_saved(run.run_id, snapshot):
                    await self._reload(live)
                    raise
            live.take(run)
            self._perform_soon(live, applied.effects)
            self._host.observe(applied.observation)
            return applied

    async def _was_saved(self, run_id: str, snapshot: str) -> bool:
        """Whether a save that raised had been committed nevertheless."""
        try:
            return Run.from_json(await call(self._host.store.load, run_id)).to_json() == snapshot
        except Exception:
            return False

    async def _reload(self, live: Live) -> None:
        """After a failed save the store is right. If it cannot be read, the state that was saved last still stands."""
        try:
            stored = Run.from_json(await call(self._host.store.load, live.run.run_id))
        except Exception as error:
            log.warning("run %s could not be loaded after a failed save: %s", live.run.run_id, error)
            return
        if stored.revision != live.run.revision:
            live.take(stored)
            live.resumed = False
            if live.resuming is None:
                live.resuming = self._spawn(self._go_on(live), "turnlatch-resume")

    async def _go_on(self, live: Live) -> None:
        """Goes on with a state whose effects were never told here, as after a restart, until that works."""
        attempt = 0
        try:
            while not live.resumed:
                attempt += 1
                try:
                    # What was told before is performed first.
                    while live.performer is not None:
                        await asyncio.wait([live.performer])
                    belongings = (await Belongings.of(self._host)).only_of(live.run.run_id)
                    belongings.leave_to(live.run)
                    await belongings.give_back(self._host, unread=())
                    await self._resume(live)
                    live.resumed = True
                except Exception as error:
                    await self._host.report(live.run.run_id, None, error, attempt)
                    await asyncio.sleep(self._host.retry.wait_after(attempt))
        finally:
            live.resuming = None

    async def _resume(self, live: Live, slot_lost: bool = False) -> None:
        """Goes on with a loaded run as the core says, from what there is of it."""
        run, host = live.run, self._host
        outstanding = run.outstanding()
        process, begins = outstanding["keep"].get("process"), outstanding.get("turn_effect_id")
        alive = process is not None and process in await call(host.processes.alive)
        begun = begins is not None and await call(host.store.was_begun, run.run_id, begins)
        found = run.after_restart(process_alive=alive, begun=begun, slot_lost=slot_lost)
        if "attach" in found:
            slot_id, attempt_number = found["attach"]["slot_id"], found["attach"]["attempt_number"]
            finished = self._performer.finished(run.run_id, attempt_number, slot_id)
            await call(host.processes.attach, slot_id, finished)
        self._perform_soon(live, found["effects"])
        if "event" in found:
            live.inbox.append(Report(found["event"]))
            self._deliver_soon(live)

    def _in_memory(self, run_id: str) -> Live:
        if run_id not in self._runs:
            raise RunNotFoundError("RUN_UNKNOWN", f"there is no run {run_id}")
        return self._runs[run_id]

    async def _known(self, run_id: str) -> Live:
        async with self._loading:
            if run_id not in self._runs:
                self._runs[run_id] = Live(Run.from_json(await call(self._host.store.load, run_id)), resumed=False)
            return self._runs[run_id]

    # What parts report.

    def _post(self, run_id: str, report: Report) -> None:
        """Takes a part's report, from any thread. Reports to a closed driver are dropped: recovery finds out."""
        # A run that was forgotten has ended: the core would absorb it.
        loop, live = self._loop, self._runs.get(run_id)
        if live is not None and loop is not None and not self._closed and not loop.is_closed():
            # It is there from now on, not from when the loop comes to it: what failed may be tried again before that.
            live.inbox.append(report)
            loop.call_soon_threadsafe(self._deliver_soon, live)

    def _deliver_soon(self, live: Live) -> None:
        if live.inbox and live.courier is None and not self._closed:
            live.courier = self._spawn(self._deliver(live), "turnlatch-deliver")

    async def _deliver(self, live: Live) -> None:
        attempt = 0
        try:
            while live.inbox:
                report = live.inbox[0]
                attempt += 1
                try:
                    await self._tell(live, report)
                except Exception as error:
                    await self._host.report(live.run.run_id, report.event, error, attempt)
                    if not isinstance(error, EventRejectedError):
                        await asyncio.sleep(self._host.retry.wait_after(attempt))
                        continue
                    if (replacement := report.replacement(error)) is not None:
                        live.inbox[0] = replacement
                        continue
                live.inbox.popleft()
                attempt = 0
        finally:
            live.courier = None

    async def _tell(self, live: Live, report: Report) -> None:
        if report.ends is not None:
            effect, slot_id = report.ends
            if live.run.due(effect)["perform"] != "now":
                return  # the turn has ended by itself
            await call(self._host.processes.terminate, slot_id)
        await self._unbroken(self._change(live, partial(_apply, report.event)))

    # Performing effects.

    def _perform_soon(self, live: Live, effects: list[Effect]) -> None:
        live.effects.extend(live.owed)
        live.owed.clear()
        live.effects.extend(effects)
        if live.effects and live.performer is None and not self._closed:
            live.performer = self._spawn(self._perform_all(live), "turnlatch-perform")

    async def _perform_all(self, live: Live) -> None:
        try:
            await self._performer.perform_all(live)
        finally:
            live.performer = None
        if live.owed and self._loop is not None:
            nothing_new: list[Effect] = []
            self._loop.call_later(self._host.retry.pause_sec, self._perform_soon, live, nothing_new)

    # Tasks.

    def _open(self) -> None:
        if self._closed:
            raise DriverUsageError("DRIVER_CLOSED", "the driver is closed")
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        elif self._loop is not loop:
            message = "a Driver belongs to the event loop it was first used on"
            raise DriverUsageError("OTHER_EVENT_LOOP", message)

    def _not_inside(self, live: Live, method: str) -> None:
        if asyncio.current_task() in (live.performer, live.courier, live.resuming):
            raise DriverUsageError(
                "INSIDE_CALLBACK",
                f"{method}() was called inside of a callback of run {live.run.run_id}, which cannot go on before the "
                "callback returns; call it in a task of its own",
            )

    def _spawn(self, work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        task = Task(work, loop=asyncio.get_running_loop(), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _unbroken(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs to the end also if the caller is cancelled: a save that was begun must not be forgotten half way."""
        return await asyncio.shield(self._spawn(work, "turnlatch-save"))


def _apply(event: RunEvent, run: Run, now: int) -> Transition:
    return run.apply(event, now)

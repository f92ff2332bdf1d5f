"""Hosts runs on asyncio: saves what the core decides, performs its effects, and tells it what happened.

No decision about a run is made here. The driver keeps four promises: a state is saved before its effects are
performed; the effects of one run are performed in order; what a part reports is not lost when the store fails; and
after a crash :meth:`Driver.recover` goes on from what the core says is owed.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar, cast

from .errors import NotLoaded, Rejected
from .local import wall_clock
from .parts import Clock, MaybeAwaitable, OnError, OnNotify, Processes, Slots, Store, StoreConflict, Timers
from .run import Applied, Plan, Run
from .types import Effect, Event, InjectReply, ProcessLost, Receipt, StartTurn, StatusView, TurnFinished, TurnReport

T = TypeVar("T")
_log = logging.getLogger("turnlatch")
_LAST_REPORTS_SEC = 2.0


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


_Waiter = tuple[tuple[str, ...], "asyncio.Future[StatusView]"]


@dataclass
class _Live:
    """A run in memory. ``run`` is always what was saved: events are applied to a copy that takes its place."""

    run: Run
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    effects: deque[Effect] = field(default_factory=deque[Effect])  # told and saved, to be performed in order
    owed: list[Effect] = field(default_factory=list[Effect])  # failed too often; tried again later
    inbox: deque[Event] = field(default_factory=deque[Event])  # what parts reported, to be applied in order
    resumed: bool = True  # whether what it owed when it was loaded is being performed
    performer: asyncio.Task[None] | None = None
    courier: asyncio.Task[None] | None = None
    waiters: list[_Waiter] = field(default_factory=list[_Waiter])


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
        retry: RetryPolicy | None = None,
    ) -> None:
        self._slots = slots
        self._timers = timers
        self._processes = processes
        self._store = store
        self._clock = clock
        self._on_notify = on_notify
        self._on_error = on_error
        self._retry = retry or RetryPolicy()
        self._runs: dict[str, _Live] = {}
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

        def step(run: Run, now: int) -> Applied:
            return run.reply(
                interaction_id, response, now, idempotency_key=idempotency_key, expected_revision=expected_revision
            )

        return cast("Receipt", (await self._request(run_id, step)).receipt)

    async def cancel(self, run_id: str, reason: str | None = None) -> Receipt:
        """Ends a run. :meth:`settled` waits until its process is gone and its slot given back."""
        return cast("Receipt", (await self._request(run_id, lambda run, now: run.cancel(now, reason))).receipt)

    async def tell(self, run_id: str, event: Event) -> Applied:
        """Applies any event, or raises :class:`turnlatch.Rejected`. Its effects are performed by the driver."""
        return await self._request(run_id, lambda run, now: run.apply(event, now))

    def view(self, run_id: str) -> StatusView:
        """The run as it was saved last. Raises ``KeyError`` for a run that is not in memory."""
        return self._runs[run_id].run.status_view()

    def run(self, run_id: str) -> Run:
        """A copy of the run, to be read: its question, history, explanation."""
        return self._runs[run_id].run.copy()

    def owed(self, run_id: str) -> list[Effect]:
        """The effects that failed too often and wait to be tried again."""
        return list(self._runs[run_id].owed)

    async def wait(self, run_id: str, *statuses: str) -> StatusView:
        """Waits until the run has one of these statuses or has ended, and gives its view at that moment."""
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
        while busy := [task for task in (live.performer, live.courier) if task is not None]:
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
            if not live.run.ended or live.owed or live.effects or live.inbox or live.performer or live.courier:
                raise RuntimeError(f"run {run_id} is not done yet")
            del self._runs[run_id]

    async def recover(self) -> list[str]:
        """Goes on after a restart. Returns the ids of the runs that had not ended.

        What no run may keep is given back or ended first; then what is owed is performed. A turn that was begun, but
        whose process is gone, is told to the core as lost. What fails is reported (``on_error`` with ``None`` for the
        effect) and does not keep the other runs from going on; calling this again tries it again.
        """
        self._open()
        # What there is must be read before the runs are: what comes later belongs to a run that is known by then.
        processes = set(await _settle(self._processes.alive()))
        slots = set(await _settle(self._slots.held()))
        timers = set(await _settle(self._timers.pending()))
        run_ids = list(await _settle(self._store.unfinished()))
        lives = [self._runs[run_id] for run_id in run_ids if await self._attempt(run_id, partial(self._known, run_id))]
        unread = tuple(f"{run_id}/" for run_id in run_ids if run_id not in self._runs)
        for live in lives:
            run_id, found = live.run.run_id, live.run.outstanding()
            keep = found["keep"]
            processes.discard(keep.get("process", ""))
            slots.discard(keep.get("slot_id", ""))
            timers.discard((run_id, keep.get("timer", 0)))
            asked = {effect["slot_id"] for effect in found["effects"] if effect["type"] == "acquire_slot"}
            if "slot_id" in keep and keep["slot_id"] not in asked:
                await self._attempt(run_id, partial(self._slots.hold, run_id, keep["slot_id"]))
        for slot_id in processes | slots:
            # A run that could not be read may still want what it has. The slot of a process that does not end is kept.
            run_id = slot_id.rpartition("/")[0]
            if not slot_id.startswith(unread) and (
                slot_id not in processes or await self._attempt(run_id, partial(self._processes.terminate, slot_id))
            ):
                await self._attempt(run_id, partial(self._slots.release, slot_id))
        for run_id, interaction_id in timers:
            if f"{run_id}/" not in unread:
                await self._attempt(run_id, partial(self._timers.cancel, run_id, interaction_id))
        for live in lives:
            if not live.resumed:
                live.resumed = await self._attempt(live.run.run_id, partial(self._resume, live))
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
            for _, waiter in live.waiters:
                waiter.cancel()

    # Changing a run: apply to a copy, save, take the copy.

    async def _create(self, plan: Plan) -> str:
        run, applied = Run.create(plan, self._clock())
        snapshot = run.to_json()
        assert applied.entry is not None, "creation is always journaled"
        try:
            await _settle(self._store.create(run.run_id, snapshot, applied.entry))
        except StoreConflict:
            raise
        except Exception:
            # The error may have come after the commit; then the run exists and must not be left alone.
            if not await self._was_saved(run.run_id, snapshot):
                raise
        live = self._runs[run.run_id] = _Live(run)
        self._perform_soon(live, applied.effects)
        return run.run_id

    async def _request(self, run_id: str, step: Callable[[Run, int], Applied]) -> Applied:
        self._open()
        live = await self._known(run_id)
        return await self._unbroken(self._change(live, step))

    async def _change(self, live: _Live, step: Callable[[Run, int], Applied]) -> Applied:
        async with live.lock:
            run = live.run.copy()
            applied = step(run, self._clock())
            if applied.entry is None:
                return applied
            snapshot = run.to_json()
            try:
                await _settle(self._store.save(run.run_id, live.run.revision, snapshot, applied.entry, run.ended))
            except Exception as error:
                if isinstance(error, StoreConflict) or not await self._was_saved(run.run_id, snapshot):
                    await self._reload(live)
                    raise
            self._take(live, run)
            self._perform_soon(live, applied.effects)
            return applied

    async def _was_saved(self, run_id: str, snapshot: str) -> bool:
        """Whether a save that raised had been committed nevertheless."""
        try:
            return Run.from_json(await _settle(self._store.load(run_id))).to_json() == snapshot
        except Exception:
            return False

    async def _reload(self, live: _Live) -> None:
        """After a failed save the store is right. If it cannot be read, the state that was saved last still stands."""
        try:
            stored = Run.from_json(await _settle(self._store.load(live.run.run_id)))
        except Exception as error:
            _log.warning("run %s could not be loaded after a failed save: %s", live.run.run_id, error)
            return
        if stored.revision != live.run.revision:
            self._take(live, stored)
            await self._resume(live)

    def _take(self, live: _Live, run: Run) -> None:
        live.run = run
        # Answered here and not when the waiter wakes: the run may have gone on by then.
        for statuses, waiter in list(live.waiters):
            if waiter.done() or run.ended or run.status in statuses:
                live.waiters.remove((statuses, waiter))
                if not waiter.done():
                    waiter.set_result(run.status_view())

    async def _resume(self, live: _Live) -> None:
        """Performs what a loaded run owes, unless it was begun before; a process that is gone is told as lost."""
        run = live.run
        found = run.outstanding()
        process = found["keep"].get("process")
        alive = process is not None and process in set(await _settle(self._processes.alive()))
        if process is not None and alive:
            await _settle(self._processes.attach(process, self._finished(run.run_id, run.attempt_number, process)))
        lost = process is not None and not alive
        effects: list[Effect] = []
        for effect in found["effects"]:
            if effect["type"] == "start_turn" or effect["type"] == "inject_reply":
                if await _settle(self._store.was_begun(run.run_id, effect["id"])):
                    continue
                if effect["type"] == "start_turn":
                    lost = False  # there has been no process yet
                elif lost:
                    continue
            effects.append(effect)
        self._perform_soon(live, effects)
        if lost and process is not None:
            self._post(run.run_id, _process_lost(run.attempt_number, process))

    async def _known(self, run_id: str) -> _Live:
        async with self._loading:
            if run_id not in self._runs:
                self._runs[run_id] = _Live(Run.from_json(await _settle(self._store.load(run_id))), resumed=False)
            return self._runs[run_id]

    # What parts report.

    def _post(self, run_id: str, event: Event) -> None:
        """Takes a part's report, from any thread. Reports to a closed driver are dropped: recovery finds out."""
        loop = self._loop
        if loop is not None and not self._closed and not loop.is_closed():
            loop.call_soon_threadsafe(self._receive, run_id, event)

    def _receive(self, run_id: str, event: Event) -> None:
        live = self._runs.get(run_id)
        if self._closed or live is None:
            return  # forgotten, so ended: the core would absorb it
        live.inbox.append(event)
        if live.courier is None:
            live.courier = self._spawn(self._deliver(live), "turnlatch-deliver")

    async def _deliver(self, live: _Live) -> None:
        attempt = 0
        try:
            while live.inbox:
                event = live.inbox[0]
                attempt += 1
                try:
                    await self._unbroken(self._change(live, partial(_apply, event)))
                except Exception as error:
                    await self._report(live.run.run_id, event, error, attempt)
                    if not isinstance(error, Rejected):
                        await asyncio.sleep(self._retry.wait_after(attempt))
                        continue
                    if event["type"] == "turn_finished" and event.get("failure_reason") != "HOST_FAILED":
                        # A report the core cannot read must not leave the turn running for ever.
                        live.inbox[0] = _host_failed(event["attempt_number"], event.get("slot_id"))
                        continue
                live.inbox.popleft()
                attempt = 0
        finally:
            live.courier = None

    def _finished(self, run_id: str, attempt_number: int, slot_id: str) -> Callable[[TurnReport | None], None]:
        def finished(report: TurnReport | None) -> None:
            if report is None:
                self._post(run_id, _process_lost(attempt_number, slot_id))
            else:
                told = {**report, "type": "turn_finished", "attempt_number": attempt_number, "slot_id": slot_id}
                self._post(run_id, cast("TurnFinished", told))

        return finished

    # Performing effects.

    def _perform_soon(self, live: _Live, effects: list[Effect]) -> None:
        live.effects.extend(live.owed)
        live.owed.clear()
        live.effects.extend(effects)
        if live.effects and live.performer is None and not self._closed:
            live.performer = self._spawn(self._perform_all(live), "turnlatch-perform")

    async def _perform_all(self, live: _Live) -> None:
        try:
            while live.effects:
                effect = live.effects.popleft()
                if _waits_for_end_of_process(effect, live.owed):
                    live.owed.append(effect)
                else:
                    await self._perform_with_retries(live, effect)
        finally:
            live.performer = None
        if live.owed and self._loop is not None:
            nothing_new: list[Effect] = []
            self._loop.call_later(self._retry.pause, self._perform_soon, live, nothing_new)

    async def _perform_with_retries(self, live: _Live, effect: Effect) -> None:
        begun = False
        attempt = 0
        while _still_wanted(live.run, effect):
            attempt += 1
            try:
                if not begun and (effect["type"] == "start_turn" or effect["type"] == "inject_reply"):
                    await _settle(self._store.mark_begun(live.run.run_id, effect["id"]))
                    begun = True
                await self._perform(live, effect)
                return
            except Exception as error:
                await self._report(live.run.run_id, effect, error, attempt)
            if attempt >= self._retry.attempts:
                await self._give_up(live, effect, begun)
                return
            await asyncio.sleep(self._retry.wait_after(attempt))

    async def _give_up(self, live: _Live, effect: Effect, begun: bool) -> None:
        if (effect["type"] == "start_turn" or effect["type"] == "inject_reply") and begun:
            try:
                # A start that raised may have started something all the same.
                await _settle(self._processes.terminate(effect["slot_id"]))
            except Exception as error:
                await self._report(live.run.run_id, effect, error, self._retry.attempts)
            self._post(live.run.run_id, _host_failed(effect["attempt_number"], effect["slot_id"]))
        elif effect["type"] != "notify":
            live.owed.append(effect)

    async def _perform(self, live: _Live, effect: Effect) -> None:
        run_id = live.run.run_id
        if effect["type"] == "acquire_slot":
            granted: Event = {"type": "slot_granted", "slot_id": effect["slot_id"]}
            await _settle(self._slots.acquire(run_id, effect["slot_id"], partial(self._post, run_id, granted)))
        elif effect["type"] == "release_slot":
            await _settle(self._slots.release(effect["slot_id"]))
        elif effect["type"] == "set_timer":
            fired: Event = {"type": "timer_fired", "interaction_id": effect["interaction_id"]}
            post = partial(self._post, run_id, fired)
            await _settle(self._timers.set(run_id, effect["interaction_id"], effect["at"], post))
        elif effect["type"] == "cancel_timer":
            await _settle(self._timers.cancel(run_id, effect["interaction_id"]))
        elif effect["type"] == "terminate_process":
            await _settle(self._processes.terminate(effect["slot_id"]))
        elif effect["type"] == "notify":
            if self._on_notify is not None:
                await _settle(self._on_notify(run_id, effect))
        else:
            await self._run_turn(live, effect)

    async def _run_turn(self, live: _Live, effect: StartTurn | InjectReply) -> None:
        finished = self._finished(live.run.run_id, effect["attempt_number"], effect["slot_id"])
        if effect["type"] == "start_turn":
            await _settle(self._processes.start(live.run.copy(), effect, finished))
        else:
            await _settle(self._processes.inject(live.run.copy(), effect, finished))

    async def _attempt(self, run_id: str, call: Callable[[], MaybeAwaitable[Any]]) -> bool:
        """Calls with retries, at recovery. Whether it succeeded."""
        for attempt in range(1, self._retry.attempts + 1):
            try:
                await _settle(call())
                return True
            except NotLoaded as error:
                await self._report(run_id, None, error, attempt)
                return False  # reading it again would not make it better
            except Exception as error:
                await self._report(run_id, None, error, attempt)
            if attempt < self._retry.attempts:
                await asyncio.sleep(self._retry.wait_after(attempt))
        return False

    async def _report(self, run_id: str, what: Effect | Event | None, error: Exception, attempt: int) -> None:
        doing = "recovery" if what is None else what["type"]
        _log.warning("run %s: %s failed (attempt %d): %r", run_id, doing, attempt, error)
        if self._on_error is not None:
            try:
                await _settle(self._on_error(run_id, what, error, attempt))
            except Exception:
                _log.exception("on_error itself failed")

    # Tasks.

    def _open(self) -> None:
        if self._closed:
            raise RuntimeError("the driver is closed")
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        elif self._loop is not loop:
            raise RuntimeError("a Driver belongs to the event loop it was first used on")

    def _not_inside(self, live: _Live, method: str) -> None:
        if asyncio.current_task() in (live.performer, live.courier):
            raise RuntimeError(
                f"{method}() was called inside of a callback of run {live.run.run_id}, which cannot go on before the "
                "callback returns; call it in a task of its own"
            )

    def _spawn(self, work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _unbroken(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs to the end also if the caller is cancelled: a save that was begun must not be forgotten half way."""
        return await asyncio.shield(self._spawn(work, "turnlatch-save"))


def _apply(event: Event, run: Run, now: int) -> Applied:
    return run.apply(event, now)


def _still_wanted(run: Run, effect: Effect) -> bool:
    """Whether an effect still has to be performed: the core may have told its opposite meanwhile (a cancel)."""
    if effect["type"] in ("acquire_slot", "start_turn", "inject_reply", "set_timer"):
        return any(owed["id"] == effect["id"] for owed in run.outstanding()["effects"])
    return True


def _waits_for_end_of_process(effect: Effect, owed: list[Effect]) -> bool:
    """A slot is not given back while its process could not be ended: the next turn would run beside it (LIFE-7)."""
    return effect["type"] == "release_slot" and any(
        failed["type"] == "terminate_process" and failed["slot_id"] == effect["slot_id"] for failed in owed
    )


def _process_lost(attempt_number: int, slot_id: str) -> ProcessLost:
    return {"type": "process_lost", "attempt_number": attempt_number, "slot_id": slot_id}


def _host_failed(attempt_number: int, slot_id: str | None) -> TurnFinished:
    event: TurnFinished = {"type": "turn_finished", "attempt_number": attempt_number, "failure_reason": "HOST_FAILED"}
    if slot_id is not None:
        event["slot_id"] = slot_id
    return event


async def _settle(result: MaybeAwaitable[T]) -> T:
    if inspect.isawaitable(result):
        return await result
    return result

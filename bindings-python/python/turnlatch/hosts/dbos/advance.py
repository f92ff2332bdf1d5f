"""One transaction takes an event: it locks the run's row, asks the core, saves, and enqueues what follows."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from ...errors import LoadError
from ...parts import Clock
from ...run import Plan, Run, Transition
from ...types import Effect, RunEvent
from .database import Database, is_passing
from .tables import NOBODY, Displaced, Held, Hold, Tables
from .workflows import Enqueuer

T = TypeVar("T")
Step = Callable[[Run, int], Transition]
Beside = Callable[[sa.Connection], None]

_PATIENCE_SEC = 30.0  # how long a database that does not answer is waited for
_LOOK_AGAIN_SEC = 0.2


@dataclass(frozen=True, slots=True)
class Advanced:
    """A run after an event, as it was saved; ``withdrawn`` are effects for queues that are not wanted any more."""

    run: Run
    applied: Transition
    withdrawn: list[Effect]


@dataclass(frozen=True, slots=True)
class Granted:
    """A run whose slot was granted; ``begun`` says that what it owes was begun before, by somebody who is gone."""

    advanced: Advanced
    begun: bool


@dataclass(frozen=True, slots=True)
class _Saved:
    """What a transaction meant to commit: the line is chained to all before it, so it cannot be another's."""

    run_id: str
    revision: int
    line: str


class Advance:
    """Changes runs. Every method is called on a thread, and answers when the change is durable.

    A database that is away for a moment is waited for. A commit whose answer was lost is looked up before anything is
    done again, so that nobody is told that his reply came too late because it came twice.
    """

    def __init__(self, database: Database, tables: Tables, enqueuer: Enqueuer, clock: Clock) -> None:
        self._database = database
        self._tables = tables
        self._enqueuer = enqueuer
        self._clock = clock

    def create(self, plan: Plan, beside: Beside | None = None) -> Advanced:
        """Makes a run, or raises ``RUN_EXISTS``; and in the same transaction what a host keeps beside it."""
        now = self._clock()
        run, applied = Run.create(plan, now)
        entry = applied.entry
        assert entry is not None, "creation is always journaled"

        def work(db: sa.Connection, saved: Callable[[_Saved], None]) -> Advanced:
            line = self._tables.insert(db, run, entry)
            if beside is not None:
                beside(db)
            saved(_Saved(run.run_id, entry.revision, line))
            return Advanced(run, applied, self._enqueue(db, run.run_id, applied, now))

        return self._certainly(work)

    def change(self, run_id: str, step: Step, hold: Hold | None = None) -> Advanced:
        """Applies a step. With ``hold``, only if the turn is still carried out under it."""

        def work(db: sa.Connection, saved: Callable[[_Saved], None]) -> Advanced:
            snapshot = self._tables.locked(db, run_id)
            if hold is not None:
                self._tables.check(db, hold)
            return self._apply(db, Run.from_json(snapshot), step, saved)

        return self._certainly(work)

    def grant(self, run_id: str, hold: Hold, slots: int) -> Granted | None:
        """Tells the run that it has its slot, and holds the slot if the run wants it; ``None`` if none is free. Raises
        :class:`Displaced` if the workflow is another worker's by now."""
        event: RunEvent = {"type": "slot_granted", "slot_id": hold.slot_id}

        def work(db: sa.Connection, saved: Callable[[_Saved], None]) -> Granted | None:
            before = Run.from_json(self._tables.locked(db, run_id))
            # Asked under the run's lock: who takes the workflow over from here on is granted the slot after this.
            if self._enqueuer.carrier(hold.slot_id) != hold.executor_id:
                raise Displaced
            if wants(before.copy(), event, self._clock()):
                # The slot is taken first: the run must not be granted one that there is not.
                if not self._tables.take_slot(db, run_id, hold, slots):
                    return None
            else:
                # An earlier execution may have held it until it died. This one gives it back in its place.
                self._tables.adopt_slot(db, hold)
            advanced = self._apply(db, before, lambda run, now: run.apply(event, now), saved)
            begins = advanced.run.outstanding().get("turn_effect_id")
            # A slot that the run does not want ends with this workflow, which need not be withdrawn.
            kept = replace(advanced, withdrawn=[])
            return Granted(kept, begins is not None and self._tables.was_begun(db, run_id, {begins}))

        return self._certainly(work)

    def mark_begun(self, run_id: str, effect_id: str, hold: Hold) -> None:
        """Notes that an effect is about to be performed. Whoever has lost the turn cannot begin anything."""

        def work(db: sa.Connection, _saved: object) -> None:
            self._tables.check(db, hold)
            self._tables.mark_begun(db, run_id, effect_id)

        self._certainly(work)

    def release(self, hold: Hold) -> None:
        """Gives the slot back."""
        self._certainly(lambda db, _saved: self._tables.release_slot(db, hold))

    def abandon(self, run_id: str, hold: Hold) -> None:
        """Gives the slot of a run back that cannot be read, whichever execution held it. Raises :class:`Displaced` if
        the workflow is another worker's by now."""

        def work(db: sa.Connection, _saved: object) -> None:
            self._tables.lock(db, run_id)
            if self._enqueuer.carrier(hold.slot_id) != hold.executor_id:
                raise Displaced
            self._tables.free_slot(db, hold.slot_id)

        self._certainly(work)

    def free_unwanted(self) -> list[str]:
        """Frees the slots that are held for no run, and returns their ids.

        A slot whose run is done with it is normally given back by the execution that holds it, as soon as the process
        is gone. It is freed here if no execution can do that: the slot was taken away from its worker, or its workflow
        is over.
        """
        held = self.read(self._tables.holders)
        active = self._enqueuer.active([slot.slot_id for slot in held])
        unattended = [slot for slot in held if slot.holder == NOBODY or slot.slot_id not in active]
        return [slot.slot_id for slot in unattended if self._free_if_unwanted(slot)]

    def _free_if_unwanted(self, slot: Held) -> bool:
        def work(db: sa.Connection, _saved: object) -> bool:
            # Under the run's lock the slot cannot be granted, and what the run wants stays as it is read here.
            snapshot = self._tables.lock(db, slot.run_id)
            if self._tables.holder(db, slot.slot_id) != slot.holder:
                return False  # it was given back, or an execution has it by now
            if slot.holder != NOBODY and self._enqueuer.active([slot.slot_id]):
                return False
            if snapshot is not None and keeps_slot(Run.from_json(snapshot), slot.slot_id):
                return False
            self._tables.free_slot(db, slot.slot_id)
            return True

        try:
            return self._certainly(work)
        except LoadError:
            return False  # a newer package may be able to read the run, and to say what it wants

    def write(self, work: Callable[[sa.Connection], T]) -> T:
        """Does something else in a transaction; it must be as well if it is done twice."""
        return self._certainly(lambda db, _saved: work(db))

    def read(self, query: Callable[[sa.Connection], T]) -> T:
        """The answer to a query."""
        return self._certainly(lambda db, _saved: query(db), self._database.reading)

    def _apply(self, db: sa.Connection, run: Run, step: Step, saved: Callable[[_Saved], None]) -> Advanced:
        now = self._clock()
        applied = step(run, now)
        if applied.entry is None:
            return Advanced(run, applied, [])
        line = self._tables.update(db, run, applied.entry)
        saved(_Saved(run.run_id, applied.entry.revision, line))
        return Advanced(run, applied, self._enqueue(db, run.run_id, applied, now))

    def _enqueue(self, db: sa.Connection, run_id: str, applied: Transition, now: int) -> list[Effect]:
        """Enqueues the effects for queues. Returns those that withdraw something from a queue."""
        withdrawn: list[Effect] = []
        for effect in applied.effects:
            self._enqueuer.enqueue(db, run_id, effect, now)
            if effect["type"] == "cancel_timer" or (
                # The workflow of a slot that is held ends by itself, when its process is gone.
                effect["type"] == "release_slot" and not self._tables.is_held(db, effect["slot_id"])
            ):
                withdrawn.append(effect)
        if self._database.is_postgres:
            db.execute(sa.text("SELECT pg_notify('turnlatch', :run_id)"), {"run_id": run_id})
        return withdrawn

    def _certainly(
        self,
        work: Callable[[sa.Connection, Callable[[_Saved], None]], T],
        transaction: Callable[[], AbstractContextManager[sa.Connection]] | None = None,
    ) -> T:
        """Does it in one transaction, again if the connection was lost, and once even if the answer was lost."""
        transaction = transaction or self._database.transaction
        end = time.monotonic() + _PATIENCE_SEC
        earlier: tuple[_Saved, T] | None = None
        while True:
            meant: list[_Saved] = []
            try:
                with transaction() as db:
                    if earlier is not None and self._was_saved(db, earlier[0]):
                        return earlier[1]
                    answer = work(db, meant.append)
                    if meant:
                        earlier = meant[0], answer
                return answer
            except DBAPIError as error:
                if not is_passing(error) or time.monotonic() > end:
                    raise
                time.sleep(_LOOK_AGAIN_SEC)

    def _was_saved(self, db: sa.Connection, saved: _Saved) -> bool:
        return self._tables.has_line(db, saved.run_id, saved.revision, saved.line)


def wants(run: Run, grant: RunEvent, now: int) -> bool:
    """Whether a slot that is granted now is the run's to keep, as the core says."""
    run.apply(grant, now)
    return run.outstanding()["keep"].get("process") == grant.get("slot_id")


def keeps_slot(run: Run, slot_id: str) -> bool:
    """Whether the run has the slot, or has asked for it, as the core says."""
    return run.outstanding()["keep"].get("slot_id") == slot_id


def telling(event: RunEvent) -> Step:
    """The step that applies an event."""
    return partial(_told, event)


def _told(event: RunEvent, run: Run, now: int) -> Transition:
    return run.apply(event, now)

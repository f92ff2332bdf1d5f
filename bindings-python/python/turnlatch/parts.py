"""What a host supplies to a :class:`turnlatch.Driver`: slots, timers, processes and a store.

Every method may be a plain function or a coroutine function. The callables that a part is given (``granted``,
``fired``, ``finished``) never block, never raise and may be called from any thread, at any time, also twice: the core
recognises what comes late or repeated.
"""

from __future__ import annotations

import errno
from collections.abc import Awaitable, Callable, Collection
from typing import Protocol, TypeAlias, TypeVar

from .errors import TurnlatchError
from .run import Entry, Journal, Run
from .types import Effect, InjectReply, Observation, RunEvent, Said, StartTurn, TurnReport

T = TypeVar("T")

MaybeAwaitable: TypeAlias = T | Awaitable[T]
Clock: TypeAlias = Callable[[], int]
"""Milliseconds since the Unix epoch."""
Finished: TypeAlias = Callable[[TurnReport | None], None]
"""Takes a turn's report, without ``attempt_number`` and ``slot_id``; ``None`` says that the process is gone and left
no result of a turn (a sticky process that ended while it waited for a reply)."""
OnSaid: TypeAlias = Callable[[Said], None]
"""Takes what an agent says while its turn is under way. It must not block."""
OnNotify: TypeAlias = Callable[[str, Effect], MaybeAwaitable[None]]
"""``on_notify(run_id, effect)``: the run's status changed."""
OnError: TypeAlias = Callable[[str, "Effect | RunEvent | None", Exception, int], MaybeAwaitable[None]]
"""``on_error(run_id, what, error, attempt)``: an effect was not performed, or a part's event not applied, at the
``attempt``-th try; ``what`` is ``None`` if the run could not be recovered after a restart."""

OnObservation: TypeAlias = Callable[[Observation], None]
"""``on_observation(observation)``: a step was saved, or an event rejected. It must not block; what it raises is
logged and harms nothing."""


_OUT_OF_RESOURCES = {errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM}


def is_out_of_resources(error: BaseException) -> bool:
    """Whether the host has no descriptor, process or memory left (``EMFILE``, ``ENFILE``, ``EAGAIN``, ``ENOMEM``).

    A turn that cannot start because of that waits until it can; by any other error that lasts it fails."""
    return isinstance(error, OSError) and error.errno in _OUT_OF_RESOURCES


class StoreConflictError(TurnlatchError):
    """The store holds another revision than the expected one (``STORE_CONFLICT``), or the id is taken
    (``RUN_EXISTS``); nothing was saved."""


class RunNotFoundError(TurnlatchError, KeyError):
    """There is no run of this id, in the store or in a driver's memory (``RUN_UNKNOWN``)."""

    __str__ = Exception.__str__


class DriverUsageError(TurnlatchError, RuntimeError):
    """A driver was asked for something it cannot do now: ``DRIVER_CLOSED``, ``INSIDE_CALLBACK``, ``RUN_NOT_DONE``,
    ``OTHER_EVENT_LOOP``; or a database has another host: ``DATABASE_IN_USE``. Hosts on an engine also say
    ``DRIVER_EXISTS`` and ``EXECUTOR_ID_IN_USE``."""


class Slots(Protocol):
    """Permissions to run one turn."""

    def acquire(self, run_id: str, slot_id: str, granted: Callable[[], None]) -> MaybeAwaitable[None]:
        """Asks for a slot and returns at once; calls ``granted`` when there is one. For a slot that was granted
        before, calls it again."""
        ...

    def hold(self, run_id: str, slot_id: str) -> MaybeAwaitable[bool]:
        """Counts a slot as granted without asking: its run had it before the restart. ``False`` if somebody else has
        it by now; then its turn counts as lost."""
        ...

    def release(self, slot_id: str) -> MaybeAwaitable[None]:
        """Gives a slot back, or withdraws the request for it; nothing if there is neither."""
        ...

    def held(self) -> MaybeAwaitable[Collection[str]]:
        """The slots this host has or has asked for."""
        ...


class Timers(Protocol):
    """Alarms at absolute times, one for each question of a run."""

    def set(self, run_id: str, interaction_id: int, at_ms: int, fired: Callable[[], None]) -> MaybeAwaitable[None]:
        """Calls ``fired`` at that time, or soon if it has passed. A second call for the question replaces the first."""
        ...

    def cancel(self, run_id: str, interaction_id: int) -> MaybeAwaitable[None]:
        """Forgets the question's alarm; nothing if there is none."""
        ...

    def pending(self) -> MaybeAwaitable[Collection[tuple[str, int]]]:
        """The run and question of every alarm that is set."""
        ...


class Processes(Protocol):
    """The agent's processes; the slot's id names the process. ``run`` is a copy, to be read: history, handle, view.

    A call that failed is made again, and may have done its work: a process that lives in the slot is kept, the same
    reply (by the effect's id) is given once, and the end of a turn that is over is told again. A turn that cannot be
    begun fails after some tries, unless the error says that the host is out of resources
    (:func:`is_out_of_resources`): then it waits."""

    def start(self, run: Run, effect: StartTurn, finished: Finished) -> MaybeAwaitable[None]:
        """Starts a turn in a process of its own and returns; ``finished`` is called when the turn has ended."""
        ...

    def inject(self, run: Run, effect: InjectReply, finished: Finished) -> MaybeAwaitable[None]:
        """Gives a reply to a sticky process that waits for it; ``finished`` is called when that turn has ended."""
        ...

    def attach(self, slot_id: str, finished: Finished) -> MaybeAwaitable[None]:
        """After a restart, for a process in :meth:`alive`: its turn is reported here from now on, also if it has ended
        already."""
        ...

    def terminate(self, slot_id: str) -> MaybeAwaitable[None]:
        """Ends the process with all its children and returns when they are gone; nothing if there is none."""
        ...

    def alive(self) -> MaybeAwaitable[Collection[str]]:
        """The slots whose process this host still has."""
        ...


class Store(Protocol):
    """Where runs are kept. What a method has returned from survives a crash."""

    def create(self, run_id: str, snapshot: str, entry: Entry) -> MaybeAwaitable[None]:
        """Keeps a new run and its first journal entry, or raises :class:`StoreConflictError` if the id is taken."""
        ...

    def save(
        self, run_id: str, expected_revision: int, snapshot: str, entry: Entry, ended: bool
    ) -> MaybeAwaitable[None]:
        """Replaces the snapshot and appends the entry, both or neither; raises :class:`StoreConflictError` if the
        stored revision (``entry.revision`` of the last save) is not the expected one."""
        ...

    def load(self, run_id: str) -> MaybeAwaitable[str]:
        """The run's snapshot, or raises :class:`RunNotFoundError`."""
        ...

    def unfinished(self) -> MaybeAwaitable[Collection[str]]:
        """The ids of the runs that were not saved as ended, oldest first."""
        ...

    def mark_begun(self, run_id: str, effect_id: str) -> MaybeAwaitable[None]:
        """Notes, durably, that an effect which must not happen twice is about to be performed."""
        ...

    def was_begun(self, run_id: str, effect_id: str) -> MaybeAwaitable[bool]:
        """Whether that was noted."""
        ...

    def journal(self, run_id: str) -> MaybeAwaitable[Journal]:
        """The run's journal."""
        ...

"""A host in memory whose n-th callback fails, never answers, or is its death. Used by test_failing_host.py."""

from __future__ import annotations

import asyncio
import selectors
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hosting import DONE
from turnlatch import Run
from turnlatch.local import LocalSlots, MemoryStore

SLOTS = ("acquire", "hold", "release", "held")
TIMERS = ("set", "cancel", "pending")
PROCESSES = ("start", "inject", "attach", "terminate", "alive")
STORE = ("create", "save", "load", "unfinished", "mark_begun", "was_begun")
WORDS: dict[str, Any] = {"asks": {"text": "Which file?"}, "done": {"text": DONE}, "lost": None}
ALWAYS = 1_000_000
_LONGEST_SEC = 400.0
_TURN_SEC = 1.0


class Killed(BaseException):
    """The host is dead."""


class Escaped(BaseException):
    """What no ``except Exception`` catches."""


class Stuck(BaseException):
    """Nothing is left to do, or only what is tried again and again."""


class GivenUp(Exception):
    """The client has asked often enough."""


ERRORS: dict[str, Callable[[], BaseException]] = {
    "raises": lambda: OSError("the service is down"),
    "escapes": Escaped,
    "exits": lambda: SystemExit(3),
    "interrupts": KeyboardInterrupt,
    "cancelled": asyncio.CancelledError,
}


class _NoTime(selectors.DefaultSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if not ready and timeout != 0:
            if timeout is None or self.now > _LONGEST_SEC:
                raise Stuck
            self.now += timeout
        return ready


class TimelessLoop(asyncio.SelectorEventLoop):
    """Time passes only when nothing is left to do, and then at once."""

    def __init__(self) -> None:
        self._no_time = _NoTime()
        super().__init__(self._no_time)

    def time(self) -> float:
        return self._no_time.now


@dataclass(frozen=True)
class Fault:
    """What goes wrong with the ``at``-th callback, and with the next calls of it."""

    at: int = 0
    how: str = "raises"  # or: escapes, exits, interrupts, cancelled, hangs, dies
    after_work: bool = False
    times: int = 1
    also: str = ""  # another callback that then fails before it has done its work, or "all"

    @property
    def kills(self) -> bool:
        return self.how in ("hangs", "dies") or self.times == ALWAYS


class Faults:
    """Counts one host's callbacks and lets the fault happen."""

    def __init__(self, fault: Fault, die: Callable[[], None]) -> None:
        self.fault = fault
        self.calls: list[str] = []
        self.failed: list[str] = []
        self.dead = False
        self._die = die

    def wrap(self, part: Any, names: tuple[str, ...], plain: bool) -> Any:
        """The part with the named calls counted."""
        return _Failing(self, part, names, plain)

    def plainly(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """The same for a plain function."""

        def call(*args: Any) -> Any:
            wrong = self._goes_wrong(name)
            if wrong == "before":
                self._fail()
            result = work(*args)
            if wrong == "after":
                self._fail()
            return result

        return call

    def awaited(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """The same as a coroutine."""

        async def call(*args: Any) -> Any:
            wrong = self._goes_wrong(name)
            await asyncio.sleep(0)
            if wrong == "before":
                await self._fail_in_time()
            result = work(*args)
            await asyncio.sleep(0)
            if wrong == "after":
                await self._fail_in_time()
            if self.dead:
                raise Killed
            return result

        return call

    def _goes_wrong(self, name: str) -> str | None:
        """Whether that is before or after its work."""
        if self.dead:
            raise Killed
        self.calls.append(name)
        fault, n = self.fault, len(self.calls)
        if not 0 < fault.at <= n or len(self.failed) >= fault.times:
            return None
        is_first = n == fault.at
        if not (is_first or fault.also in (name, "all") or (not fault.also and name == self.calls[fault.at - 1])):
            return None
        self.failed.append(name)
        return "after" if fault.after_work and (is_first or not fault.also) else "before"

    async def _fail_in_time(self) -> None:
        if self.fault.how == "hangs":
            await asyncio.Event().wait()
        self._fail()

    def _fail(self) -> None:
        if self.fault.how == "dies":
            self.dead = True
            self._die()
            raise Killed
        raise self.error()

    def error(self) -> BaseException:
        """What failing callbacks raise."""
        return ERRORS.get(self.fault.how, ERRORS["raises"])()


class _Failing:
    def __init__(self, faults: Faults, part: Any, names: tuple[str, ...], plain: bool) -> None:
        wrap = faults.plainly if plain else faults.awaited
        self._calls = {name: wrap(name, getattr(part, name)) for name in names}

    def __getattr__(self, name: str) -> Any:
        return self._calls[name]


@dataclass
class _Process:
    run_id: str
    says: str
    sticky: bool
    finished: Callable[[Any], None]
    in_turn: bool = True
    injected: str = ""


class Agents:
    """Processes that say ``says(run_id, attempt, how often that was begun before)``, a moment after they began."""

    def __init__(self, world: World, says: Callable[[str, int, int], str]) -> None:
        self._world, self._says = world, says
        self._processes: dict[str, _Process] = {}
        self.begun: Counter[tuple[str, int, str]] = Counter()

    def start(self, run: Run, effect: Any, finished: Callable[[Any], None]) -> None:
        slot_id, attempt = effect["slot_id"], effect["attempt_number"]
        if slot_id in self._processes:
            return self.attach(slot_id, finished)
        self._world.check(slot_id in self._world.slots.granted(), f"{slot_id} is not held")
        self._world.check(run.run_id not in {p.run_id for p in self._processes.values()}, f"{run.run_id} runs twice")
        says, sticky = (
            self._begin(run.run_id, attempt, slot_id),
            run.plan.to_dict()["interactive_profile"]["kind"] == "sticky_process",
        )
        self._processes[slot_id] = _Process(run.run_id, says, sticky, finished)
        self._speak_soon(slot_id)

    def inject(self, run: Run, effect: Any, finished: Callable[[Any], None]) -> None:
        slot_id, attempt = effect["slot_id"], effect["attempt_number"]
        process = self._processes.get(slot_id)
        if process is None:
            return finished(None)
        if process.injected != effect["id"]:
            process.injected, process.in_turn = effect["id"], True
            process.says = self._begin(run.run_id, attempt, slot_id)
        self.attach(slot_id, finished)

    def attach(self, slot_id: str, finished: Callable[[Any], None]) -> None:
        process = self._processes[slot_id]
        process.finished = finished
        if process.in_turn:
            self._speak_soon(slot_id)
        else:
            finished(WORDS[process.says])

    def terminate(self, slot_id: str) -> None:
        self._processes.pop(slot_id, None)

    def alive(self) -> list[str]:
        return list(self._processes)

    def _begin(self, run_id: str, attempt: int, slot_id: str) -> str:
        before = sum(n for (run, number, _), n in self.begun.items() if (run, number) == (run_id, attempt))
        self.begun[run_id, attempt, slot_id] += 1
        return self._says(run_id, attempt, before)

    def _speak_soon(self, slot_id: str) -> None:
        life = self._world.life
        asyncio.get_running_loop().call_later(self._world.turn_sec, self._speak, slot_id, life)

    def _speak(self, slot_id: str, life: object) -> None:
        process = self._processes.get(slot_id)
        if process is None or not process.in_turn or process.says == "works" or life is not self._world.life:
            return
        process.in_turn = False
        if not process.sticky or process.says == "lost":
            del self._processes[slot_id]
        process.finished(WORDS[process.says])


class Alarms:
    """Timers that ring when they are told to."""

    def __init__(self) -> None:
        self._alarms: dict[tuple[str, int], tuple[int, Callable[[], None]]] = {}

    def set(self, run_id: str, interaction_id: int, at_ms: int, fired: Callable[[], None]) -> None:
        self._alarms[run_id, interaction_id] = (at_ms, fired)

    def cancel(self, run_id: str, interaction_id: int) -> None:
        self._alarms.pop((run_id, interaction_id), None)

    def pending(self) -> list[tuple[str, int]]:
        return list(self._alarms)

    def due(self, run_id: str, interaction_id: int) -> int:
        return self._alarms[run_id, interaction_id][0]

    def ring(self, run_id: str, interaction_id: int) -> None:
        self._alarms.pop((run_id, interaction_id))[1]()


class World:
    """What there is beside a host, and outlives it: the store, and if ``outlives`` says so, slots and processes."""

    def __init__(
        self, says: Callable[[str, int, int], str], outlives: bool = False, turn_sec: float = _TURN_SEC
    ) -> None:
        self.outlives, self.turn_sec = outlives, turn_sec
        self.store = MemoryStore()
        self.slots = LocalSlots(1)
        self.agents = Agents(self, says)
        self.now = 1_000_000
        self.life: object = None
        self.steps_done = 0
        self.accepted: list[tuple[str, str]] = []
        self.observation: Counter[tuple[str, int]] = Counter()
        self.wrong: list[str] = []

    def check(self, holds: bool, otherwise: str) -> None:
        if not holds:
            self.wrong.append(otherwise)

    def die(self) -> None:
        """The host is gone, and what lived in it."""
        self.life = None
        if not self.outlives:
            self.slots = LocalSlots(1)
            self.agents._processes.clear()

    def observe(self, observation: Any) -> None:
        # Every step into another status, once it was saved.
        if "left" in observation:
            self.observation[observation["run_id"], observation["revision"]] += 1

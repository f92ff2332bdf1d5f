"""Every callback of recorded runs fails, in every way: nothing is lost, nothing doubled, nothing left."""

from __future__ import annotations

import asyncio
import functools
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

import gates
from failing_host import (
    ALWAYS,
    PROCESSES,
    SLOTS,
    STORE,
    TIMERS,
    Alarms,
    Fault,
    Faults,
    GivenUp,
    Stuck,
    TimelessLoop,
    World,
)
from hosting import STICKY, plan
from turnlatch import Run, replay
from turnlatch.driver import Driver, RetryPolicy
from turnlatch.parts import DriverUsageError, RunNotFoundError, StoreConflictError
from turnlatch.sync_driver import SyncDriver

LOOSE = {"interactive_require_user_reply": False, "session_timeout_sec": 100}
RETRY = {"interrupted_turn": "retry"}
RETRIES = RetryPolicy()
LOST = {"ORCHESTRATOR_RESTART_INTERRUPTED", "INTERACTION_PROCESS_LOST"}
OFTEN = 10  # more than is tried in a row


@dataclass(frozen=True)
class Scenario:
    """What is asked of the host, step by step, and what agents say in their attempts; ``!`` is lost the first time."""

    steps: str
    says: dict[str, str]
    options: dict[str, dict[str, Any]] = field(default_factory=dict)

    def agent(self, run_id: str, attempt: int, before: int) -> str:
        said = self.says[run_id].split()[attempt - 1]
        return "lost" if said.endswith("!") and before == 0 else said.rstrip("!")

    def plan(self, run_id: str) -> Any:
        return plan(run_id, **self.options.get(run_id, {}))


def one(steps: str, says: str, **options: Any) -> Scenario:
    return Scenario(f"start a, {steps}", {"a": says}, {"a": options})


SCENARIOS = {
    "auto": one("end a", "done", execution_mode="auto"),
    "auto, no output": one("end a", "asks", execution_mode="auto"),
    "auto, retried": one("end a", "done!", execution_mode="auto", **RETRY),
    "resumable, strict": one("answer a 1, answer a 2, end a", "asks asks done"),
    "resumable, strict, retried": one("answer a 1, end a", "asks! done!", **RETRY),
    "resumable": one("ring a 1, answer a 2, end a", "asks asks done", **LOOSE, **RETRY),
    "sticky, strict": one("answer a 1, answer a 2, end a", "asks asks done", interactive_profile=STICKY),
    "sticky, strict, too late": one("ring a 1, end a", "asks", interactive_profile=STICKY),
    "sticky": one("ring a 1, answer a 2, end a", "asks asks done", interactive_profile=STICKY, **LOOSE),
    "canceled at work": one("cancel a running, end a", "works"),
    "canceled while it waits": one("cancel a waiting_user, end a", "asks", **LOOSE),
    "canceled while a process waits": one("cancel a waiting_user, end a", "asks", interactive_profile=STICKY),
    "two runs, one slot": Scenario(
        "start a, reach a waiting_user, start b, reach b running, answer a 1, cancel a queued running, cancel b running"
        ", end a, end b",
        {"a": "asks works", "b": "works"},
    ),
}


class Life:
    """One host, from its start to its end or death."""

    def __init__(self, scenario: Scenario, world: World, fault: Fault, die: Callable[[], None], plain: bool) -> None:
        self.scenario, self.world = scenario, world
        self.faults = Faults(fault, die)
        self.alarms = Alarms()
        world.life = self
        part = functools.partial(self.faults.wrap, plain=plain)
        notify = self.faults.plainly if plain else self.faults.awaited
        self.parts: dict[str, Any] = {
            "slots": part(world.slots, SLOTS),
            "timers": part(self.alarms, TIMERS),
            "processes": part(world.agents, PROCESSES),
            "store": part(world.store, STORE),
            "clock": self.faults.plainly("clock", lambda: world.now),
            "on_notify": notify("on_notify", lambda run_id, effect: None),
            "on_observation": self.faults.plainly("on_observation", world.observe),
            "on_error": self._fails_too,
        }

    def _fails_too(self, *_: Any) -> None:
        raise self.faults.error()

    async def perform(self, driver: Any) -> None:
        """The steps that no earlier host has done to the end."""
        self.driver = driver
        await trying(driver.recover)
        for step in self.scenario.steps.split(", ")[self.world.steps_done :]:
            name, run_id, *rest = step.split()
            await getattr(self, f"_{name}")(run_id, *rest)
            self.world.steps_done += 1
        await driver.close()

    async def _start(self, run_id: str) -> None:
        async def start() -> None:
            try:
                await self.driver.start(self.scenario.plan(run_id))
            except StoreConflictError:
                # The start before was saved, though nobody could see that.
                await self.driver.recover()

        try:
            self.world.store.load(run_id)
        except RunNotFoundError:
            await trying(start)

    async def _reach(self, run_id: str, *statuses: str) -> Any:
        return await trying(lambda: self.driver.wait(run_id, *statuses))

    async def _asks(self, run_id: str, question: int) -> bool:
        """Whether this question is to be answered, when it is there; an earlier host may have seen to that."""
        saved = Run.from_json(self.world.store.load(run_id))
        if any(record["interaction_id"] == question for record in saved.history()):
            return False
        return bool((await self._reach(run_id, "waiting_user")).get("pending_interaction_id") == question)

    async def _answer(self, run_id: str, question: str) -> None:
        if await self._asks(run_id, int(question)):
            receipt = await trying(lambda: self.driver.reply(run_id, int(question), question, f"key {question}"))
            if receipt["kind"] in ("accepted", "duplicate"):
                self.world.accepted.append((run_id, question))
            else:
                # That the process is gone may have been found out just now; whether it may be is for `check` to say.
                assert receipt["code"] == "STALE_INTERACTION" and self.driver.view(run_id)["status"] == "failed", (
                    receipt
                )

    async def _ring(self, run_id: str, question: str) -> None:
        alarm = (run_id, int(question))
        while await self._asks(run_id, int(question)):
            await self._settle(run_id)
            if alarm in self.alarms.pending():
                self.world.now = self.alarms.due(*alarm)
                self.alarms.ring(*alarm)
            await asyncio.sleep(self.world.turn_sec)
            await trying(lambda: self.driver.settled(run_id))

    async def _cancel(self, run_id: str, *statuses: str) -> None:
        await self._reach(run_id, *statuses)
        receipt = await trying(lambda: self.driver.cancel(run_id))
        assert receipt["kind"] in ("canceled", "already_ended"), receipt

    async def _end(self, run_id: str) -> None:
        await self._reach(run_id, "succeeded")
        await self._settle(run_id)
        if owed := self.driver.owed(run_id):
            raise GivenUp(f"still owed: {owed}")

    async def _settle(self, run_id: str) -> None:
        # What is being tried again just now is not owed, so nothing owed has to be seen more often than anything fails.
        for _ in range(2 * OFTEN):
            if self.driver.owed(run_id):
                await trying(lambda: self.driver.retry_owed(run_id))
            await trying(lambda: self.driver.settled(run_id))


async def trying(work: Callable[[], Awaitable[Any]]) -> Any:
    """As clients do it: again, until it works."""
    for _ in range(2 * OFTEN):
        try:
            return await work()
        except Exception as error:
            failed = error
    raise GivenUp("it never works") from failed


def live(scenario: Scenario, world: World, fault: Fault, plain: bool) -> tuple[Life, bool]:
    """A host with an asynchronous driver. Whether it came to its end; otherwise it is dead now."""
    loop = TimelessLoop()
    life = Life(scenario, world, fault, loop.stop, plain)

    async def main() -> None:
        await life.perform(Driver(**life.parts, retry=RETRIES))

    whole = loop.create_task(main())
    whole.add_done_callback(lambda _: loop.stop())
    left_loop = 0
    while True:
        try:
            loop.run_forever()
            break
        except (SystemExit, KeyboardInterrupt):
            left_loop += 1
        except Stuck:
            assert fault.kills, f"it hangs after {life.faults.calls}"
            break
    assert left_loop >= len(life.faults.failed) if fault.how in ("exits", "interrupts") else left_loop == 0
    ended = whole.done() and not life.faults.dead and not (fault.kills and isinstance(whole.exception(), GivenUp))
    life.faults.dead = True
    loop.set_exception_handler(lambda *_: None)
    left = asyncio.all_tasks(loop)
    while tasks := asyncio.all_tasks(loop):
        for task in tasks:
            task.cancel()
        loop.call_soon(loop.stop)
        loop.run_forever()
    loop.close()
    if ended:
        whole.result()
        assert not left, f"tasks are left: {left}"
    else:
        world.die()
    return life, ended


QUICK = RetryPolicy(delay_sec=0.0, pause_sec=0.001)


def live_blocking(scenario: Scenario, world: World, fault: Fault) -> Life:
    """The same with a synchronous driver, which does not die."""
    life = Life(scenario, world, fault, lambda: None, plain=True)
    asyncio.run(life.perform(Blocking(SyncDriver(**life.parts, retry=QUICK))))
    return life


def exit_blocking(scenario: Scenario, world: World, fault: Fault) -> Life:
    """The same with a synchronous driver that a callback closes: no call hangs, and closing raises its error."""
    life = Life(scenario, world, fault, lambda: None, plain=True)
    driver = SyncDriver(**life.parts, retry=QUICK)

    def perform() -> None:
        with pytest.raises((SystemExit, KeyboardInterrupt)) as raised:
            try:
                asyncio.run(life.perform(Blocking(driver)))
            except GivenUp:
                with pytest.raises(DriverUsageError, match="DRIVER_CLOSED"):
                    driver.recover()
                driver.close()
        assert raised.type is type(life.faults.error())
        driver.close()

    with ThreadPoolExecutor(1) as others:
        others.submit(perform).result(timeout=60)
    world.die()
    return life


class Blocking:
    """A synchronous driver for scripts that are written for the asynchronous one."""

    def __init__(self, driver: SyncDriver) -> None:
        self._driver = driver

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._driver, name)
        if name == "owed":
            return method

        async def call(*args: Any) -> Any:
            return method(*args)

        return call


Outcome = tuple[str, str, int, list[tuple[int, str, Any]]]


def outcome(run: Run) -> Outcome:
    view = run.status_view()
    # A run that is cancelled while it waits for a slot may have got it before.
    attempt = 0 if run.status == "canceled" else view["attempt_number"]
    records: list[tuple[int, str, Any]] = [
        (record["interaction_id"], record["resolution_mode"], record.get("response")) for record in run.history()
    ]
    return run.status, view["error"]["code"] if "error" in view else "", attempt, records


def check(scenario: Scenario, world: World, life: Life, whole: dict[str, Outcome], fault: Fault) -> dict[str, Outcome]:
    """The end of all hosts: as in the undisturbed runs, or as documented for this fault."""
    assert world.wrong == []
    assert world.slots.held() == set()
    assert world.agents.alive() == []
    assert life.alarms.pending() == []
    assert world.store.unfinished() == []
    assert all(n == 1 for n in world.agents.begun.values()), f"a turn was begun twice: {world.agents.begun}"
    assert all(n == 1 for n in world.observation.values()), f"a step was observed twice: {world.observation}"
    found = {}
    for run_id in scenario.says:
        run = Run.from_json(world.store.load(run_id))
        assert replay(scenario.plan(run_id), world.store.journal(run_id))[0].to_json() == run.to_json()
        status, code, attempt, records = found[run_id] = outcome(run)
        assert attempt <= len(scenario.says[run_id].split())
        answered = [str(response) for _, mode, response in records if mode == "user_reply"]
        assert len(set(answered)) == len(answered)
        assert {reply for of, reply in world.accepted if of == run_id} <= set(answered), "an accepted reply was lost"
        begun = [number for of, number, _ in world.agents.begun if of == run_id]
        if scenario.options.get(run_id, {}).get("interrupted_turn") != "retry":
            assert len(set(begun)) == len(begun), f"a lost turn was begun again: {begun}"
        if whole and found[run_id] != whole[run_id]:
            assert status == "failed" and code in documented(scenario, run_id, fault), (found[run_id], whole[run_id])
            kept = [record for record in records if record[1] in ("user_reply", "auto_decide_timeout")]
            assert kept == whole[run_id][3][: len(kept)]
    return found


def documented(scenario: Scenario, run_id: str, fault: Fault) -> set[str]:
    """How a run may end by this fault, where the undisturbed one does not (HOST-8, HOST-9)."""
    options = scenario.options.get(run_id, {})
    codes: set[str] = set()
    if fault.times > 1:
        codes.add("HOST_FAILED")
    if fault.kills and (options.get("interrupted_turn") != "retry" or "interactive_profile" in options):
        codes |= LOST
    return codes


def undisturbed(scenario: Scenario, plain: bool = False) -> tuple[dict[str, Outcome], list[str]]:
    world = World(scenario.agent)
    life, ended = live(scenario, world, Fault(), plain)
    assert ended
    return check(scenario, world, life, {}, Fault()), life.faults.calls


@pytest.fixture(autouse=True)
def no_log_of_failures(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL", "turnlatch")


RAISES = [Fault(), Fault(after_work=True)]
ESCAPING = ("escapes", "exits", "interrupts")
ESCAPES = [Fault(how=how, after_work=after) for after in (False, True) for how in ESCAPING]
ESCAPED: set[str] = set()
DIES = [Fault(how="dies"), Fault(how="dies", after_work=True)]
MORE = [
    *(Fault(how=how, after_work=after) for how in ("cancelled", "hangs") for after in (False, True)),
    *(
        Fault(after_work=after, times=times, also=also)
        for after in (False, True)
        for times, also in ((OFTEN, ""), (ALWAYS, ""), (5, "all"), (4, "save"))
    ),
]
# Nobody can say whether it was done, and nobody can be asked or told.
DOUBTFUL = {
    "save": [Fault(after_work=True, times=5, also="all")],
    "start": [Fault(after_work=True, times=4, also="save"), Fault(after_work=True, times=4, also="all")],
    "inject": [Fault(after_work=True, times=4, also="save"), Fault(after_work=True, times=4, also="all")],
}
LONG = "TURNLATCH_LONG" in os.environ
COUNTS: Counter[str] = Counter()


def ways(n: int, callback: str) -> Iterator[tuple[Fault, Fault, dict[str, Any]]]:
    """How the n-th callback goes wrong, what goes wrong in the host after that if it is the host's death, and what the
    world is like. In the short form the worlds and the rarer faults take turns."""
    doubtful = DOUBTFUL.get(callback, [])
    rarer = (ESCAPES[n % len(ESCAPES)], MORE[n % len(MORE)])
    for fault in (*RAISES, *ESCAPES, *DIES, *MORE) if LONG else (*RAISES, DIES[1], *rarer, *doubtful):
        for turn in range(4) if LONG else (0, 2) if fault in doubtful else (n,):
            again = replace((*RAISES, *DIES, *ESCAPES)[(n + turn) % 10], at=1 + n % 13)
            plain = (n + turn) % 3 == 0 and fault.how != "hangs"
            world = {"outlives": turn % 2 == 0, "turn_sec": (1.0, 0.01)[turn // 2 % 2]}
            yield fault, again, world | {"plain": plain}


def disturbed(
    scenario: Scenario, fault: Fault, again: Fault, whole: dict[str, Outcome], world: World, plain: bool
) -> None:
    kills = 0
    for next_fault in (fault, again, Fault()):
        life, ended = live(scenario, world, next_fault, plain)
        COUNTS["callbacks_failed"] += len(life.faults.failed)
        if next_fault.how in ESCAPING:
            ESCAPED.update(life.faults.failed)
        assert life.faults.failed or next_fault is not fault, "the callback was never called"
        if ended:
            break
        kills += 1
    COUNTS["kills"] += kills
    COUNTS["runs"] += len(scenario.says)
    check(scenario, world, life, whole, fault)


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_callback_fails(name: str) -> None:
    scenario, offset = SCENARIOS[name], list(SCENARIOS).index(name)
    wholes = {plain: undisturbed(scenario, plain) for plain in (False, True)}
    for n in range(len(wholes[False][1])):
        for fault, again, world_is in ways(n + offset, wholes[False][1][n]):
            plain = world_is.pop("plain")
            whole, calls = wholes[plain]
            fault = replace(fault, at=1 + n % len(calls))
            try:
                disturbed(scenario, fault, again, whole, World(scenario.agent, **world_is), plain)
            except BaseException:
                print(f"{calls[fault.at - 1]}: {fault}, then {again}, {world_is}, {plain=}")
                raise
    COUNTS[f"async {name}"] = 1
    report_if_all_held()


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_callback_of_a_synchronous_driver_fails(name: str) -> None:
    scenario = SCENARIOS[name]
    whole, calls = undisturbed(scenario, plain=True)
    faults = [
        *RAISES,
        Fault(how="escapes"),
        Fault(times=OFTEN),
        Fault(times=OFTEN, after_work=True),
        Fault(times=5, also="all"),
    ]
    for n in range(len(calls)):
        for fault in faults if LONG else (faults[n % len(faults)],):
            fault, world = replace(fault, at=n + 1), World(scenario.agent, turn_sec=0.001)
            try:
                life = live_blocking(scenario, world, fault)
                assert life.faults.failed, "the callback was never called"
                check(scenario, world, life, whole, fault)
            except BaseException:
                print(f"{calls[n]}: {fault}")
                raise
            COUNTS["callbacks_failed"] += len(life.faults.failed)
            COUNTS["runs"] += len(scenario.says)
    COUNTS[f"sync {name}"] = 1
    report_if_all_held()


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_callback_that_exits_closes_a_synchronous_driver(name: str) -> None:
    scenario, offset = SCENARIOS[name], list(SCENARIOS).index(name)
    whole, calls = undisturbed(scenario, plain=True)
    for n in range(len(calls)):
        exits = [fault for fault in ESCAPES if fault.how != "escapes"]
        for fault in exits if LONG else (exits[(n + offset) % len(exits)],):
            fault, world = replace(fault, at=n + 1), World(scenario.agent, turn_sec=0.001)
            try:
                life = exit_blocking(scenario, world, fault)
                assert life.faults.failed, "the callback was never called"
                check(scenario, world, live_blocking(scenario, world, Fault()), whole, replace(fault, how="dies"))
            except BaseException:
                print(f"{calls[n]}: {fault}")
                raise


def report_if_all_held() -> None:
    if all(COUNTS[f"{form} {name}"] for form in ("async", "sync") for name in SCENARIOS):
        assert {*SLOTS, *TIMERS, *PROCESSES, *STORE, "clock", "on_notify", "on_observation"} == ESCAPED
        gates.report("failing-host", **{what: COUNTS[what] for what in ("callbacks_failed", "kills", "runs")})

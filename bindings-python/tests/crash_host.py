"""A small host that kills itself at the n-th boundary: before or after a save or an effect. Used by test_crash.py."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hosting import DONE, STICKY, plan, processes_marked
from turnlatch import Plan, Run
from turnlatch.driver import Driver, RetryPolicy
from turnlatch.local import AsyncioTimers
from turnlatch.parts import RunNotFoundError
from turnlatch.processes import Command, SubprocessRunner
from turnlatch.sqlite_store import SqliteStore

MODES: dict[str, dict[str, Any]] = {
    "auto": {"execution_mode": "auto", "interrupted_turn": "retry"},
    "resumable": {"interrupted_turn": "retry", "interactive_require_user_reply": False, "session_timeout_sec": 100},
    "strict": {"interrupted_turn": "fail"},
    "sticky": {"interactive_profile": STICKY},
    "cancel": {},
}
# The agent itself notes which turns ran: attempt and slot. It does not end by itself as soon as it is told to.
TURN = 'trap "" TERM; echo "$1" >> turns.log; echo "$2"; sleep 0.05'
STICKY_TURNS = """
n=1; echo "$n $1" >> turns.log; echo 'Which file?'; echo ==
while read -r line; do
    n=$((n + 1)); echo "$n $1" >> turns.log
    if [ $n -gt 1 ]; then echo "$2"; else echo 'And which line?'; fi; echo ==
done
"""
crash_at = passed = 0


def boundary() -> None:
    global passed
    passed += 1
    if passed == crash_at:
        delay_supervisors()
        os.kill(os.getpid(), signal.SIGKILL)


def delay_supervisors() -> None:
    """What this host leaves behind lives on for a moment, as on a busy machine: a new host must not run beside it."""
    for process in my_processes():
        if "_supervise.py" in process:
            pid = process.split()[0]
            os.kill(int(pid), signal.SIGSTOP)
            subprocess.Popen(["sh", "-c", f"sleep 0.2; kill -CONT {pid}"], env={"PATH": os.environ["PATH"]})


def my_processes() -> list[str]:
    return processes_marked(f"TURNLATCH_TEST={os.environ['TURNLATCH_TEST']}")


class Breaking:
    """A part with a boundary before and after each of the named calls."""

    def __init__(self, part: Any, *names: str) -> None:
        self._part, self._names = part, names

    def __getattr__(self, name: str) -> Any:
        method: Callable[..., Any] = getattr(self._part, name)
        if name not in self._names:
            return method

        async def call(*args: Any) -> Any:
            boundary()
            result = method(*args)
            result = await result if asyncio.iscoroutine(result) else result
            boundary()
            return result

        return call


class FileSlots:
    """Slots as files, so that a leaked one is still there after a crash."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def acquire(self, run_id: str, slot_id: str, granted: Callable[[], None]) -> None:
        self.hold(run_id, slot_id)
        granted()

    def hold(self, run_id: str, slot_id: str) -> bool:
        (self.folder / slot_id.replace("/", "+")).touch()
        return True

    def release(self, slot_id: str) -> None:
        (self.folder / slot_id.replace("/", "+")).unlink(missing_ok=True)

    def held(self) -> list[str]:
        return [name.replace("+", "/") for name in os.listdir(self.folder)]


async def main(folder: Path, mode: str) -> None:
    def command(run: Run, effect: Any) -> Command:
        for process in my_processes():
            note(folder, "beside.log", f"{effect['slot_id']} beside {process}")
        if mode == "sticky":
            return Command(["sh", "-c", STICKY_TURNS, "sh", effect["slot_id"], DONE], cwd=folder, end_of_turn="==")
        if mode == "cancel":
            return Command(["sh", "-c", "sleep 100"])
        last = mode == "auto" or effect["attempt_number"] > 1
        turn = f"{effect['attempt_number']} {effect['slot_id']}"
        return Command(["sh", "-c", TURN, "sh", turn, DONE if last else "Which file?"], cwd=folder)

    store = SqliteStore(folder / "runs.db")
    timers = AsyncioTimers()
    processes = SubprocessRunner(command, grace_sec=0.3, locks=folder / "locks")
    driver = Driver(
        slots=Breaking(FileSlots(folder / "slots"), "acquire", "hold", "release"),
        timers=Breaking(timers, "set", "cancel"),
        processes=Breaking(processes, "start", "inject", "terminate"),
        store=Breaking(store, "create", "save", "mark_begun"),
        on_notify=lambda run_id, effect: boundary(),
        retry=RetryPolicy(attempts=1),
    )
    await driver.recover()
    run_id = await existing_or_new(driver, store, plan(**MODES[mode]))
    if mode == "cancel":
        await driver.wait(run_id, "running")
        await driver.cancel(run_id)
        note(folder, "accepted.log", "canceled")
    while "pending_interaction_id" in (view := await driver.wait(run_id, "waiting_user")):
        question = view["pending_interaction_id"]
        receipt = await driver.reply(run_id, question, f"answer {question}", f"key {question}")
        if receipt["kind"] == "accepted":
            note(folder, "accepted.log", f"answer {question}")
    await driver.settled(run_id)
    await driver.close()
    assert not processes.running(), processes.running()
    assert not timers.pending()
    store.close()


async def existing_or_new(driver: Driver, store: SqliteStore, the_plan: Plan) -> str:
    try:
        await store.load(the_plan.run_id)
        return the_plan.run_id
    except RunNotFoundError:
        return await driver.start(the_plan)


def note(folder: Path, log: str, line: str) -> None:
    with open(folder / log, "a") as file:
        file.write(line + "\n")


def run_host(folder: Path, mode: str, dies_at: int, mark: str) -> None:
    """The whole of a host process. It never dies at boundary 0; then it notes how many boundaries there were. By the
    mark its agents are known."""
    global crash_at
    crash_at = dies_at
    os.environ["TURNLATCH_TEST"] = mark
    asyncio.run(main(folder, mode))
    note(folder, "boundaries.log", str(passed))

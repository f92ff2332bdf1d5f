"""The agents of runs as real processes, by the engine table."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import cast

from turnlatch import Command, Run, SubprocessRunner
from turnlatch.parts import Finished
from turnlatch.types import InjectReply, StartTurn, TurnReport

from .agent_output import read_report
from .engines import EngineTable, filled
from .log import log
from .run_folders import RunFolders

Reader = Callable[[TurnReport], TurnReport]


class Agents:
    """The driver's part for processes: runs commands of the table and reads what they print as the table says."""

    def __init__(self, table: EngineTable, folders: RunFolders, locks: Path) -> None:
        self._table = table
        self._folders = folders
        # Every line that a sticky process is given is one JSON string, so that nothing of a reply is lost.
        self._runner = SubprocessRunner(self._command, reply_line=json.dumps, locks=locks)
        self._readers: dict[str, Reader] = {}
        # Large outputs take a moment to read. One thread, so that what is told keeps its order.
        self._reading = ThreadPoolExecutor(1, thread_name_prefix="service-output")

    async def start(self, run: Run, effect: StartTurn, finished: Finished) -> None:
        """Starts the turn's process."""
        slot_id, plan = effect["slot_id"], run.plan
        engine = self._table.engines[plan.to_dict()["engine"]]
        self._readers[slot_id] = partial(read_report, engine, plan, self._folders.work(run.run_id))
        await self._runner.start(run, effect, self._heard(slot_id, finished))

    async def inject(self, run: Run, effect: InjectReply, finished: Finished) -> None:
        """Gives a reply to a sticky process."""
        await self._runner.inject(run, effect, self._heard(effect["slot_id"], finished))

    def attach(self, slot_id: str, finished: Finished) -> None:
        """Reports to another driver from now on."""
        self._runner.attach(slot_id, self._heard(slot_id, finished))

    async def terminate(self, slot_id: str) -> None:
        """Ends the process and its children."""
        await self._runner.terminate(slot_id)
        self._readers.pop(slot_id, None)

    def alive(self) -> Collection[str]:
        """The slots whose process lives."""
        return self._runner.alive()

    async def close(self) -> None:
        """Ends every process, without a report."""
        await self._runner.close()
        self._reading.shutdown()

    def _heard(self, slot_id: str, finished: Finished) -> Finished:
        def heard(report: TurnReport | None) -> None:
            reader = self._readers.get(slot_id)
            if slot_id not in self._runner.alive():
                self._readers.pop(slot_id, None)
            if report is not None and (report.get("exit_code", 0) != 0 or "failure_reason" in report):
                log.warning(
                    "agent in slot %s failed: %s", slot_id, self._runner.stderr(slot_id)[-500:] or "(no stderr)"
                )
            self._reading.submit(_tell, slot_id, reader, report, finished)

        return heard

    def _command(self, run: Run, effect: StartTurn) -> Command:
        """The command of a turn. A run that resumes without a session is told its conversation so far instead."""
        settings, run_id = run.plan.to_dict(), run.run_id
        engine, work = self._table.engines[settings["engine"]], self._folders.work(run_id)
        values = {
            "home": str(self._table.home),
            "skill": str(self._folders.skill(run_id)),
            "work": str(work),
            "run_id": run_id,
        }
        environment, prompt = engine.environment(), self._folders.prompt(run_id)
        if settings["profile"] == "sticky_process":
            if engine.sticky is None:
                raise LookupError(f"engine {settings['engine']} has no command for sticky processes")
            argv, stdin = filled(engine.sticky.command, values), json.dumps(prompt) + "\n"
            return Command(argv, stdin, environment, work, engine.timeout_sec, engine.sticky.end_of_turn)
        resume = effect.get("resume", {})
        argv, stdin = filled(engine.first, values), prompt
        if "session_handle" in resume and engine.resume is not None:
            argv = filled(engine.resume, {**values, "session_handle": resume["session_handle"]})
            stdin = resume["response"]
        elif "response" in resume:
            stdin = prompt + conversation(run)
        return Command(argv, stdin, environment, work, engine.timeout_sec)


def conversation(run: Run) -> str:
    """What was asked and answered, for an agent that does not remember it."""
    parts = ["\n\n## Conversation so far\n"]
    for asked in run.history():
        parts.append(f"\nYou asked:\n\n{asked['prompt']}\n\nThe answer:\n\n{asked.get('response', '')}\n")
    return "".join(parts)


def _tell(slot_id: str, reader: Reader | None, report: TurnReport | None, finished: Finished) -> None:
    if report is not None and reader is not None:
        try:
            report = reader(report)
        except Exception:
            log.exception("the output in slot %s could not be read", slot_id)
            # Nothing that the core can read: the driver then tells it that the turn has ended without a report.
            report = cast("TurnReport", {"unreadable": True})
    finished(report)

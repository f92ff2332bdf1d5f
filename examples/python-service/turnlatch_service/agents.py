"""The agents of runs as real processes, by the engine table."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import cast

from turnlatch import Command, Run, SubprocessRunner, run_of_slot
from turnlatch.parts import Finished
from turnlatch.types import InjectReply, StartTurn, TurnReport

from .agent_output import artifacts_in
from .engines import Engine, EngineTable, filled, takes_prompt
from .log import log
from .run_folders import RunFolders
from .words import Words


class Agents:
    """The driver's part for processes: runs commands of the table, and adds to their reports what they left behind."""

    def __init__(self, table: EngineTable, folders: RunFolders, locks: Path, words: Words) -> None:
        self._table = table
        self._folders = folders
        self._words = words
        self._runner = SubprocessRunner(self._command, on_said=words.take, locks=locks)
        self._required: dict[str, list[str]] = {}

    async def start(self, run: Run, effect: StartTurn, finished: Finished) -> None:
        """Starts the turn's process."""
        slot_id = effect["slot_id"]
        self._required[slot_id] = run.plan.to_dict()["required_artifacts"]
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
        self._required.pop(slot_id, None)
        # It may have gone on talking when its run had ended already.
        self._words.forget(_run_of(slot_id))

    async def alive(self) -> Collection[str]:
        """The slots whose process lives, when nothing of an earlier service lives any more."""
        return await self._runner.alive()

    async def close(self) -> None:
        """Ends every process, without a report."""
        await self._runner.close()

    def _heard(self, slot_id: str, finished: Finished) -> Finished:
        def heard(report: TurnReport | None) -> None:
            if report is not None and (report.get("exit_code", 0) != 0 or "failure_reason" in report):
                log.warning(
                    "agent in slot %s failed: %s", slot_id, self._runner.stderr(slot_id)[-500:] or "(no stderr)"
                )
            if report is not None:
                report = self._with_artifacts(slot_id, report)
            if slot_id not in self._runner.running():
                self._required.pop(slot_id, None)
            finished(report)

        return heard

    def _with_artifacts(self, slot_id: str, report: TurnReport) -> TurnReport:
        try:
            artifacts = artifacts_in(self._folders.work(_run_of(slot_id)), self._required.get(slot_id, []))
        except Exception:
            log.exception("the artifacts in slot %s could not be looked for", slot_id)
            # Nothing that the core can read: the driver then tells it that the turn has ended without a report.
            return cast("TurnReport", {"unreadable": True})
        return cast("TurnReport", {**report, "artifacts": artifacts}) if artifacts else report

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
        prompt = self._folders.prompt(run_id)
        if settings["interactive_profile"]["kind"] == "sticky_process":
            if engine.sticky is None:
                raise LookupError(f"engine {settings['engine']} has no command for sticky processes")
            return Command(
                filled(engine.sticky.command, values),
                prompt,
                engine.environment(),
                work,
                engine.timeout_sec,
                engine.sticky.end_of_turn,
                engine.sticky.stream,
                sticky=True,
            )
        resume, command = effect.get("resume", {}), engine.first
        if "session_handle" in resume and engine.resume is not None:
            values["session_handle"] = resume["session_handle"]
            command, prompt = engine.resume, resume["response"]
        elif "response" in resume:
            prompt += conversation(run)
        return _command_of_a_turn(engine, command, values, prompt, work)


def _command_of_a_turn(engine: Engine, command: list[str], values: dict[str, str], prompt: str, work: Path) -> Command:
    """The agent reads its prompt on its input, unless it is told it among its arguments."""
    stdin = None if takes_prompt(command) else prompt
    argv = filled(command, {**values, "prompt": prompt})
    return Command(argv, stdin, engine.environment(), work, engine.timeout_sec, stream=engine.stream)


def conversation(run: Run) -> str:
    """What was asked and answered, for an agent that does not remember it."""
    parts = ["\n\n## Conversation so far\n"]
    for asked in run.history():
        parts.append(f"\nYou asked:\n\n{asked['prompt']}\n\nThe answer:\n\n{asked.get('response', '')}\n")
    return "".join(parts)


def _run_of(slot_id: str) -> str:
    run_id = run_of_slot(slot_id)
    assert run_id is not None, "slots are asked for by runs"
    return run_id

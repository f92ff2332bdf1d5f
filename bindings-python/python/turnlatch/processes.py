"""Agents as real processes (POSIX).

Each process is started through a small supervisor (``_supervise.py``) that ends it with all its children: when the
turn is cancelled or too long, when the command itself has ended and left children, and when the host dies, even by
SIGKILL. So a restarted host finds no process of its own, and every turn that was under way is lost. What an earlier
host left may take some milliseconds to end; with a folder for ``locks`` the next one waits for that. The supervisor
costs some 20 ms and 10 MB for each process. A process that shows no sign of ending for ten seconds after SIGKILL (stuck
in the kernel) is given up.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections import OrderedDict
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ._supervise import UNKILLABLE_SEC
from .parts import Finished, MaybeAwaitable
from .run import Run, unreadable_report
from .turn_output import TurnOutput
from .types import InjectReply, StartTurn, TurnReport

if TYPE_CHECKING:
    from .slot_locks import SlotLocks

_SUPERVISOR = str(Path(__file__).with_name("_supervise.py"))
_STDERR_BYTES = 64 * 1024
_STDERR_KEPT = 256
_SUPERVISORS_OWN_SEC = 2.0


@dataclass(frozen=True, slots=True)
class Command:
    """How to run a turn. ``env`` replaces the environment, ``timeout`` is in seconds for one turn.

    With ``end_of_turn`` the process is sticky: its input stays open, and a turn ends with a line of output that is
    equal to it. Without, the turn ends with the process, which reads ``stdin`` and then the end of its input.
    """

    argv: Sequence[str]
    stdin: str | None = None
    env: Mapping[str, str] | None = None
    cwd: str | os.PathLike[str] | None = None
    timeout: float | None = None
    end_of_turn: str | None = None

    def __post_init__(self) -> None:
        if self.end_of_turn is not None and set(self.end_of_turn) & set("\r\n"):
            raise ValueError("end_of_turn is one line, without its line break")


def single_line(response: str) -> str:
    """The reply with its line breaks made spaces. ``json.dumps`` in its place loses nothing, if the agent decodes."""
    return " ".join(response.splitlines())


def as_text(text: str) -> TurnReport:
    """The turn's whole output is the assistant's text."""
    return {"text": text}


@dataclass
class _Process:
    slot_id: str
    attempt_number: int
    command: Command
    output: TurnOutput
    process: asyncio.subprocess.Process
    lifeline: int
    finished: Finished
    in_turn: bool = True
    injected: str | None = None
    stderr: bytearray = field(default_factory=bytearray)
    failure_reason: str | None = None
    unheard: bool = False  # ended on request: nobody waits for a report
    alarm: asyncio.TimerHandle | None = None
    gone: asyncio.Event = field(default_factory=asyncio.Event)


class SubprocessRunner:
    """Runs every turn, or every sticky run, as a process. ``command(run, effect)`` says what to run.

    ``report`` makes the turn's report of the output, for agents that print more than their words (JSON lines, a
    session handle); ``reply_line`` makes the one line that a sticky process is given for a reply; ``grace`` is the
    time in seconds between SIGTERM and SIGKILL. Output over the run's limit of turn text is cut just above it, so that
    the core says ``OUTPUT_TOO_LARGE``, and the process is ended; so is one whose output is not UTF-8.

    With ``locks``, a folder that only this host and its successors use, a turn never runs beside what an earlier host
    left behind: :meth:`alive` (so a driver's recovery) and :meth:`terminate` wait until that is gone, and raise
    ``TimeoutError`` if it does not go because the earlier host is not dead.
    """

    def __init__(
        self,
        command: Callable[[Run, StartTurn], MaybeAwaitable[Command]],
        *,
        report: Callable[[str], TurnReport] = as_text,
        reply_line: Callable[[str], str] = single_line,
        grace: float = 2.0,
        locks: str | os.PathLike[str] | None = None,
    ) -> None:
        self._command = command
        self._report = report
        self._reply_line = reply_line
        self._grace = grace
        self._processes: dict[str, _Process] = {}
        self._stderr: OrderedDict[str, str] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self._locks: SlotLocks | None = None
        if locks is not None:
            # Imported here because there is no such lock on Windows, where the rest of the package works.
            from .slot_locks import SlotLocks

            self._locks = SlotLocks(locks, patience=grace + UNKILLABLE_SEC + _SUPERVISORS_OWN_SEC)

    async def start(self, run: Run, effect: StartTurn, finished: Finished) -> None:
        """Starts the turn's process; a process that runs in this slot already is kept."""
        slot_id = effect["slot_id"]
        if slot_id in self._processes:
            return self.attach(slot_id, finished)
        made = self._command(run, effect)
        command = made if isinstance(made, Command) else await made
        limit = int(run.plan.to_dict()["limits"]["turn_text_bytes"])
        process, lifeline = await self._spawn(slot_id, command)
        output = TurnOutput(limit, command.end_of_turn)
        started = _Process(slot_id, effect["attempt_number"], command, output, process, lifeline, finished)
        self._processes[slot_id] = started
        self._arm(started)
        self._background(self._watch(started))
        if command.stdin is not None:
            self._background(_feed(process, command.stdin, close=command.end_of_turn is None))

    async def inject(self, run: Run, effect: InjectReply, finished: Finished) -> None:
        """Writes the reply as one line to the process; the same effect only once."""
        process = self._processes.get(effect["slot_id"])
        if process is None:
            finished(None)
            return
        process.finished = finished
        if process.injected != effect["id"]:
            process.injected = effect["id"]
            process.attempt_number = effect["attempt_number"]
            process.in_turn = True
            self._arm(process)
            await _feed(process.process, self._reply_line(effect["response"]) + "\n", close=False)

    def attach(self, slot_id: str, finished: Finished) -> None:
        """Reports to another driver from now on."""
        self._processes[slot_id].finished = finished

    async def terminate(self, slot_id: str) -> None:
        """Ends the process and its children, first gently."""
        process = self._processes.get(slot_id)
        if process is not None:
            process.unheard = True
            await self._end(process)
        elif self._locks is not None:
            await self._locks.free(slot_id)

    def alive(self) -> Collection[str]:
        """The slots whose process lives and is this host's."""
        return list(self._processes)

    def stderr(self, slot_id: str) -> str:
        """The end of what the process wrote to stderr, for diagnosis; the core never sees it. The last 256
        processes are remembered."""
        process = self._processes.get(slot_id)
        return _lenient(process.stderr) if process is not None else self._stderr.get(slot_id, "")

    async def close(self) -> None:
        """Ends every process, without a report."""
        await asyncio.gather(*(self.terminate(slot_id) for slot_id in list(self._processes)))
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _spawn(self, slot_id: str, command: Command) -> tuple[asyncio.subprocess.Process, int]:
        handed_over = contextlib.nullcontext() if self._locks is None else self._locks.handed_over(slot_id)
        async with handed_over as lock:
            return await self._spawn_with(lock, command)

    async def _spawn_with(
        self, lock: tuple[int, Path] | None, command: Command
    ) -> tuple[asyncio.subprocess.Process, int]:
        lifeline, writer = os.pipe()
        pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        wants_input = command.stdin is not None or command.end_of_turn is not None
        inherited, lock_arguments = ((lifeline,), ("", "")) if lock is None else ((lifeline, lock[0]), map(str, lock))
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", _SUPERVISOR, str(lifeline), str(self._grace)),
                *lock_arguments,
                *command.argv,
                stdin=pipe if wants_input else nothing,
                stdout=pipe,
                stderr=pipe,
                env=command.env,
                cwd=command.cwd,
                pass_fds=inherited,
                start_new_session=True,
            )
        except BaseException:
            os.close(writer)
            raise
        finally:
            os.close(lifeline)
        return process, writer

    async def _watch(self, process: _Process) -> None:
        """Reads to the end, waits for the end, reports."""
        await asyncio.gather(self._read_output(process), _read_stderr(process))
        code = await process.process.wait()
        self._disarm(process)
        os.close(process.lifeline)
        if self._locks is not None:
            self._locks.forget(process.slot_id)
        del self._processes[process.slot_id]
        self._stderr[process.slot_id] = _lenient(process.stderr)
        while len(self._stderr) > _STDERR_KEPT:
            self._stderr.popitem(last=False)
        if not process.unheard:
            if process.in_turn:
                process.finished(self._last_report(process, code))
            if process.command.end_of_turn is not None:
                process.finished(None)
        process.gone.set()

    async def _read_output(self, process: _Process) -> None:
        assert process.process.stdout is not None
        while chunk := await process.process.stdout.read(65536):
            self._take(process, chunk, final=False)
        self._take(process, b"", final=True)

    def _take(self, process: _Process, chunk: bytes, final: bool) -> None:
        if process.output.stopped or process.failure_reason is not None or process.unheard:
            return  # the output is only emptied, so that the process can end
        for turn in process.output.feed(chunk, final):
            # An end without a turn is the agent's mistake and no result of anything.
            if process.in_turn:
                process.in_turn = False
                self._disarm(process)
                process.finished(self._report_of(process, turn))
        if process.output.not_utf8:
            process.failure_reason = "OUTPUT_NOT_UTF8"
        if process.output.stopped:
            self._background(self._end(process))

    def _report_of(self, process: _Process, text: str) -> TurnReport:
        try:
            return {**self._report(text)}
        except Exception:
            return cast("TurnReport", unreadable_report(process.attempt_number, process.slot_id))

    def _last_report(self, process: _Process, code: int) -> TurnReport:
        """The report of a turn that ended with its process."""
        if process.output.too_large:
            return {"text": process.output.text}
        report: TurnReport = {} if process.output.not_utf8 else self._report_of(process, process.output.text)
        if process.failure_reason is not None:
            report["failure_reason"] = process.failure_reason
        else:
            report["exit_code"] = code
        return report

    async def _end(self, process: _Process) -> None:
        if not process.gone.is_set():
            with contextlib.suppress(OSError):
                os.write(process.lifeline, b"t")
        await process.gone.wait()

    def _arm(self, process: _Process) -> None:
        if process.command.timeout is not None:
            loop = asyncio.get_running_loop()
            process.alarm = loop.call_later(process.command.timeout, self._too_long, process)

    def _too_long(self, process: _Process) -> None:
        if not process.output.stopped:
            process.failure_reason = "TIMEOUT"
            self._background(self._end(process))

    def _disarm(self, process: _Process) -> None:
        if process.alarm is not None:
            process.alarm.cancel()

    def _background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _feed(process: asyncio.subprocess.Process, text: str, close: bool) -> None:
    assert process.stdin is not None
    # A process that does not read its input, or has ended, is not an error here: its end says what there is to say.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(text.encode())
        await process.stdin.drain()
    if close:
        process.stdin.close()


async def _read_stderr(process: _Process) -> None:
    assert process.process.stderr is not None
    while chunk := await process.process.stderr.read(65536):
        process.stderr += chunk
        del process.stderr[:-_STDERR_BYTES]


def _lenient(data: bytearray) -> str:
    return data.decode("utf-8", "replace")

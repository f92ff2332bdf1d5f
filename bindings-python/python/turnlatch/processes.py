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

from ._host import call, call_plain, log
from ._supervise import UNKILLABLE_SEC
from .parts import Finished, MaybeAwaitable, OnSaid
from .run import Run
from .stream import StreamDecoder
from .types import Decoded, InjectReply, MessagesTurnReport, Piece, Said, StartTurn, StreamFormat, TurnReport

if TYPE_CHECKING:
    from .slot_locks import SlotLocks

_SUPERVISOR = str(Path(__file__).with_name("_supervise.py"))
_STDERR_BYTES = 64 * 1024
_STDERR_KEPT = 256
_SUPERVISORS_OWN_SEC = 2.0
_DESCRIPTORS = 9  # both ends of four pipes, and one by which to wait for the process


@dataclass(frozen=True, slots=True)
class Command:
    """How to run a turn. ``env`` replaces the environment, ``timeout_sec`` is for one turn.

    ``stream`` says how the process writes its output; the core decodes it. A ``sticky`` process lives on after a turn:
    its input stays open, and a turn ends when its stream says so (``claude-stream-json``, ``acp``), or with a line of
    output that is equal to ``end_of_turn`` (``text``, ``ndjson``), which makes it sticky too. Any other turn ends with
    the process, which reads ``stdin`` and then the end of its input. What cannot be raises
    :class:`turnlatch.EventRejectedError`.
    """

    argv: Sequence[str]
    stdin: str | None = None
    env: Mapping[str, str] | None = None
    cwd: str | os.PathLike[str] | None = None
    timeout_sec: float | None = None
    end_of_turn: str | None = None
    stream: StreamFormat | str = "text"
    sticky: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.argv, str | bytes):
            raise TypeError(f"`argv` is a list of strings, not one string: {self.argv!r}")
        if not self.argv:
            raise ValueError("`argv` is empty: it begins with the program")
        self._decoder(None)

    @property
    def _lives_on(self) -> bool:
        return self.sticky or self.end_of_turn is not None

    def _decoder(self, text_limit: int | None) -> StreamDecoder:
        work_folder = "" if self.cwd is None else os.fspath(self.cwd)
        return StreamDecoder(
            self.stream, text_limit, sticky=self._lives_on, end_of_turn=self.end_of_turn, work_folder=work_folder
        )


@dataclass
class _Process:
    run_id: str
    slot_id: str
    attempt_number: int
    command: Command
    decoder: StreamDecoder
    process: asyncio.subprocess.Process
    lifeline: int
    finished: Finished
    in_turn: bool = True
    injected: str | None = None
    last_report: TurnReport | None = None
    stderr: bytearray = field(default_factory=bytearray)
    stopped: bool = False  # there was too much output, or it was not UTF-8: nothing more is read
    timed_out: bool = False
    unheard: bool = False  # ended on request: nobody waits for a report
    alarm: asyncio.TimerHandle | None = None
    gone: asyncio.Event = field(default_factory=asyncio.Event)


class SubprocessRunner:
    """Runs every turn, or every sticky run, as a process. ``command(run, effect)`` says what to run.

    ``on_said`` is called with what an agent says while its turn is under way, for people who look on: nothing is
    decided by it, and a call that fails changes nothing. ``grace_sec`` is the time between SIGTERM and SIGKILL.
    A process whose output goes over the run's limit of turn text is ended, and the core says ``OUTPUT_TOO_LARGE``; so
    is one whose output is not UTF-8.

    With ``locks``, a folder that only this host and its successors use, a turn never runs beside what an earlier host
    left behind: :meth:`alive` (so a driver's recovery), :meth:`start` and :meth:`terminate` wait until that is gone,
    and raise ``TimeoutError`` if it does not go because the earlier host is not dead.
    """

    def __init__(
        self,
        command: Callable[[Run, StartTurn], MaybeAwaitable[Command]],
        *,
        on_said: OnSaid | None = None,
        grace_sec: float = 2.0,
        locks: str | os.PathLike[str] | None = None,
    ) -> None:
        self._command = command
        self._on_said = on_said
        self._grace_sec = grace_sec
        self._processes: dict[str, _Process] = {}
        self._stderr: OrderedDict[str, str] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self._locks: SlotLocks | None = None
        if locks is not None:
            # Imported here because there is no such lock on Windows, where the rest of the package works.
            from .slot_locks import SlotLocks

            self._locks = SlotLocks(locks, patience_sec=grace_sec + UNKILLABLE_SEC + _SUPERVISORS_OWN_SEC)

    async def start(self, run: Run, effect: StartTurn, finished: Finished) -> None:
        """Starts the turn's process; a process that runs in this slot already is kept."""
        slot_id = effect["slot_id"]
        if slot_id in self._processes:
            return self.attach(slot_id, finished)
        command = cast("object", await call(self._command, run, effect))
        if not isinstance(command, Command):
            raise TypeError(f"command() has to return a Command, and returned {type(command).__name__}")
        limit = int(run.plan.to_dict()["limits"]["turn_text_bytes"])
        process, lifeline = await self._spawn(slot_id, command)
        decoder, attempt = command._decoder(limit), effect["attempt_number"]
        started = _Process(run.run_id, slot_id, attempt, command, decoder, process, lifeline, finished)
        self._processes[slot_id] = started
        self._arm(started)
        if command.stdin is not None:
            self._background(_feed(process, decoder.prompt(command.stdin), close=not command._lives_on))
        self._background(self._watch(started))

    async def inject(self, run: Run, effect: InjectReply, finished: Finished) -> None:
        """Writes the reply to the process as its stream takes it; the same effect only once."""
        process = self._processes.get(effect["slot_id"])
        if process is None:
            finished(None)
            return
        if process.injected == effect["id"]:
            self.attach(process.slot_id, finished)
        else:
            process.finished = finished
            process.injected = effect["id"]
            process.attempt_number = effect["attempt_number"]
            process.in_turn = True
            self._arm(process)
            await _feed(process.process, process.decoder.prompt(effect["response"]), close=False)

    def attach(self, slot_id: str, finished: Finished) -> None:
        """Reports to another driver from now on. Whether the end of the last turn was heard is not known here: it is
        told again."""
        process = self._processes[slot_id]
        process.finished = finished
        if process.last_report is not None and not process.in_turn:
            finished(process.last_report)

    async def terminate(self, slot_id: str) -> None:
        """Ends the process and its children, first gently."""
        process = self._processes.get(slot_id)
        if process is not None:
            process.unheard = True
            await self._end(process)
        elif self._locks is not None:
            await self._locks.free(slot_id)

    async def alive(self) -> Collection[str]:
        """The slots whose process lives and is this host's, when nothing of an earlier host lives any more."""
        if self._locks is not None:
            await self._locks.all_free()
        return self.running()

    def running(self) -> list[str]:
        """The slots in which this host has a process, without waiting."""
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
        wants_input = command.stdin is not None or command._lives_on
        inherited, lock_arguments = ((lifeline,), ("", "")) if lock is None else ((lifeline, lock[0]), map(str, lock))
        try:
            _check_descriptors()
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", _SUPERVISOR, str(lifeline), str(self._grace_sec)),
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
        # The command is started only now: had anything failed above, it would not have been.
        with contextlib.suppress(OSError):
            os.write(writer, b"s")
        return process, writer

    async def _watch(self, process: _Process) -> None:
        """Reads to the end, waits for the end, reports."""
        await asyncio.gather(self._read_output(process), _read_stderr(process))
        code = _exit_code(await process.process.wait())
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
            if process.command._lives_on:
                process.finished(None)
        process.gone.set()

    async def _read_output(self, process: _Process) -> None:
        assert process.process.stdout is not None
        while chunk := await process.process.stdout.read(65536):
            for answer in self._take(process, chunk):
                await _feed(process.process, answer, close=False)

    def _take(self, process: _Process, chunk: bytes) -> list[str]:
        """Decodes what was printed and reports the turns that ended in it. Returns what the agent is to be given."""
        answers: list[str] = []
        # Otherwise the output is only emptied, so that the process can end.
        while not (process.stopped or process.timed_out or process.unheard):
            progress = process.decoder.feed(chunk)
            answers += progress["write"]
            if process.in_turn:
                self._tell_said(process, progress["pieces"])
            if progress["stop"]:
                process.stopped = True
                self._background(self._end(process))
            elif progress["turn_over"] and process.command._lives_on:
                report = _report_of(process.decoder.finish())
                # An end without a turn is the agent's mistake and no result of anything.
                if process.in_turn:
                    process.in_turn = False
                    process.last_report = report
                    self._disarm(process)
                    process.finished(report)
                chunk = b""  # behind the end of a turn there may be more that the decoder has kept
                continue
            break
        return answers

    def _tell_said(self, process: _Process, pieces: list[Piece]) -> None:
        if pieces and self._on_said is not None:
            said: Said = {"run_id": process.run_id, "attempt_number": process.attempt_number, "pieces": pieces}
            try:
                call_plain(self._on_said, said)
            except Exception:
                log.exception("run %s: on_said failed", process.run_id)

    def _last_report(self, process: _Process, code: int) -> TurnReport:
        """The report of a turn that ended with its process."""
        if process.stopped:
            # The process was ended here, so its exit code says nothing of it.
            return _report_of(process.decoder.finish())
        report = _report_of(process.decoder.finish(_lenient(process.stderr), code))
        if process.timed_out:
            report["failure_reason"] = "TIMEOUT"
        else:
            report["exit_code"] = code
        return report

    async def _end(self, process: _Process) -> None:
        if not process.gone.is_set():
            with contextlib.suppress(OSError):
                os.write(process.lifeline, b"t")
        await process.gone.wait()

    def _arm(self, process: _Process) -> None:
        if process.command.timeout_sec is not None:
            loop = asyncio.get_running_loop()
            process.alarm = loop.call_later(process.command.timeout_sec, self._too_long, process)

    def _too_long(self, process: _Process) -> None:
        if not process.stopped:
            process.timed_out = True
            self._background(self._end(process))

    def _disarm(self, process: _Process) -> None:
        if process.alarm is not None:
            process.alarm.cancel()

    def _background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _check_descriptors() -> None:
    """Raises ``OSError`` if there are too few for a process: ``subprocess`` of Python 3.10 loses those that it has
    opened when it finds no more."""
    opened: list[int] = []
    try:
        while len(opened) < _DESCRIPTORS:
            opened.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _report_of(decoded: Decoded) -> MessagesTurnReport:
    report = cast("MessagesTurnReport", decoded)
    if not decoded["diagnostics"]:
        del report["diagnostics"]
    return report


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


def _exit_code(status: int) -> int:
    """asyncio has a negative number for a signal, shells have 128 and its number (HOST-4)."""
    return 128 - status if status < 0 else status


def _lenient(data: bytearray) -> str:
    return data.decode("utf-8", "replace")

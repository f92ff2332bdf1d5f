"""Runs one command so that nothing of it is left behind. A script of its own, started by ``SubprocessRunner``.

usage: _supervise.py LIFELINE GRACE LOCK LOCK_FILE COMMAND...

LIFELINE is the reading end of a pipe whose other end only the host has. The first byte on it starts the command; the
next asks for a gentle end (SIGTERM, GRACE seconds, SIGKILL); its end of file means that the host is dead, or could not
go on with what it had begun, and then everything is killed at once. A separate process does this because nothing inside
of a host survives the host's SIGKILL, and because ``prctl`` in a ``preexec_fn`` of a threaded program can deadlock. On
Linux this process adopts the orphans of the command (subreaper), so that children which left the process group are
found too; elsewhere the process group has to do.

LOCK is a descriptor on the locked LOCK_FILE (both empty if there is none). It is only held: the kernel frees it when
this process ends, which is when nothing of the command is left, and the file is removed before that.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import sys
import time

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_COULD_NOT_START = 127
_FORK_AGAIN_SEC = 0.2
UNKILLABLE_SEC = 10.0  # a process stuck in the kernel must not keep this one for ever


def _wake_up(_signal: int, _frame: object) -> None:
    """The wake-up pipe does the work; without a handler there would be no wake-up."""


def main() -> int:
    lifeline, grace, (lock, lock_file), argv = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:5], sys.argv[5:]
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    wake, wake_writer = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(wake_writer, False)
    signal.signal(signal.SIGCHLD, _wake_up)
    signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
    child = _fork(lifeline) if os.read(lifeline, 1) else None
    if child is None:
        return _COULD_NOT_START
    if child == 0:
        _become(argv, [lifeline, int(lock)] if lock else [lifeline])
    # Only the command holds its pipes: its reader must see their end, and its writer that nobody reads.
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    status: int | None = None
    gentle = True
    while status is None:
        ready, _, _ = select.select([lifeline, wake], [], [])
        if wake in ready:
            os.read(wake, 4096)
        status = _reap(child)
        if lifeline in ready and status is None:
            gentle = os.read(lifeline, 1) != b""
            break
    status = _end_all(child, grace if gentle else 0.0, status)
    if lock:
        with contextlib.suppress(OSError):
            os.unlink(lock_file)
    return 128 + signal.SIGKILL if status is None else _exit_code(status)


def _fork(lifeline: int) -> int | None:
    """Waits until there is a process and memory for the command, or until the host does not want it any more."""
    while True:
        try:
            return os.fork()
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.ENOMEM):
                raise
        if select.select([lifeline], [], [], _FORK_AGAIN_SEC)[0]:
            return None


def _become(argv: list[str], not_for_it: list[int]) -> None:
    try:
        for fd in not_for_it:
            os.close(fd)
        os.setsid()
        # If this supervisor itself is killed, the command goes with it.
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and that would be inherited
        os.execvp(argv[0], argv)
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode(errors="replace"))
    finally:
        os._exit(_COULD_NOT_START)


def _end_all(child: int, grace: float, status: int | None) -> int | None:
    start = time.monotonic()
    if grace > 0:
        _signal_all(child, signal.SIGTERM)
    while True:
        found = _reap(child)
        status = found if found is not None else status
        if not _descendants() and not _group_exists(child):
            return status
        waited = time.monotonic() - start
        if waited >= grace:
            _signal_all(child, signal.SIGKILL)
        if waited >= grace + UNKILLABLE_SEC:
            return status
        time.sleep(0.005)


def _signal_all(child: int, number: int) -> None:
    for send, target in [(os.killpg, child), *((os.kill, pid) for pid in _descendants())]:
        # It may be gone already.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            send(target, number)


def _group_exists(child: int) -> bool:
    try:
        os.killpg(child, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _reap(child: int) -> int | None:
    """Takes every child that ended, adopted ones too. The status of the command if it was among them."""
    status = None
    while True:
        try:
            pid, found = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if pid == 0:
            return status
        if pid == child:
            status = found


def _descendants() -> list[int]:
    parents: dict[int, int] = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    for name in names:
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as stat:
                    # The second field, in parentheses, is the program's name and may contain anything.
                    state, parent = stat.read().rpartition(b")")[2].split()[:2]
            except (OSError, ValueError):
                continue
            if state != b"Z":
                parents[int(name)] = int(parent)
    found: list[int] = []
    wanted = {os.getpid()}
    while wanted:
        wanted = {pid for pid, parent in parents.items() if parent in wanted}
        found.extend(wanted)
    return found


def _exit_code(status: int) -> int:
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    code = main()
    # Nothing of the interpreter is worth a clean-up; what matters has been ended above.
    os._exit(code)

"""What a service of the other language may have left in a data folder: after its SIGKILL, its agents take some
milliseconds to end, and no turn may run beside one of them. What a service of this language left, the package's own
runner waits for.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

_LOOK_AGAIN_SEC = 0.01
# As long as a process that is killed gets to end, and a little more.
_PATIENCE_SEC = 14.0


async def predecessor_gone(locks: Path) -> None:
    """Waits until no process carries one of the marks in the folder. (Marks are of Linux; so is ``/proc``.)"""
    end = time.monotonic() + _PATIENCE_SEC
    for path in locks.glob("*.mark"):
        while mark := _text(path):
            if not _is_carried(mark):
                break
            if time.monotonic() > end:
                raise TimeoutError(f"{path} still marks a process: another service is running")
            await asyncio.sleep(_LOOK_AGAIN_SEC)
        path.unlink(missing_ok=True)


def _is_carried(mark: bytes) -> bool:
    variable = b"TURNLATCH_PROCESS=" + mark
    # The environment of a process that has ended, but was not asked for its status yet, is empty.
    return any(variable in _text(process / "environ") for process in Path("/proc").iterdir() if process.name.isdigit())


def _text(path: Path) -> bytes:
    """Nothing, if it may not be read or is gone by now."""
    try:
        return path.read_bytes()
    except OSError:
        return b""

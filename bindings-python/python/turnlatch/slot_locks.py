"""Locks on files that say, across hosts, in which slots something of a process still lives (POSIX).

The supervisor of a process inherits the lock and keeps it until nothing of its process is left, so the lock outlives a
host that was killed. The kernel frees it with its last holder: a lock can be late, but never be left behind.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

_LOOK_AGAIN_SEC = 0.005


class SlotLocks:
    """The locks in one folder, which belongs to one host and to those that take its place one after the other."""

    def __init__(self, folder: str | os.PathLike[str], patience_sec: float) -> None:
        # The supervisor removes the file, and may work in another directory.
        self._folder = Path(folder).resolve()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._patience_sec = patience_sec
        self._own: set[Path] = set()

    @asynccontextmanager
    async def handed_over(self, slot_id: str) -> AsyncGenerator[tuple[int, Path], None]:
        """Locks the slot's file for a supervisor that is started inside of the block and inherits the descriptor."""
        path = self._path(slot_id)
        end = time.monotonic() + self._patience_sec
        while (locked := _try_lock(path, os.O_CREAT)) is None:
            await self._wait(path, end)
        self._own.add(path)
        try:
            yield locked, path
        except BaseException:
            path.unlink(missing_ok=True)
            self._own.discard(path)
            raise
        finally:
            os.close(locked)

    def forget(self, slot_id: str) -> None:
        """The process of this host in the slot is gone; its supervisor may have been killed before it could tidy up."""
        path = self._path(slot_id)
        self._own.discard(path)
        _remove_if_free(path)

    async def free(self, slot_id: str) -> None:
        """Waits until nothing lives in the slot that an earlier host has started there."""
        await self._free(self._path(slot_id), time.monotonic() + self._patience_sec)

    async def all_free(self) -> None:
        """Waits until nothing lives that an earlier host has started."""
        end = time.monotonic() + self._patience_sec
        for path in self._folder.glob("*.lock"):
            await self._free(path, end)

    async def _free(self, path: Path, end: float) -> None:
        while path not in self._own and not _remove_if_free(path):
            await self._wait(path, end)

    def _path(self, slot_id: str) -> Path:
        # Ids are made of what clients sent, so they are no names of files.
        return self._folder / f"{hashlib.sha256(slot_id.encode(errors='surrogatepass')).hexdigest()}.lock"

    async def _wait(self, path: Path, end: float) -> None:
        if time.monotonic() > end:
            raise TimeoutError(f"{path} is still locked: another host with this folder is running")
        await asyncio.sleep(_LOOK_AGAIN_SEC)


def _remove_if_free(path: Path) -> bool:
    """Whether nobody holds the lock; then the file is gone."""
    try:
        locked = _try_lock(path)
    except FileNotFoundError:
        return True
    if locked is None:
        return False
    path.unlink(missing_ok=True)
    os.close(locked)
    return True


def _try_lock(path: Path, create: int = 0) -> int | None:
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | create, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Between opening and locking, its last holder may have removed the file: then this is a lock on nothing.
        if os.path.samestat(os.fstat(descriptor), os.stat(path)):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(descriptor)
    return None

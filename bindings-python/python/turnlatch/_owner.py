"""Keeps a SQLite database to one process at a time.

Two hosts on one database would take each other's turns for lost. So a host holds ``<database>.owner``, an SQLite file
of its own, by ``BEGIN EXCLUSIVE``: a lock of the operating system that ends with its process, even by SIGKILL, and that
hosts in every language can take. Nothing can be read from a file that is locked so; ``<database>.owner.pid`` beside it
has the owner's process id as text. The Node package does the same, so that hosts of both languages exclude each other
(HOST-11).
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from .parts import DriverUsageError


class DatabaseOwner:
    """The ownership of a database, from construction until :meth:`release`. Raises ``DATABASE_IN_USE``, with the
    owner's ``pid`` in ``details`` if it is known, while the database has an owner, also if that is this process."""

    def __init__(self, database: str | os.PathLike[str]) -> None:
        path = os.path.realpath(database)
        self._pid_file = Path(f"{path}.owner.pid")
        self._lock = sqlite3.connect(f"{path}.owner", timeout=0, isolation_level=None, check_same_thread=False)
        try:
            self._lock.execute("BEGIN EXCLUSIVE")
            self._pid_file.write_text(f"{os.getpid()}\n", encoding="ascii")
        except BaseException as error:
            self._lock.close()
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                raise self._in_use(path) from None
            raise

    def release(self) -> None:
        """Lets the next owner in. The lock's file stays: removing it could take it from under that owner."""
        self._pid_file.unlink(missing_ok=True)
        self._lock.close()

    def _in_use(self, path: str) -> DriverUsageError:
        try:
            pid = int(self._pid_file.read_text(encoding="ascii"))
        except (OSError, ValueError):
            pid = None  # the owner is about to write it, or to leave
        owner = "another process" if pid is None else f"process {pid}"
        message = f"{owner} uses {path}: a SQLite file is for one host at a time, several need PostgreSQL"
        return DriverUsageError("DATABASE_IN_USE", message, None if pid is None else {"pid": pid})

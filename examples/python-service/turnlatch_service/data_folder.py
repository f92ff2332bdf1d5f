"""Who may use a data folder, and what of it is whose."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from .settings import Settings, SettingsInvalid

# What each way of keeping runs leaves in the folder. The folders of runs are the same for all, so that two ways in one
# data folder would write over each other's, and each would hide the runs of the other.
_LEFT_BY = {"embedded": "turnlatch.sqlite", "dbos on SQLite": "turnlatch-dbos.sqlite", "dbos on PostgreSQL": "workers"}


class DataFolder:
    """A data folder that this process may use: alone, or, with PostgreSQL, beside other workers.

    The locks are SQLite's, because every language's service can take them and the kernel frees them with the process.
    """

    def __init__(self, settings: Settings) -> None:
        data = settings.data
        self.path = data
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        for way, name in _LEFT_BY.items():
            if way != settings.way and (data / name).exists():
                raise SettingsInvalid(f"the runs in {data} were made by the engine {way}: choose another --data")
        self._held = [_locked(data / "owner.sqlite", settings.worker is not None, f"another service uses {data}")]
        own = data
        if settings.worker is not None:
            own = data / "workers" / settings.worker
            own.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._held.append(_locked(own / "owner.sqlite", False, f"another worker {settings.worker} uses {data}"))
        self.locks = own / "locks"
        """Which slots still have a process of this service, or of the one before it."""
        self.file = data / _LEFT_BY[settings.way]
        """The database, if it is a file."""

    def close(self) -> None:
        """Lets the next one in."""
        for held in self._held:
            held.close()


def _locked(path: Path, shared: bool, otherwise: str) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        db.execute("BEGIN" if shared else "BEGIN EXCLUSIVE")
        db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        db.close()
        raise SettingsInvalid(otherwise) from None
    return db

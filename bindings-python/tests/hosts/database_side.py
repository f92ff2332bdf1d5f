"""The transactions of the host on DBOS, on SQLite and without workers."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from dbos import DBOS, DBOSClient

from turnlatch import Run
from turnlatch.hosts.dbos.advance import Advance
from turnlatch.hosts.dbos.database import Database
from turnlatch.hosts.dbos.tables import Tables
from turnlatch.hosts.dbos.workflows import Enqueuer


class DatabaseSide:
    """Runs in a file; ``now`` is what the clock shows."""

    def __init__(self, path: Path) -> None:
        url = f"sqlite:///{path}"
        DBOS.migrate(url)
        self.database = Database(url)
        # A power cut is not what is tested here, and there are thousands of transactions.
        sa.event.listen(self.database.engine, "connect", lambda db, _: db.execute("PRAGMA synchronous=OFF"))
        self.client = DBOSClient(system_database_engine=self.database.engine)
        self.tables = Tables(self.database, compact=False)
        self.tables.create_all()
        self.now = 0
        self.advance = Advance(self.database, self.tables, Enqueuer(self.client, "1"), lambda: self.now)

    def run(self, run_id: str) -> Run:
        return Run.from_json(self.advance.read(lambda db: self.tables.snapshot(db, run_id)))

    def forget_all(self) -> None:
        with self.database.transaction() as db:
            for table in ("turnlatch_runs", "turnlatch_journal", "workflow_status"):
                db.exec_driver_sql(f"DELETE FROM {table}")

    def close(self) -> None:
        self.client.destroy()
        self.database.close()

"""Every vector through the host's transactions: the same effects, statuses and rejections, and the same rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from dbos import DBOS, DBOSClient

from turnlatch import Applied, Journal, Plan, Refused, Rejected, Run
from turnlatch.hosts.dbos.advance import Advance, telling
from turnlatch.hosts.dbos.database import Database
from turnlatch.hosts.dbos.tables import Tables
from turnlatch.hosts.dbos.workflows import Enqueuer
from vectors_runner import (
    Json,
    Members,
    Stage,
    admission,
    difference,
    expand_members,
    read_vectors,
    rejected,
    vector_files,
)


class Office:
    """The host's database side, without workers."""

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

    def forget_all(self) -> None:
        with self.database.transaction() as db:
            for table in ("turnlatch_runs", "turnlatch_journal", "workflow_status"):
                db.exec_driver_sql(f"DELETE FROM {table}")


class HostStage(Stage):
    """A run on its way through a vector that is kept in the database and nowhere else."""

    def __init__(self, office: Office, plan: Plan) -> None:
        self.office = office
        super().__init__(plan)

    def start(self, at: Any) -> None:
        self.office.forget_all()
        self.office.now = at
        advanced = self.office.advance.create(self.plan)
        self.run = advanced.run
        self.full, self.compact, self.effects = Journal(self.plan), Journal(self.plan), []
        self.record(advanced.applied)

    def event(self, event: Json, step: Members) -> Json:
        return self.told(telling(event), step)

    def event_text(self, text: str, step: Members) -> Json:
        return self.told(lambda run, now: run.apply_json(text, now), step)

    def told(self, how: Callable[[Run, int], Applied], step: Members) -> Json:
        self.office.now = step.get("at", 0)
        before = self.run.to_json()
        try:
            advanced = self.office.advance.change(self.run.run_id, how)
        except Rejected as rejection:
            assert self.stored().to_json() == before, "a rejected event changes nothing"
            return rejected(rejection)
        self.run = self.stored()
        assert self.run.to_json() == advanced.run.to_json(), "what was answered is what was saved"
        then: Members = {"effects": advanced.applied.effects, "status": self.run.status}
        if advanced.applied.receipt is not None:
            then["receipt"] = advanced.applied.receipt
        return self.taken(then, advanced.applied)

    def stored(self) -> Run:
        return Run.from_json(self.office.advance.read(lambda db: self.office.tables.snapshot(db, self.run.run_id)))

    def check_rows(self) -> None:
        lines = self.office.advance.read(lambda db: self.office.tables.lines(db, self.run.run_id, 0))
        assert lines == self.full.lines(), "the journal is the one that the run told"


def through_host(office: Office, vector: Members) -> str | None:
    """Where the host answers differently; ``None`` if it does not."""
    filled = {**vector, "steps": [dict(step) for step in vector["steps"]]}
    plan = admission(vector.get("given", {}))
    filled["admission"] = {"warnings": plan.warnings}
    stage = HostStage(office, plan)
    for step in filled["steps"]:
        step["then"] = stage.carry_out(expand_members(step))
    stage.check_rows()
    return difference(vector, filled)


def test_every_vector_holds_through_the_host(tmp_path: Path) -> None:
    office = Office(tmp_path / "runs.db")
    passed, broken = 0, []
    for path in vector_files():
        for vector in read_vectors(path):
            # Those without an event ask the core alone, which test_vectors.py does.
            if not any("event" in step or "event_text" in step for step in vector.get("steps", [])):
                continue
            try:
                told = through_host(office, vector)
            except (AssertionError, Refused) as error:
                told = f"{vector['name']}\n  {error}"
            broken += [told] if told is not None else []
            passed += told is None
    office.client.destroy()
    office.database.close()
    assert broken == [], "\n".join(broken)
    assert passed > 300

"""Every vector through the host's transactions: the same effects, statuses and rejections, and the same rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from turnlatch import AdmissionError, EventRejectedError, Journal, Plan, Run, Transition
from turnlatch.hosts.dbos.advance import telling
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

from .database_side import DatabaseSide


class HostStage(Stage):
    """A run on its way through a vector that is kept in the database and nowhere else."""

    def __init__(self, side: DatabaseSide, plan: Plan) -> None:
        self.side = side
        super().__init__(plan)

    def start(self, at: Any) -> None:
        self.side.forget_all()
        self.side.now = at
        advanced = self.side.advance.create(self.plan)
        self.run = advanced.run
        self.full, self.compact, self.effects = Journal(self.plan), Journal(self.plan), []
        self.last = advanced.applied
        self.record(advanced.applied)

    def event(self, event: Json, step: Members) -> Json:
        return self.told(telling(event), step)

    def event_text(self, text: str, step: Members) -> Json:
        return self.told(lambda run, now: run.apply_json(text, now), step)

    def told(self, how: Callable[[Run, int], Transition], step: Members) -> Json:
        self.side.now = step.get("at", 0)
        before = self.run.to_json()
        try:
            advanced = self.side.advance.change(self.run.run_id, how)
        except EventRejectedError as rejection:
            assert self.stored().to_json() == before, "a rejected event changes nothing"
            return self.taken(rejected(rejection), rejection)
        self.run = self.stored()
        assert self.run.to_json() == advanced.run.to_json(), "what was answered is what was saved"
        then: Members = {"effects": advanced.applied.effects, "status": self.run.status}
        if advanced.applied.receipt is not None:
            then["receipt"] = advanced.applied.receipt
        return self.taken(then, advanced.applied)

    def stored(self) -> Run:
        return Run.from_json(self.side.advance.read(lambda db: self.side.tables.snapshot(db, self.run.run_id)))

    def check_rows(self) -> None:
        lines = self.side.advance.read(lambda db: self.side.tables.lines(db, self.run.run_id, 0))
        assert lines == self.full.lines(), "the journal is the one that the run told"


def through_host(side: DatabaseSide, vector: Members) -> str | None:
    """Where the host answers differently; ``None`` if it does not."""
    filled = {**vector, "steps": [dict(step) for step in vector["steps"]]}
    plan = admission(vector.get("given", {}))
    filled["admission"] = {"warnings": plan.warnings}
    stage = HostStage(side, plan)
    for step in filled["steps"]:
        step["then"] = stage.carry_out(expand_members(step))
    stage.check_rows()
    return difference(vector, filled)


def test_every_vector_holds_through_the_host(tmp_path: Path) -> None:
    side = DatabaseSide(tmp_path / "runs.db")
    passed, broken = 0, []
    for path in vector_files():
        for vector in read_vectors(path):
            # Those without an event ask the core alone, which test_vectors.py does.
            if not any("event" in step or "event_text" in step for step in vector.get("steps", [])):
                continue
            try:
                told = through_host(side, vector)
            except (AssertionError, AdmissionError) as error:
                told = f"{vector['name']}\n  {error}"
            broken += [told] if told is not None else []
            passed += told is None
    side.close()
    assert broken == [], "\n".join(broken)
    assert passed > 300

"""What several tests need: plans, and runs that are already somewhere."""

from __future__ import annotations

from typing import Any

from turnlatch import Plan, Run, Skill, admit

RUNNER: Any = {"execution_modes": ["auto", "interactive"]}
SCHEMA = {"type": "object", "required": ["answer"], "properties": {"answer": {"type": "integer"}}}


def plan_of(*, schema: Any = SCHEMA, runner: Any = None, **request: Any) -> Plan:
    """A plan of the usual skill; keywords are laid over the request."""
    asked: Any = {"run_id": "r1", "engine": "codex", "execution_mode": "interactive", **request}
    manifest = Skill(RUNNER if runner is None else runner, schema)
    return admit(manifest, asked, engines=["codex", "claude"])


def queued_run(**options: Any) -> Run:
    return Run.create(plan_of(**options), 0)[0]


def running_run(**options: Any) -> Run:
    run = queued_run(**options)
    run.apply({"type": "slot_granted", "slot_id": "r1/s1"}, 1)
    return run


def waiting_run(**options: Any) -> Run:
    run = running_run(**options)
    run.apply({"type": "turn_finished", "attempt_number": 1, "text": "Which file?"}, 2)
    assert run.status == "waiting_user"
    return run

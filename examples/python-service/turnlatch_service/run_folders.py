"""The folders of runs: the skill as it was when the run was made, and the agent's working folder."""

from __future__ import annotations

import json
from pathlib import Path

from turnlatch import Plan

from .skills import Skill, copy_for_run


class RunFolders:
    """`runs/<run_id>` with `skill`, `work` and `prompt.md`. Run ids are checked by the core and are names of files."""

    def __init__(self, data: Path) -> None:
        self._runs = data / "runs"

    def skill(self, run_id: str) -> Path:
        """The copy of the skill."""
        return self._runs / run_id / "skill"

    def work(self, run_id: str) -> Path:
        """Where the agent works."""
        return self._runs / run_id / "work"

    def prompt(self, run_id: str) -> str:
        """What the agent is told first."""
        return (self._runs / run_id / "prompt.md").read_bytes().decode()

    def make(self, skill: Skill, plan: Plan, request: str) -> None:
        """Makes everything that the run's turns will need, before the run is made."""
        instructions = copy_for_run(skill, self.skill(plan.run_id), plan)
        self.work(plan.run_id).mkdir(parents=True, exist_ok=True)
        prompt = instructions + "".join(_section(request, member) for member in ("input", "parameter"))
        (self._runs / plan.run_id / "prompt.md").write_text(prompt, encoding="utf-8", newline="")


def _section(request: str, member: str) -> str:
    """A member of the request as the agent reads it."""
    values = json.loads(request)
    if member not in values:
        return ""
    text = json.dumps(values[member], ensure_ascii=False, indent=2)
    return f"\n\n## {member.capitalize()}\n\n```json\n{text}\n```\n"

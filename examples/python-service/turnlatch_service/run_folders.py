"""The folders of runs: the skill as it was when the run was made, and the agent's working folder."""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from turnlatch import Plan

from .skills import SkillFolder, copy_for_run


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

    def new(self, skill: SkillFolder, plan: Plan, request: str) -> NewFolder:
        """Everything that the run's turns will need, to be made before the run is."""

        def fill(folder: Path) -> None:
            instructions = copy_for_run(skill, folder / "skill", plan)
            (folder / "work").mkdir()
            prompt = instructions + "".join(_section(request, member) for member in ("input", "parameter"))
            (folder / "prompt.md").write_text(prompt, encoding="utf-8", newline="")

        return NewFolder(self._runs / plan.run_id, fill)


class NewFolder:
    """A run's folder that is filled under another name and then put into its place, which takes no time."""

    def __init__(self, path: Path, fill: Callable[[Path], None]) -> None:
        self._path = path
        # No run has an id with such a character.
        self._filled = path.with_name(f"~{uuid4().hex}")
        self._aside = self._filled.with_suffix(".old")
        self._fill = fill

    def prepare(self) -> None:
        """Fills it, which may take long."""
        self._filled.mkdir(parents=True)
        self._fill(self._filled)

    def place(self) -> bool:
        """Puts it into its place, once; ``False`` if there is something."""
        if not self._filled.exists():
            return True
        try:
            self._filled.rename(self._path)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            return False
        return True

    def replace(self) -> None:
        """Puts it into its place instead of what a creation has left that was cut off."""
        self._path.rename(self._aside)
        self._filled.rename(self._path)

    def discard(self) -> None:
        """Removes what did not come to its place, and what was there before."""
        for folder in (self._filled, self._aside):
            shutil.rmtree(folder, ignore_errors=True)


def _section(request: str, member: str) -> str:
    """A member of the request as the agent reads it."""
    values = json.loads(request)
    if member not in values:
        return ""
    text = json.dumps(values[member], ensure_ascii=False, indent=2)
    return f"\n\n## {member.capitalize()}\n\n```json\n{text}\n```\n"

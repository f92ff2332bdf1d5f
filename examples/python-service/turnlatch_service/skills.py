"""The skills folder: which skills there are, what they say, and the copy that a run works with."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turnlatch import Plan, Skill, append_instructions, describe_skill

from .errors import NotServed
from .log import log

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MOST_BYTES = 4 * 1024 * 1024


def is_skill_name(name: str) -> bool:
    """Whether this could be a skill's name. None of them leads out of a folder."""
    return _NAME.fullmatch(name) is not None


@dataclass(frozen=True)
class SkillFolder:
    """A skill as it is in its folder now."""

    name: str
    folder: Path
    text: str
    manifest: Skill


class Skills:
    """The real folders directly in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()

    def open(self, name: str) -> SkillFolder:
        """Reads a skill, or raises ``SKILL_UNKNOWN``."""
        skill = self._read(name) if is_skill_name(name) else None
        if skill is None:
            raise NotServed("SKILL_UNKNOWN", "there is no skill of this name")
        return skill

    def describe(self, engines: list[str]) -> list[dict[str, Any]]:
        """Every skill with what the core says about its manifest, by name."""
        names = sorted(entry.name for entry in self._folder.iterdir() if is_skill_name(entry.name))
        skills = [skill for skill in map(self._read, names) if skill is not None]
        return [
            {
                "name": skill.name,
                "description": description_of(skill.text),
                **describe_skill(skill.manifest, engines=engines),
            }
            for skill in skills
        ]

    def _read(self, name: str) -> SkillFolder | None:
        folder = (self._folder / name).resolve()
        if folder.parent != self._folder:
            return None  # a link that leads out
        try:
            text, runner = _text(folder, "SKILL.md"), _text(folder, "runner.json")
            schemas = [_text(folder, f"assets/{which}.schema.json") for which in ("output", "input", "parameter")]
        except _Unreadable as unreadable:
            # Without its schema a skill would accept what its author refuses, so there is no such skill.
            log.warning("skill %s is not served: %s", name, unreadable)
            return None
        return None if text is None or runner is None else SkillFolder(name, folder, text, Skill(runner, *schemas))


def copy_for_run(skill: SkillFolder, to: Path, plan: Plan) -> str:
    """Copies the skill's folder as it is now, with the run's instructions in its SKILL.md. Returns that text."""
    shutil.copytree(skill.folder, to, symlinks=True, ignore=_leading_out(skill.folder))
    patched = append_instructions(skill.text, plan.to_dict()["execution_mode"], plan)
    instructions = to / "SKILL.md"
    instructions.unlink()
    instructions.write_text(patched, encoding="utf-8", newline="")
    return patched


def description_of(text: str) -> str:
    """The `description:` of a SKILL.md's front matter: one line, or the indented lines that follow `>` or `|`."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    if lines[0] != "---" or "---" not in lines[1:]:
        return ""
    front = lines[1 : lines.index("---", 1)]
    for place, line in enumerate(front):
        if line.startswith("description:"):
            value = line.removeprefix("description:").strip(" \t")
            if re.fullmatch(r"[>|][+-]?", value):
                block: list[str] = []
                for following in front[place + 1 :]:
                    if following[:1] not in (" ", "\t"):
                        break
                    block.append(following.strip(" \t"))
                return " ".join(block)
            quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
            return value[1:-1] if quoted else value
    return ""


class _Unreadable(Exception):
    """There is something, but it cannot be taken."""


def _text(folder: Path, name: str) -> str | None:
    """A text file of a skill, ``None`` if there is none."""
    path = (folder / name).resolve()
    if not os.path.lexists(folder / name):
        return None
    if not path.is_relative_to(folder) or not path.is_file():
        raise _Unreadable(f"{name} is not a file of the skill's folder")
    if path.stat().st_size > _MOST_BYTES:
        raise _Unreadable(f"{name} is larger than {_MOST_BYTES} bytes")
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise _Unreadable(f"{name} cannot be read: {error}") from None


def _leading_out(folder: Path) -> Any:
    """What is not copied: links out of the skill's folder, and what is neither file nor folder."""

    def ignore(inside: str, names: list[str]) -> list[str]:
        paths = [Path(inside, name) for name in names]
        return [path.name for path in paths if not path.resolve().is_relative_to(folder) or not _is_plain(path)]

    return ignore


def _is_plain(path: Path) -> bool:
    return path.is_symlink() or os.path.isfile(path) or os.path.isdir(path)

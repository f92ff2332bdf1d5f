"""What a turn left in its working folder, for its report. What it printed is decoded by the core."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def artifacts_in(work: Path, required: Sequence[str]) -> list[str]:
    """Those of the required artifacts that are files in the working folder."""
    return [path for path in required if _is_there(work, path)]


def _is_there(work: Path, path: str) -> bool:
    found = (work / path).resolve()
    return found.is_relative_to(work.resolve()) and found.is_file()

"""What an agent printed, as the report of its turn."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

from turnlatch import Plan
from turnlatch.types import Message, TurnReport

from .engines import Engine

# A handle goes into a command line, so it must not look like an option of the agent's.
_HANDLE = re.compile(r"[A-Za-z0-9][!-~]{0,4095}")


def read_report(engine: Engine, plan: Plan, work: Path, report: TurnReport) -> TurnReport:
    """The runner's report with the text read as the engine writes it, and the artifacts that are there."""
    settings = plan.to_dict()
    read = report.copy()
    text = read.get("text")
    # What is over the limit is handed on as it is: the core says OUTPUT_TOO_LARGE and reads none of it.
    if engine.speaks_messages and text is not None and len(text.encode()) <= settings["limits"]["turn_text_bytes"]:
        del read["text"]
        read.update(read_messages(text))
    artifacts = [path for path in settings["required_artifacts"] if _is_there(work, path)]
    if artifacts:
        read["artifacts"] = artifacts
    return read


def read_messages(text: str) -> TurnReport:
    """JSON lines as messages. A line that is not one of ours is a tool's: it must never count as the assistant's."""
    messages: list[Message] = []
    report: TurnReport = {"messages": messages}
    for line in text.split("\n"):
        if not line.strip(" \t\r"):
            continue
        said = _object(line)
        role, words, handle = said.get("role"), said.get("text"), said.get("session_handle")
        if isinstance(handle, str) and _HANDLE.fullmatch(handle):
            report["session_handle"] = handle
        if isinstance(role, str) and isinstance(words, str):
            messages.append({"role": role, "text": words})
        elif "session_handle" not in report or handle != report["session_handle"]:
            messages.append({"role": "tool", "text": line})
    return report


def _object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _is_there(work: Path, path: str) -> bool:
    found = (work / path).resolve()
    return found.is_relative_to(work.resolve()) and found.is_file()

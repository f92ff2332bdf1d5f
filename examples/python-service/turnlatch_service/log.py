"""One line on stderr for each event: for people, with what strangers wrote made visible, or as JSON, without it."""

from __future__ import annotations

import json
import logging
import sys
from datetime import datetime, timezone
from typing import Any, Literal, cast

from turnlatch import display_text
from turnlatch.types import Observation

log = logging.getLogger("turnlatch.service")
_steps = logging.getLogger("turnlatch.service.steps")
LogForm = Literal["text", "json"]


def log_to_stderr(form: LogForm = "text") -> None:
    """Sends the events of the service, what drives the runs and the HTTP server to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json() if form == "json" else _OneLine("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    # DBOS brings a handler of its own if it has none. What it tells of its own life is no news.
    logging.getLogger("dbos").addHandler(logging.NullHandler())
    logging.getLogger("dbos").setLevel(logging.WARNING)
    # What the HTTP server tells about its own life would be told twice.
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    # People read what a run does in its timeline; the lines of every step are for programs.
    _steps.disabled = form != "json"


def log_step(observation: Observation) -> None:
    """What was observed, in which there is no word of a user or an agent."""
    went_wrong = "rejected" in observation or ("left" in observation and observation["status"] == "failed")
    _steps.log(logging.WARNING if went_wrong else logging.INFO, "step", extra={"observation": observation})


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record).encode(errors="backslashreplace").decode()
        return display_text(text.replace("\n", "\\n").replace("\t", "\\t"))


class _Json(logging.Formatter):
    """Only what the program itself wrote is told: the message with its blanks, the names of errors and their codes."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds")
        told: dict[str, Any] = {"time": time.replace("+00:00", "Z"), "level": record.levelname.lower()}
        observation = cast("dict[str, Any] | None", getattr(record, "observation", None))
        return json.dumps({**told, **(observation or _without_words(record))}, separators=(",", ":"))


def _without_words(record: logging.LogRecord) -> dict[str, Any]:
    told: dict[str, Any] = {"event": "log", "logger": record.name}
    arguments = record.args if isinstance(record.args, tuple) else ()
    # Others put strangers' words into the message itself.
    if record.name.startswith("turnlatch"):
        told["message"] = str(record.msg)
        if told["message"].startswith("run %s") and arguments:
            told["run_id"] = str(arguments[0])
    errors = [value for value in (*arguments, *(record.exc_info or ())) if isinstance(value, BaseException)]
    for error in errors:
        told["error"] = type(error).__name__
        if isinstance(code := getattr(error, "code", None), str):
            told["code"] = code
    return told

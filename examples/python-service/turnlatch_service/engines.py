"""The engine table: which command lines run an agent, and how its output is read."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from .settings import SettingsInvalid

_MEMBERS = {"first", "resume", "sticky", "output", "timeout_sec", "env"}
_INHERITED = ("PATH", "HOME", "LANG")


@dataclass(frozen=True)
class Sticky:
    """A process that stays alive while its run waits, and the line by which it says that a turn is over."""

    command: list[str]
    end_of_turn: str


@dataclass(frozen=True)
class Engine:
    """How one agent CLI is run. Commands are lists of arguments; there is no shell."""

    first: list[str]
    resume: list[str] | None
    sticky: Sticky | None
    speaks_messages: bool
    timeout_sec: float
    env: dict[str, str]

    def environment(self) -> dict[str, str]:
        """All that the agent gets of this service's environment, and what the table adds."""
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        return {**inherited, "TERM": "dumb", **self.env}


@dataclass(frozen=True)
class EngineTable:
    """The engines by name, and the folder that `{home}` stands for."""

    home: Path
    engines: Mapping[str, Engine]

    @property
    def names(self) -> list[str]:
        """The names, sorted."""
        return sorted(self.engines)


def filled(command: list[str], values: Mapping[str, str]) -> list[str]:
    """The command with its placeholders replaced, each in one go: a value that looks like one stays as it is."""
    return [_filled(argument, values) for argument in command]


def _filled(argument: str, values: Mapping[str, str]) -> str:
    before, brace, rest = argument.partition("{")
    if not brace:
        return before
    name, closing, after = rest.partition("}")
    if closing and name in values:
        return before + values[name] + _filled(after, values)
    return before + brace + _filled(rest, values)


def read_engines(path: Path) -> EngineTable:
    """Reads the table, or says what is wrong with it."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise SettingsInvalid(f"the engine table {path} cannot be read: {error}") from None
    engines = _members(document).get("engines")
    if not engines or not isinstance(engines, dict):
        raise SettingsInvalid(f'the engine table {path} is not of the form {{"engines": {{name: {{...}}}}}}')
    table: dict[str, Engine] = {}
    for name, given in _members(engines).items():
        try:
            table[name] = _engine(_members(given))
        except ValueError as error:
            raise SettingsInvalid(f"engine {name} in {path}: {error}") from None
    return EngineTable(path.resolve().parent, table)


def _engine(given: dict[str, Any]) -> Engine:
    if unknown := sorted(given.keys() - _MEMBERS):
        raise ValueError(f"unknown member {unknown[0]}")
    output = given.get("output", "text")
    if output not in ("text", "messages"):
        raise ValueError("output is text or messages")
    timeout = given.get("timeout_sec", 600)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0:
        raise ValueError("timeout_sec is a number above 0")
    env = _members(given.get("env", {}))
    if not all(isinstance(value, str) for value in env.values()):
        raise ValueError("env is an object of texts")
    first = _command(given.get("first"), "first")
    if any("{session_handle}" in part for part in first):
        raise ValueError("first has no session_handle yet")
    return Engine(
        first=first,
        resume=_command(given["resume"], "resume") if "resume" in given else None,
        sticky=_sticky(_members(given["sticky"])) if "sticky" in given else None,
        speaks_messages=output == "messages",
        timeout_sec=timeout,
        env=env,
    )


def _sticky(given: dict[str, Any]) -> Sticky:
    end_of_turn = given.get("end_of_turn")
    if not isinstance(end_of_turn, str) or not end_of_turn or set(end_of_turn) & set("\r\n"):
        raise ValueError("sticky.end_of_turn is one line of text")
    return Sticky(_command(given.get("command"), "sticky.command"), end_of_turn)


def _command(given: Any, which: str) -> list[str]:
    parts = cast("list[Any]", given) if isinstance(given, list) else []
    if not parts or not all(isinstance(part, str) for part in parts):
        raise ValueError(f"{which} is a list of texts, not empty")
    return parts


def _members(value: Any) -> dict[str, Any]:
    """The members of an object; of anything else none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}

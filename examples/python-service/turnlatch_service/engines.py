"""The engine table: which command lines run an agent, and how it writes its output."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from turnlatch import EventRejectedError, StreamDecoder

from .settings import SettingsInvalid, is_secret

_MEMBERS = {"first", "resume", "sticky", "stream", "timeout_sec", "env", "inherit"}
_STICKY_MEMBERS = {"command", "stream", "end_of_turn"}
_INHERITED = ("PATH", "HOME", "LANG")
_PROMPT = "{prompt}"


@dataclass(frozen=True)
class Sticky:
    """A process that stays alive while its run waits. Its stream says when a turn is over, or this line does."""

    command: list[str]
    stream: str
    end_of_turn: str | None


@dataclass(frozen=True)
class Engine:
    """How one agent CLI is run. Commands are lists of arguments; there is no shell."""

    first: list[str]
    resume: list[str] | None
    sticky: Sticky | None
    stream: str
    timeout_sec: float
    env: dict[str, str]
    inherit: list[str]

    def environment(self) -> dict[str, str]:
        """All that the agent gets of this service's environment, and what the table adds."""
        inherited = {name: os.environ[name] for name in (*_INHERITED, *self.inherit) if name in os.environ}
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


def takes_prompt(command: list[str]) -> bool:
    """Whether the prompt stands among the arguments."""
    return any(_PROMPT in argument for argument in command)


def read_engines(path: Path) -> EngineTable:
    """Reads the table, or says everything that is wrong with it."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise SettingsInvalid(f"the engine table {path} cannot be read: {error}") from None
    engines = _members(document).get("engines")
    if not engines or not isinstance(engines, dict):
        raise SettingsInvalid(f'the engine table {path} is not of the form {{"engines": {{name: {{...}}}}}}')
    table: dict[str, Engine] = {}
    wrong: list[str] = []
    for name, given in _members(engines).items():
        try:
            table[name] = _engine(_members(given))
        except ValueError as error:
            wrong.append(f"engine {name} in {path}: {error}")
    if wrong:
        raise SettingsInvalid("\n".join(wrong))
    return EngineTable(path.resolve().parent, table)


def _engine(given: dict[str, Any]) -> Engine:
    if unknown := sorted(given.keys() - _MEMBERS):
        raise ValueError(f"unknown member {unknown[0]}")
    stream = _stream(given, "text", "stream")
    timeout = given.get("timeout_sec", 600)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0:
        raise ValueError("timeout_sec is a number above 0")
    env = given.get("env", {})
    if not isinstance(env, dict) or not all(isinstance(value, str) for value in _members(env).values()):
        raise ValueError("env is an object of texts")
    first = _command(given.get("first"), "first")
    if any("{session_handle}" in part for part in first):
        raise ValueError("first has no session_handle yet")
    return Engine(
        first=first,
        resume=_command(given["resume"], "resume") if "resume" in given else None,
        sticky=_sticky(_members(given["sticky"]), stream) if "sticky" in given else None,
        stream=stream,
        timeout_sec=timeout,
        env=_members(env),
        inherit=_names(given.get("inherit", [])),
    )


def _sticky(given: dict[str, Any], stream_of_engine: str) -> Sticky:
    if unknown := sorted(given.keys() - _STICKY_MEMBERS):
        raise ValueError(f"unknown member sticky.{unknown[0]}")
    command = _command(given.get("command"), "sticky.command")
    if takes_prompt(command):
        raise ValueError("sticky.command takes many prompts, on its input: {prompt} cannot stand in it")
    stream, end_of_turn = _stream(given, stream_of_engine, "sticky.stream"), given.get("end_of_turn")
    if end_of_turn is not None and not isinstance(end_of_turn, str):
        raise ValueError("sticky.end_of_turn is one line of text")
    try:
        StreamDecoder(stream, sticky=True, end_of_turn=end_of_turn)
    except EventRejectedError as rejected:
        raise ValueError(f"sticky: {rejected.message}") from None
    return Sticky(command, stream, end_of_turn)


def _stream(given: dict[str, Any], default: str, which: str) -> str:
    stream = given.get("stream", default)
    if not isinstance(stream, str):
        raise ValueError(f"{which} is the name of a format")
    try:
        StreamDecoder(stream)
    except EventRejectedError as rejected:
        raise ValueError(f"{which}: {rejected.message}") from None
    return stream


def _names(given: Any) -> list[str]:
    names: list[Any] = cast("list[Any]", given) if isinstance(given, list) else [None]
    if not all(isinstance(name, str) and name and not set(name) & set("=\0") for name in names):
        raise ValueError("inherit is a list of names of environment variables")
    if secrets := [name for name in names if is_secret(name)]:
        raise ValueError(f"inherit cannot have {secrets[0]}: agents must not speak for those who use the service")
    return names


def _command(given: Any, which: str) -> list[str]:
    parts = cast("list[Any]", given) if isinstance(given, list) else []
    if not parts or not all(isinstance(part, str) for part in parts):
        raise ValueError(f"{which} is a list of texts, not empty")
    return parts


def _members(value: Any) -> dict[str, Any]:
    """The members of an object; of anything else none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}

"""The core's errors. Each has a stable ``code``, a ``message``, ``details``, and the ``path`` of what it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from .types import Observation, Problem


class TurnlatchError(Exception):
    """Something was not done; nothing has changed. ``path`` is ``None`` if the error is about no part of the data."""

    def __init__(self, code: str, message: str, details: Any = None, path: str | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.details = details
        self.path = path

    def __reduce__(self) -> tuple[type[TurnlatchError], tuple[str, str, Any, str | None]]:
        return type(self), (self.code, self.message, self.details, self.path)


class AdmissionError(TurnlatchError):
    """Admission said no; there is no run. ``code``, ``message`` and ``path`` are those of the first of ``problems``."""

    @property
    def problems(self) -> list[Problem]:
        """Every problem that was found."""
        return cast("list[Problem]", self.details or [])

    def __str__(self) -> str:
        lines = [f"{problem['path']}: {problem['code']}: {problem['message']}" for problem in self.problems]
        return "\n  ".join([super().__str__(), *(lines if len(lines) > 1 else [])])


class EventRejectedError(TurnlatchError):
    """A malformed event was not applied; the run is unchanged. A reply or cancel that is refused raises nothing: its
    receipt has a ``code``. ``observation`` holds the metrics of the rejection, if a run has rejected the event."""

    observation: Observation | None = None

    def __str__(self) -> str:
        found = f"; `{self.path}` is {self.details['found']}" if self.path == "now" else ""
        return super().__str__() + found


class LoadError(TurnlatchError):
    """A snapshot, plan or journal was not loaded. ``path`` says where it is invalid."""

"""The core's ways to say no. Each has a stable ``code``, a ``message`` and ``details``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .types import Observation


class TurnlatchError(Exception):
    """Something was not done; nothing has changed."""

    def __init__(self, code: str, message: str, details: Any = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.details = details

    def __reduce__(self) -> tuple[type[TurnlatchError], tuple[str, str, Any]]:
        return type(self), (self.code, self.message, self.details)


class AdmissionError(TurnlatchError):
    """Admission said no; there is no run. ``details`` lists every problem."""


class EventRejectedError(TurnlatchError):
    """A malformed event was not applied; the run is unchanged. A reply or cancel that is refused raises nothing: its
    receipt has a ``code``. ``observation`` is what is worth measuring of it, if a run has rejected it."""

    observation: Observation | None = None


class LoadError(TurnlatchError):
    """A snapshot or journal was not loaded. ``details["place"]`` says where it is wrong."""

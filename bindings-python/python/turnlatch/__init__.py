"""turnlatch decides when an AI agent's turn is done, when it must wait for a person, and what happens next."""

from . import types
from ._core import __version__
from .errors import NotLoaded, Refused, Rejected, TurnlatchError
from .run import (
    Answered,
    Applied,
    Entry,
    Journal,
    Manifest,
    Plan,
    Run,
    admit,
    codes,
    display_text,
    evaluate_turn,
    patch_skill,
    replay,
    to_millis,
)

__all__ = [
    "Answered",
    "Applied",
    "Entry",
    "Journal",
    "Manifest",
    "NotLoaded",
    "Plan",
    "Refused",
    "Rejected",
    "Run",
    "TurnlatchError",
    "__version__",
    "admit",
    "codes",
    "display_text",
    "evaluate_turn",
    "patch_skill",
    "replay",
    "to_millis",
    "types",
]

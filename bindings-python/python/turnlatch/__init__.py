"""turnlatch decides when an AI agent's turn is done, when it must wait for a person, and what happens next."""

from . import types
from ._core import __version__
from .driver import Driver, RetryPolicy
from .errors import NotLoaded, Refused, Rejected, TurnlatchError
from .local import AsyncioTimers, LocalSlots, MemoryStore, wall_clock
from .parts import DriverMisused, Processes, RunUnknown, Slots, Store, StoreConflict, Timers
from .processes import Command, SubprocessRunner
from .run import (
    Answered,
    Applied,
    Entry,
    Job,
    Journal,
    Manifest,
    Plan,
    Run,
    admit,
    codes,
    describe_skill,
    display_text,
    evaluate_turn,
    patch_skill,
    read_job,
    read_record,
    record_json,
    replay,
    request_event,
    run_of_slot,
    to_millis,
    unreadable_report,
)
from .sqlite_store import SqliteStore
from .stream import StreamDecoder, decode_stream
from .sync_driver import SyncDriver

__all__ = [
    "Answered",
    "Applied",
    "AsyncioTimers",
    "Command",
    "Driver",
    "DriverMisused",
    "Entry",
    "Job",
    "Journal",
    "LocalSlots",
    "Manifest",
    "MemoryStore",
    "NotLoaded",
    "Plan",
    "Processes",
    "Refused",
    "Rejected",
    "RetryPolicy",
    "Run",
    "RunUnknown",
    "Slots",
    "SqliteStore",
    "Store",
    "StoreConflict",
    "StreamDecoder",
    "SubprocessRunner",
    "SyncDriver",
    "Timers",
    "TurnlatchError",
    "__version__",
    "admit",
    "codes",
    "decode_stream",
    "describe_skill",
    "display_text",
    "evaluate_turn",
    "patch_skill",
    "read_job",
    "read_record",
    "record_json",
    "replay",
    "request_event",
    "run_of_slot",
    "to_millis",
    "types",
    "unreadable_report",
    "wall_clock",
]

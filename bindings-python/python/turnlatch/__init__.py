"""turnlatch decides when an AI agent's turn is done, when it must wait for a person, and what happens next."""

from . import types
from ._core import __version__
from .driver import Driver, RetryPolicy
from .errors import AdmissionError, EventRejectedError, LoadError, TurnlatchError
from .local import AsyncioTimers, LocalSlots, MemoryStore, wall_clock
from .parts import (
    DriverUsageError,
    Processes,
    RunNotFoundError,
    Slots,
    Store,
    StoreConflictError,
    Timers,
    is_out_of_resources,
)
from .processes import Command, SubprocessRunner
from .run import (
    Entry,
    Job,
    Journal,
    Plan,
    Run,
    Skill,
    Transition,
    admit,
    append_instructions,
    codes,
    describe_skill,
    display_text,
    evaluate_turn,
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
    "AdmissionError",
    "AsyncioTimers",
    "Command",
    "Driver",
    "DriverUsageError",
    "Entry",
    "EventRejectedError",
    "Job",
    "Journal",
    "LoadError",
    "LocalSlots",
    "MemoryStore",
    "Plan",
    "Processes",
    "RetryPolicy",
    "Run",
    "RunNotFoundError",
    "Skill",
    "Slots",
    "SqliteStore",
    "Store",
    "StoreConflictError",
    "StreamDecoder",
    "SubprocessRunner",
    "SyncDriver",
    "Timers",
    "Transition",
    "TurnlatchError",
    "__version__",
    "admit",
    "append_instructions",
    "codes",
    "decode_stream",
    "describe_skill",
    "display_text",
    "evaluate_turn",
    "is_out_of_resources",
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

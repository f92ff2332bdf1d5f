"""The data that goes in and comes out, as it stands on the wire. Everything is a plain dict: ``match`` on ``type``."""

from __future__ import annotations

import sys
from typing import Any, Literal, TypeAlias, TypedDict

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired

Status: TypeAlias = Literal["queued", "running", "waiting_user", "succeeded", "failed", "canceled"]
ExecutionMode: TypeAlias = Literal["auto", "interactive"]
Kind: TypeAlias = Literal["choose_one", "confirm", "fill_fields", "open_text", "risk_ack"]
StreamFormat: TypeAlias = Literal[
    "text",
    "ndjson",
    "codex-jsonl",
    "claude-stream-json",
    "qwen-stream-json",
    "gemini-stream-json",
    "gemini-json",
    "opencode-json",
    "pi-json",
    "acp",
]
ResolutionMode: TypeAlias = Literal["user_reply", "auto_decide_timeout", "canceled", "expired"]


class Message(TypedDict):
    role: str
    text: str


class Note(TypedDict):
    code: str
    message: str


class Usage(TypedDict):
    """Tokens of a turn; those from a cache are among the input's."""

    input_tokens: int
    output_tokens: int
    cached_input_tokens: NotRequired[int]


class Stream(TypedDict):
    """Everything that an agent's process printed in a turn; without ``exit_code`` it lives on."""

    format: StreamFormat
    stdout: str
    stderr: NotRequired[str]
    exit_code: NotRequired[int]


class Decoded(TypedDict):
    """What a turn's stream says; with it, ``exit_code`` and the host's own words, a turn is reported."""

    messages: list[Message]
    session_handle: NotRequired[str]
    failure_reason: NotRequired[str]
    usage: NotRequired[Usage]
    diagnostics: list[Note]


class Piece(TypedDict):
    """A piece of a message as it came; pieces of one ``message`` of a turn are joined."""

    message: int
    role: str
    text: str


class Progress(TypedDict):
    """What came of some bytes. ``write`` goes to the process's stdin; after ``stop`` nothing more is read."""

    pieces: list[Piece]
    turn_over: bool
    stop: bool
    write: list[str]


class Said(TypedDict):
    """What an agent said just now, in a turn that is under way."""

    run_id: str
    attempt_number: int
    pieces: list[Piece]


class SlotGranted(TypedDict):
    type: Literal["slot_granted"]
    slot_id: str


class TurnReport(TypedDict, total=False):
    """What a finished turn left behind; at most one of ``output``, ``messages``, ``text`` and ``stream``, which has
    the exit code in itself."""

    attempt_number: int
    slot_id: str
    exit_code: int
    failure_reason: str
    output: Any
    messages: list[Message]
    text: str
    stream: Stream
    session_handle: str
    artifacts: list[str]
    usage: Usage
    diagnostics: list[Note]


class TurnFinished(TypedDict):
    type: Literal["turn_finished"]
    attempt_number: int
    slot_id: NotRequired[str]
    exit_code: NotRequired[int]
    failure_reason: NotRequired[str]
    output: NotRequired[Any]
    messages: NotRequired[list[Message]]
    text: NotRequired[str]
    stream: NotRequired[Stream]
    session_handle: NotRequired[str]
    artifacts: NotRequired[list[str]]
    usage: NotRequired[Usage]
    diagnostics: NotRequired[list[Note]]


class Reply(TypedDict):
    type: Literal["reply"]
    interaction_id: int
    response: Any
    idempotency_key: NotRequired[str]
    expected_revision: NotRequired[int]


class TimerFired(TypedDict):
    type: Literal["timer_fired"]
    interaction_id: int


class ProcessLost(TypedDict):
    type: Literal["process_lost"]
    attempt_number: int
    slot_id: NotRequired[str]


class Cancel(TypedDict):
    type: Literal["cancel"]
    reason: NotRequired[str]


Event: TypeAlias = SlotGranted | TurnFinished | Reply | TimerFired | ProcessLost | Cancel


class AcquireSlot(TypedDict):
    type: Literal["acquire_slot"]
    id: str
    slot_id: str


class ReleaseSlot(TypedDict):
    type: Literal["release_slot"]
    id: str
    slot_id: str


class Resume(TypedDict):
    session_handle: NotRequired[str]
    interaction_id: int
    response: str


class StartTurn(TypedDict):
    type: Literal["start_turn"]
    id: str
    attempt_number: int
    slot_id: str
    resume: NotRequired[Resume]


class InjectReply(TypedDict):
    type: Literal["inject_reply"]
    id: str
    attempt_number: int
    slot_id: str
    interaction_id: int
    response: str


class TerminateProcess(TypedDict):
    type: Literal["terminate_process"]
    id: str
    attempt_number: int
    slot_id: str


class SetTimer(TypedDict):
    type: Literal["set_timer"]
    id: str
    interaction_id: int
    at: int


class CancelTimer(TypedDict):
    type: Literal["cancel_timer"]
    id: str
    interaction_id: int


class Notify(TypedDict):
    type: Literal["notify"]
    id: str
    what: Literal["status_changed"]
    status: Status
    interaction_id: NotRequired[int]


Effect: TypeAlias = (
    AcquireSlot | ReleaseSlot | StartTurn | InjectReply | TerminateProcess | SetTimer | CancelTimer | Notify
)


class Resolved(TypedDict):
    resolution_mode: ResolutionMode
    resolved_at: int
    resolved_by: Literal["user", "auto_decision", "end_of_run", "deadline"]


class Receipt(TypedDict):
    """What became of a reply or a cancel. ``code`` and ``message`` say why, if it was refused."""

    kind: Literal[
        "accepted",
        "duplicate",
        "conflict",
        "stale",
        "not_waiting",
        "unknown",
        "not_interactive",
        "too_large",
        "canceled",
        "already_ended",
    ]
    code: NotRequired[str]
    message: NotRequired[str]
    interaction_id: NotRequired[int]
    pending_interaction_id: NotRequired[int]
    resolved: NotRequired[Resolved]
    status: Status
    revision: int


class Violation(TypedDict):
    instance_path: str
    schema_path: str
    message: str


class Evidence(TypedDict):
    marker: Literal["absent", "declined", "found"]
    output: Literal["missing", "unparsable", "invalid", "valid", "unchecked"]
    source: NotRequired[Literal["host", "whole_text", "json_fence", "fence", "prose"]]
    asks: bool
    violations: NotRequired[list[Violation]]


Reason: TypeAlias = Literal[
    "process_succeeded",
    "process_failed",
    "output_valid",
    "no_schema",
    "output_missing",
    "output_unparsable",
    "output_invalid",
    "output_not_object",
    "no_done_marker",
    "done_marker_declined",
    "done_with_valid_output",
    "done_without_schema",
    "done_without_valid_output",
    "soft_completion_off",
    "asks_user",
    "attempts_unlimited",
    "attempts_left",
    "last_attempt",
    "attempts_exhausted",
    "waits_for_user",
    "artifacts_present",
    "artifacts_missing",
    "interaction_limit_reached",
]


class Check(TypedDict):
    """What one gate answered. ``reason`` is a stable word, ``detail`` its sentence; the other members belong to some
    reasons: ``attempt`` and ``max_attempt`` to ``attempts_left``."""

    gate: str
    result: Literal["passed", "decided"]
    reason: Reason
    detail: str
    attempt: NotRequired[int]
    max_attempt: NotRequired[int]
    code: NotRequired[str]
    exit_code: NotRequired[int]
    paths: NotRequired[list[str]]
    interactions: NotRequired[int]


class Decision(TypedDict):
    outcome: Literal["succeeded", "failed", "waiting_user"]
    rule: str
    code: NotRequired[str]
    message: str
    evidence: Evidence
    warnings: list[Note]
    diagnostics: list[Note]
    checks: list[Check]


class Evaluation(TypedDict):
    """A decision and what the run continues with. ``question`` is as a snapshot holds it."""

    decision: Decision
    data_text: NotRequired[str]
    question: NotRequired[dict[str, Any]]


class RunError(TypedDict):
    code: str
    message: str


class StatusView(TypedDict):
    run_id: str
    status: Status
    execution_mode: ExecutionMode
    engine: str
    attempt_number: int
    max_attempt: NotRequired[int]
    pending_interaction_id: NotRequired[int]
    warnings: list[Note]
    error: NotRequired[RunError]
    diagnostics: list[Note]
    interaction_count: int
    auto_decision_count: int
    data: NotRequired[Any]
    data_text: NotRequired[str]
    created_at: int
    updated_at: int
    revision: int


class Option(TypedDict):
    label: str
    value: NotRequired[Any]


class Interaction(TypedDict):
    interaction_id: int
    kind: Kind
    prompt: str
    display_prompt: str
    options: list[Option]
    ui_hints: dict[str, Any]
    default_decision_policy: str
    required_fields: list[str]
    context: dict[str, Any]
    attempt_number: int
    asked_at: int
    deadline_at: NotRequired[int]


class PendingView(TypedDict):
    run_id: str
    status: Status
    pending: Interaction | None


class InteractionRecord(TypedDict):
    interaction_id: int
    attempt_number: int
    kind: Kind
    prompt: str
    response: NotRequired[str]
    resolution_mode: ResolutionMode
    asked_at: int
    resolved_at: int
    idempotency_key: NotRequired[str]
    revision: int


class Keep(TypedDict):
    slot_id: NotRequired[str]
    timer: NotRequired[int]
    process: NotRequired[str]


class Outstanding(TypedDict):
    """``effects`` begin no turn: only :meth:`turnlatch.Run.after_restart` returns the effect that does, whose id is
    ``turn_effect_id``."""

    effects: list[Effect]
    keep: Keep
    turn_effect_id: NotRequired[str]


class Due(TypedDict):
    """``later``: after one that failed and is tried again; ``once``: note durably that it was begun, then perform."""

    perform: Literal["now", "later", "never"]
    once: bool


class EffectKept(TypedDict):
    then: Literal["keep", "forget"]


class TurnGivenUp(TypedDict):
    """End what may have been started in this slot, then apply the event."""

    then: Literal["tell"]
    slot_id: str
    event: TurnFinished


GivenUp: TypeAlias = EffectKept | TurnGivenUp


class Attach(TypedDict):
    slot_id: str
    attempt_number: int


class Resumption(TypedDict):
    """Listen to the process again, perform the effects, apply the event."""

    attach: NotRequired[Attach]
    effects: list[Effect]
    event: NotRequired[ProcessLost]


class AllowedRequest(TypedDict):
    request: Literal["reply", "cancel"]
    allowed: bool
    code: NotRequired[str]
    arguments: NotRequired[dict[str, Any]]
    max_response_bytes: NotRequired[int]
    deadline_at: NotRequired[int]
    remaining_ms: NotRequired[int]


class Allowed(TypedDict):
    revision: int
    requests: list[AllowedRequest]


class Step(TypedDict):
    """One entry of a journal as a person reads it; ``decision`` is there for turns."""

    revision: int
    at: int
    event: Literal["created", "slot_granted", "turn_finished", "reply", "timer_fired", "process_lost", "cancel"]
    by: Literal["user", "agent", "timer", "host"]
    status: Status
    attempt_number: int
    reason: str
    code: NotRequired[str]
    slot_id: NotRequired[str]
    interaction_id: NotRequired[int]
    prompt: NotRequired[str]
    deadline_at: NotRequired[int]
    response: NotRequired[str]
    resolution_mode: NotRequired[ResolutionMode]
    decision: NotRequired[Decision]


class DecisionSummary(TypedDict):
    """A decision without what the turn showed."""

    outcome: Literal["succeeded", "failed", "waiting_user"]
    rule: str
    code: NotRequired[str]
    warnings: list[str]


class Observation(TypedDict):
    """What meters, traces and logs may know of a step, or of an event that was rejected: no word of a user or an agent
    (OBS-2). ``lasted_ms`` is how long the run was in the status that it ``left``."""

    run_id: str
    revision: int
    at: int
    event: Literal[
        "created", "slot_granted", "turn_finished", "reply", "timer_fired", "process_lost", "cancel", "unknown"
    ]
    by: NotRequired[Literal["user", "agent", "timer", "host"]]
    engine: str
    execution_mode: ExecutionMode
    attempt_number: int
    status: Status
    left: NotRequired[Status]
    lasted_ms: NotRequired[int]
    decision: NotRequired[DecisionSummary]
    resolution_mode: NotRequired[ResolutionMode]
    code: NotRequired[str]
    usage: NotRequired[Usage]
    rejected: NotRequired[str]


class Explanation(TypedDict):
    status: Status
    reason: str
    code: NotRequired[str]
    decision: NotRequired[Decision]


class WhyNot(TypedDict):
    target: Status
    reached: bool
    reasons: list[str]
    violations: NotRequired[list[Violation]]


class CodeInfo(TypedDict):
    code: str
    kind: Literal["refusal", "rejection", "failure", "warning", "diagnostic", "storage", "hosting", "service"]
    http: int
    meaning: str
    remedy: str


class Problem(TypedDict):
    code: str
    path: str
    message: str
    details: NotRequired[Any]


class SkillView(TypedDict):
    """What can be asked of a skill; with ``problems`` nothing can. Every run of it has its ``warnings``."""

    execution_modes: list[ExecutionMode]
    engines: list[str]
    max_attempt: NotRequired[int]
    problems: list[Problem]
    warnings: list[Note]

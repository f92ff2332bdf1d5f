"""The data that goes in and comes out, as it stands on the wire. Everything is a plain dict: ``match`` on ``type``.

Generated from the core's types by ``make types``; changes here are lost.
"""

# Annotations are evaluated, because `__required_keys__`, FastAPI and pydantic need them; so what is used stands first.

import sys
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias

# pydantic takes no other below 3.12.
if sys.version_info >= (3, 12):
    from typing import NotRequired, TypedDict
else:
    from typing_extensions import NotRequired, TypedDict

if TYPE_CHECKING:
    Absent: TypeAlias = NoReturn
else:
    Absent = None
"""The type of a member that only other forms of the same data have. Checkers know that there is nothing to read: before
the form is known, `view["error"]` is a `RunError` for them, and `view.get("error")` is one or `None`. pydantic takes no
`NoReturn`; for it the member is `None`.
"""

Json: TypeAlias = Any
"""JSON data. It is `Any`, because a union would have to be taken apart at every step into it."""

Code: TypeAlias = Literal[
    "REQUEST_MALFORMED",
    "RUN_ID_INVALID",
    "EXECUTION_MODE_INVALID",
    "SKILL_MANIFEST_INVALID",
    "SCHEMA_REF_FORBIDDEN",
    "SCHEMA_PATTERN_UNSUPPORTED",
    "SCHEMA_TOO_COMPLEX",
    "SCHEMA_TOO_LARGE",
    "MANIFEST_TOO_LARGE",
    "SKILL_EXECUTION_MODE_UNSUPPORTED",
    "SKILL_ENGINE_UNSUPPORTED",
    "OPTION_UNKNOWN",
    "OPTION_INVALID",
    "INPUT_INVALID",
    "EVENT_MALFORMED",
    "EVENT_UNKNOWN_ATTEMPT",
    "RUN_NOT_INTERACTIVE",
    "IDEMPOTENCY_CONFLICT",
    "REVISION_CONFLICT",
    "STALE_INTERACTION",
    "RUN_NOT_WAITING_USER",
    "UNKNOWN_INTERACTION",
    "REPLY_TOO_LARGE",
    "VALIDATOR_MISSING",
    "RUN_ALREADY_ENDED",
    "PROCESS_FAILED",
    "TIMEOUT",
    "AUTH_REQUIRED",
    "INTERRUPTED",
    "RATE_LIMITED",
    "MODEL_ERROR",
    "PERMISSION_DENIED",
    "HOST_FAILED",
    "OUTPUT_NOT_UTF8",
    "OUTPUT_MISSING",
    "OUTPUT_UNPARSABLE",
    "OUTPUT_SCHEMA_INVALID",
    "ARTIFACT_MISSING",
    "INTERACTIVE_MAX_ATTEMPT_EXCEEDED",
    "INTERACTION_LIMIT_EXCEEDED",
    "INTERACTION_WAIT_TIMEOUT",
    "INTERACTION_PROCESS_LOST",
    "ORCHESTRATOR_RESTART_INTERRUPTED",
    "CANCELED_BY_USER",
    "INTERACTIVE_COMPLETED_WITHOUT_DONE_MARKER",
    "OUTPUT_REPAIRED_GENERIC",
    "DEPRECATED_OPTION",
    "ENGINES_OVERLAP",
    "MANIFEST_MEMBER_UNKNOWN",
    "OUTPUT_SCHEMA_PERMISSIVE",
    "OUTPUT_SCHEMA_ACCEPTS_ASK_USER",
    "OUTPUT_SCHEMA_DECLARES_MARKER",
    "OUTPUT_SCHEMA_NOT_OBJECT",
    "OUTPUT_SCHEMA_MISSING",
    "DONE_MARKER_PROCESS_FAILURE_CONFLICT",
    "DONE_MARKER_MENTIONED",
    "MULTIPLE_DONE_MARKERS_IGNORED",
    "OUTPUT_TOO_LARGE",
    "OUTPUT_TOO_DEEP",
    "OUTPUT_DUPLICATE_KEY",
    "OUTPUT_NUMBER_OUT_OF_RANGE",
    "OUTPUT_LONE_SURROGATE",
    "VALIDATION_LIMIT_EXCEEDED",
    "ASK_USER_IGNORED",
    "PROMPT_TRUNCATED",
    "OPTIONS_TRUNCATED",
    "STREAM_ROW_UNKNOWN",
    "STREAM_ROW_TOO_LONG",
    "STREAM_ENDED_EARLY",
    "STREAM_MESSAGE_SUPERSEDED",
    "STREAM_FAILURE_GUESSED",
    "SESSION_HANDLE_IGNORED",
    "AGENT_SAID",
    "CLOCK_WENT_BACKWARDS",
    "TIME_IN_SECONDS",
    "SNAPSHOT_INVALID",
    "SNAPSHOT_VERSION_UNSUPPORTED",
    "JOURNAL_INVALID",
    "JOURNAL_VERSION_UNSUPPORTED",
    "RUN_UNKNOWN",
    "RUN_EXISTS",
    "STORE_CONFLICT",
    "DRIVER_CLOSED",
    "INSIDE_CALLBACK",
    "RUN_NOT_DONE",
    "OTHER_EVENT_LOOP",
    "DRIVER_EXISTS",
    "EXECUTOR_ID_IN_USE",
    "DATABASE_IN_USE",
    "CORE_PANICKED",
    "SKILL_UNKNOWN",
    "QUERY_INVALID",
    "UNAUTHORIZED",
    "ORIGIN_FORBIDDEN",
    "PATH_UNKNOWN",
    "METHOD_NOT_ALLOWED",
    "BODY_TOO_LARGE",
    "MEDIA_TYPE_UNSUPPORTED",
    "SERVICE_STOPPING",
    "SERVICE_FAILED",
]
"""A stable code. Once released, a code keeps its text and meaning."""

OpenCode: TypeAlias = Code | str
"""A code where an agent or a host may choose one that is not in the table."""

CodeKind: TypeAlias = Literal[
    "refusal",
    "rejection",
    "failure",
    "warning",
    "diagnostic",
    "storage",
    "hosting",
    "service",
]
"""Where a code can appear.

- `refusal`: Admission said no; there is no run.
- `rejection`: A request or event was not applied; the run is unchanged.
- `failure`: The run ended without success.
- `warning`: Something a person should look at; nothing was stopped.
- `diagnostic`: A detail that explains a decision.
- `storage`: A snapshot or journal was not loaded.
- `hosting`: The host's own code asked a driver for what it cannot do, or the core broke; every run is as it was.
- `service`: A job service did not take an HTTP request; no run has seen it.
"""


class CodeInfo(TypedDict):
    """One row of the code table."""

    code: Code
    """The stable text."""
    kind: CodeKind
    """Where it can appear."""
    http: int
    """The HTTP status of a response that carries it as its error; 200 where it is part of a good answer."""
    meaning: str
    """What it means, in one sentence."""
    remedy: str
    """What to do about it, in one sentence."""


class Note(TypedDict):
    """A code with a sentence about this one case: a warning or a diagnostic."""

    code: Code
    """What it is."""
    message: str
    """What was found here."""


Status: TypeAlias = Literal["queued", "running", "waiting_user", "succeeded", "failed", "canceled"]
"""The public status of a run.

- `queued`: Waits for a slot.
- `running`: A turn is under way.
- `waiting_user`: Waits for the user.
- `succeeded`: Ended well.
- `failed`: Ended badly.
- `canceled`: Ended by a cancel request.
"""

ExecutionMode: TypeAlias = Literal["auto", "interactive"]
"""Whether a run may ask.

- `auto`: The user is never asked.
- `interactive`: The run may wait for a person.
"""

Profile: TypeAlias = Literal["resumable", "sticky_process"]
"""What happens to the agent's process while a run waits.

- `resumable`: It ends; the next turn resumes the agent's session.
- `sticky_process`: It lives on, keeps its slot, and takes the reply.
"""

SoftCompletion: TypeAlias = Literal["unless_asking", "always", "never"]
"""When a valid output without a marker completes an interactive run (GATE-5).

- `unless_asking`: Unless the same turn asks something or says that it is not done.
- `always`: Always.
- `never`: Never.
"""

InterruptedTurn: TypeAlias = Literal["fail", "retry"]
"""What happens to a turn whose process was lost.

- `fail`: The run fails.
- `retry`: The turn is run again under the same number.
"""


class InteractiveProfile(TypedDict):
    """What happens to the agent's process while a run waits."""

    kind: NotRequired[Profile]
    """Whether it ends or stays alive. Default: `resumable`."""


class RunnerManifest(TypedDict):
    """A skill's `runner.json`: which runs it may have, and what the core has to know about its results.

    Other members are the skill's own business and are ignored.
    """

    execution_modes: NotRequired[list[ExecutionMode]]
    """The modes it may run in; `auto` alone if absent."""
    engines: NotRequired[list[str]]
    """The engines that may run it; all of the host's if absent."""
    unsupported_engines: NotRequired[list[str]]
    """The engines that must not run it."""
    max_attempt: NotRequired[int]
    """How many turns an interactive run may take; not limited if absent."""
    required_artifacts: NotRequired[list[str]]
    """Paths in the run's folder that must exist for the run to succeed."""
    assert_formats: NotRequired[bool]
    """Whether `format` in its schemas is asserted; true if absent. Default: `true`."""
    output_schema: NotRequired[dict[str, Json] | bool]
    """The JSON Schema of an output."""
    input_schema: NotRequired[dict[str, Json] | bool]
    """The JSON Schema of a request's `input`."""
    parameter_schema: NotRequired[dict[str, Json] | bool]
    """The JSON Schema of a request's `parameter`."""


class RuntimeOptions(TypedDict):
    """How a run behaves; everything has a default."""

    interactive_require_user_reply: NotRequired[bool]
    """Strict: only a reply of the user continues a waiting run. Otherwise the run decides for itself after
    `session_timeout_sec`. Default: `true`.
    """
    session_timeout_sec: NotRequired[int]
    """How many seconds a wait lasts where it has a deadline. Default: `1200`."""
    interactive_profile: NotRequired[InteractiveProfile]
    """What happens to the agent's process while the run waits; `resumable` if absent."""
    soft_completion: NotRequired[SoftCompletion]
    """When a valid output without a marker completes an interactive run. Default: `unless_asking`."""
    interrupted_turn: NotRequired[InterruptedTurn]
    """What happens to a turn whose process was lost. Default: `fail`."""


class RunRequest(TypedDict):
    """A request for a run of a skill."""

    run_id: str
    """The run's id: 1 to 128 of the characters `A-Z a-z 0-9 . _ : -`, the first a letter or digit."""
    engine: str
    """The engine that runs the turns, by the host's name of it."""
    execution_mode: NotRequired[ExecutionMode]
    """Whether the user may be asked. Default: `auto`."""
    input: NotRequired[Json]
    """What the skill works on; checked against its input schema."""
    parameter: NotRequired[Json]
    """How the skill works; checked against its parameter schema."""
    interactive_require_user_reply: NotRequired[bool]
    """Strict: only a reply of the user continues a waiting run. Otherwise the run decides for itself after
    `session_timeout_sec`. Default: `true`.
    """
    session_timeout_sec: NotRequired[int]
    """How many seconds a wait lasts where it has a deadline. Default: `1200`."""
    interactive_profile: NotRequired[InteractiveProfile]
    """What happens to the agent's process while the run waits; `resumable` if absent."""
    soft_completion: NotRequired[SoftCompletion]
    """When a valid output without a marker completes an interactive run. Default: `unless_asking`."""
    interrupted_turn: NotRequired[InterruptedTurn]
    """What happens to a turn whose process was lost. Default: `fail`."""


class Limits(TypedDict):
    """Sizes beyond which input is refused or cut; part of the plan, so that a replay decides with the same ones."""

    turn_text_bytes: NotRequired[int]
    """Bytes of the assistant's text of one turn; more counts as no output (`OUTPUT_TOO_LARGE`). Default: `16777216`."""
    json_depth: NotRequired[int]
    """Levels of nesting in an output; more is unparsable (`OUTPUT_TOO_DEEP`). At most `Limits.MAX_JSON_DEPTH`. Default:
    `128`.
    """
    schema_bytes: NotRequired[int]
    """Bytes of one schema's text. Default: `1048576`."""
    manifest_bytes: NotRequired[int]
    """Bytes of the manifest's text. Default: `262144`."""
    prompt_bytes: NotRequired[int]
    """Bytes of a question's prompt; a longer one is cut. Default: `16384`."""
    options: NotRequired[int]
    """Options of one question; further ones are dropped. Default: `64`."""
    reply_bytes: NotRequired[int]
    """Bytes of a reply; a larger one is refused and the question stays pending (`REPLY_TOO_LARGE`). Default: `1048576`.
    """
    interactions: NotRequired[int]
    """Questions in the life of one run; not limited if absent (GATE-11)."""


class Problem(TypedDict):
    """One reason why a run was not admitted."""

    code: Code
    """What it is."""
    path: str
    """Where: a JSON pointer behind `request`, `runner`, `output_schema`, `input_schema`, `parameter_schema` or
    `limits`.
    """
    message: str
    """What was found and what was expected."""
    details: NotRequired[Json]
    """The values it is about."""


class SkillView(TypedDict):
    """What can be asked of a skill, for somebody who wants to choose (ADM-13)."""

    execution_modes: list[ExecutionMode]
    """The modes it declares; empty if that could not be read."""
    engines: list[str]
    """The engines that may run it here; empty if that could not be read."""
    max_attempt: NotRequired[int]
    """How many turns it may take in interactive mode."""
    problems: list[Problem]
    """Why no request for it would be admitted."""
    warnings: list[Note]
    """What is odd about its manifest; every run of it has these warnings."""


class NewJob(TypedDict):
    """The body of a request for a new run, which a job service takes."""

    skill: str
    """The name of a skill that the service has."""
    engine: str
    """The engine that runs the turns."""
    execution_mode: NotRequired[ExecutionMode]
    """Whether the user may be asked. Default: `auto`."""
    input: NotRequired[Json]
    """What the skill works on; checked against its input schema."""
    parameter: NotRequired[Json]
    """How the skill works; checked against its parameter schema."""
    runtime_options: NotRequired[RuntimeOptions]
    """How the run behaves."""
    run_id: NotRequired[str]
    """The run's id, if the client chooses it."""


class ReplyBody(TypedDict):
    """The body of a reply, which a job service takes."""

    interaction_id: int
    """The question it answers."""
    response: Json
    """The answer: any text, also empty; any other JSON value is carried on as its JSON text."""
    idempotency_key: NotRequired[str]
    """Makes a repeated send harmless: the same key and reply are taken once."""
    expected_revision: NotRequired[int]
    """Take the reply only if the run is still at this revision."""


class CancelBody(TypedDict):
    """The body of a cancel, which a job service takes."""

    reason: NotRequired[str]
    """Why, in their words."""


class Job(TypedDict):
    """A client's request for a new run: the skill's name, the run's id, and the rest as text for `admit`."""

    skill: str
    """The skill's name, not looked up yet."""
    run_id: str
    """The run's id: the client's, or else the service's."""
    request: str
    """The JSON text of a `RunRequest`."""


Role: TypeAlias = Literal["assistant", "user", "system", "tool", "reasoning"]
"""Whose words these are. Only those of the assistant are read. An agent of the format `ndjson` may name further roles.
"""


class TurnMessage(TypedDict):
    """One message of a turn."""

    role: Role
    """Whose words these are: `assistant`, or any other role, which is never read."""
    text: str
    """The words."""


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
"""How an agent's command line writes its turn.

- `text`: Everything is the assistant's text.
- `ndjson`: JSON lines with `role` and `text` (or `content`); a line that is none of these is never the assistant's.
- `codex-jsonl`: `codex exec --json`.
- `claude-stream-json`: `claude --print --output-format stream-json --verbose`.
- `qwen-stream-json`: `qwen --output-format stream-json`: Claude's rows, but an error is reported in the assistant's
  text alone.
- `gemini-stream-json`: `gemini --output-format stream-json`.
- `gemini-json`: `gemini --output-format json`: one object, at the end; of a failed turn at the end of stderr.
- `opencode-json`: `opencode run --format json`.
- `pi-json`: `pi --print --mode json`.
- `acp`: What an agent of the Agent Client Protocol answers: one process for many turns.
"""


class TurnStream(TypedDict):
    """Everything that an agent's process printed in a turn."""

    format: StreamFormat
    """How it is written."""
    stdout: str
    """What it printed."""
    stderr: NotRequired[str]
    """What it complained of. Nothing is decided by it, but by `StreamFormat.GeminiJson`, which reports failures there.
    """
    exit_code: NotRequired[int]
    """How the process ended; absent while it stays alive."""


class Usage(TypedDict):
    """Tokens of a turn."""

    input_tokens: int
    """Read by the model."""
    output_tokens: int
    """Written by the model."""
    cached_input_tokens: NotRequired[int]
    """Of those read, the ones that came from a cache."""


class Decoded(TypedDict):
    """What a turn's stream says."""

    messages: list[TurnMessage]
    """The words of the assistant, and beginnings of what tools, users and thoughts said between them."""
    session_handle: NotRequired[str]
    """By which the agent's session can be resumed."""
    failure_reason: NotRequired[OpenCode]
    """Why the turn failed, as a code."""
    usage: NotRequired[Usage]
    """What the turn cost, as far as the agent reports it."""
    diagnostics: list[Note]
    """What was strange on the way."""


class Piece(TypedDict):
    """A piece of a message, as it came."""

    message: int
    """Which message of the turn it belongs to, counted from 0; pieces of one message are joined."""
    role: Role | str
    """Whose words these are."""
    text: str
    """The words."""


class Progress(TypedDict):
    """What came of some bytes."""

    pieces: list[Piece]
    """What was said, in order, for people who look on."""
    turn_over: bool
    """Whether the stream says that the turn is over; a process that stays alive does not say it by ending."""
    stop: bool
    """Nothing more is read, because there is too much of it or it is not UTF-8: the process can be ended."""
    write: list[str]
    """What the agent asks for on the way and is to be given, in order: texts for its stdin."""


class Said(TypedDict):
    """What an agent said just now, in a turn that is under way."""

    run_id: str
    """The run's id."""
    attempt_number: int
    """The turn that is under way."""
    pieces: list[Piece]
    """What was said, in order."""


class _TurnReportBase(TypedDict):
    """What every `TurnReport` has."""

    attempt_number: NotRequired[int]
    """The turn that finished."""
    slot_id: NotRequired[str]
    """The slot it ran in; distinguishes a retried turn from the one before it."""
    failure_reason: NotRequired[OpenCode]
    """Why the turn failed, as a code such as `TIMEOUT` or `AUTH_REQUIRED`, whatever the exit code was."""
    session_handle: NotRequired[str]
    """An opaque handle by which the host can resume the agent's session."""
    artifacts: NotRequired[list[str]]
    """The paths of the artifacts that exist, of those that the skill requires."""
    usage: NotRequired[Usage]
    """What the turn cost."""
    diagnostics: NotRequired[list[Note]]
    """What was strange about the agent's stream; the decision repeats it."""


class TextTurnReport(_TurnReportBase):
    """A turn that left the assistant's text."""

    exit_code: NotRequired[int]
    """The process's exit code; absent counts as 0 (a sticky process stays alive)."""
    output: NotRequired[Absent]
    messages: NotRequired[Absent]
    text: str
    """The assistant's text. Of one over the limit the last `prompt_bytes` bytes are enough, with `text_bytes`."""
    text_bytes: NotRequired[int]
    """The size of the whole text in bytes, where only its end stands in `text` (OUT-12)."""
    stream: NotRequired[Absent]


class MessagesTurnReport(_TurnReportBase):
    """A turn that left messages."""

    exit_code: NotRequired[int]
    """The process's exit code; absent counts as 0 (a sticky process stays alive)."""
    output: NotRequired[Absent]
    messages: list[TurnMessage]
    """The turn's messages in order. Only those of role `assistant` are read."""
    text: NotRequired[Absent]
    text_bytes: NotRequired[Absent]
    stream: NotRequired[Absent]


class OutputTurnReport(_TurnReportBase):
    """A turn whose output the host already has."""

    exit_code: NotRequired[int]
    """The process's exit code; absent counts as 0 (a sticky process stays alive)."""
    output: Json
    """The output as a JSON value the host already has. At most one of `output`, `messages` and `text`; null is none."""
    messages: NotRequired[Absent]
    text: NotRequired[Absent]
    text_bytes: NotRequired[Absent]
    stream: NotRequired[Absent]


class StreamTurnReport(_TurnReportBase):
    """A turn of which the core decodes what the process printed. The exit code is in the stream."""

    exit_code: NotRequired[Absent]
    output: NotRequired[Absent]
    messages: NotRequired[Absent]
    text: NotRequired[Absent]
    text_bytes: NotRequired[Absent]
    stream: TurnStream
    """What the agent's program printed, in place of `output`, `messages` and `text`; decoded when the event is applied.
    """


class EmptyTurnReport(_TurnReportBase):
    """A turn that left nothing."""

    exit_code: NotRequired[int]
    """The process's exit code; absent counts as 0 (a sticky process stays alive)."""
    output: NotRequired[Absent]
    messages: NotRequired[Absent]
    text: NotRequired[Absent]
    text_bytes: NotRequired[Absent]
    stream: NotRequired[Absent]


TurnReport: TypeAlias = TextTurnReport | MessagesTurnReport | OutputTurnReport | StreamTurnReport | EmptyTurnReport
"""What a finished turn left behind."""


class SlotGranted(TypedDict):
    """The host gave the slot that `acquire_slot` asked for."""

    type: Literal["slot_granted"]
    slot_id: str
    """The id of the request it answers."""


class _TurnFinishedBase(TypedDict):
    """What every `TurnFinished` has."""

    type: Literal["turn_finished"]
    attempt_number: int
    """The turn that finished."""
    slot_id: NotRequired[str]
    """The slot it ran in; distinguishes a retried turn from the one before it."""
    failure_reason: NotRequired[OpenCode]
    """Why the turn failed, as a code such as `TIMEOUT` or `AUTH_REQUIRED`, whatever the exit code was."""
    session_handle: NotRequired[str]
    """An opaque handle by which the host can resume the agent's session."""
    artifacts: NotRequired[list[str]]
    """The paths of the artifacts that exist, of those that the skill requires."""
    usage: NotRequired[Usage]
    """What the turn cost."""
    diagnostics: NotRequired[list[Note]]
    """What was strange about the agent's stream; the decision repeats it."""


class TextTurnFinished(_TurnFinishedBase):
    """A turn that left the assistant's text."""

    exit_code: NotRequired[int]
    """The process's exit code; absent counts as 0 (a sticky process stays alive)."""
    output: NotRequired[Absent]
    messages: NotRequired[Absent]
    text: str
    """The assistant's text. Of one over the limit the last `prompt_bytes` bytes are enough, with `text_bytes`."""
    text_bytes: NotRequired[int]
    """The size of the whole text in bytes, where only its end stands in `text` (OUT-12)."""
    stream: NotRequired[Absent]


class MessagesTurnFinished(_TurnFinishedBase):
    """A turn that left messages."""

    exit_code: NotRequired[int]
    """The process's exit code; absent counts as 0 (a sticky process stays alive)."""
    output: NotRequired[Absent]
    messages: list[TurnMessage]
    """The turn's messages in order. Only those of role `assistant` are read."""
    text: NotRequired[Absent]
    text_bytes: NotRequired[Absent]
    stream: NotRequired[Absent]


class OutputTurnFinished(_TurnFinishedBase):
    """A turn whose output the host already has."""

    exit_code: NotRequired[int]
    """The process's exit code; absent counts as 0 (a sticky process stays alive)."""
    output: Json
    """The output as a JSON value the host already has. At most one of `output`, `messages` and `text`; null is none."""
    messages: NotRequired[Absent]
    text: NotRequired[Absent]
    text_bytes: NotRequired[Absent]
    stream: NotRequired[Absent]


class StreamTurnFinished(_TurnFinishedBase):
    """A turn of which the core decodes what the process printed. The exit code is in the stream."""

    exit_code: NotRequired[Absent]
    output: NotRequired[Absent]
    messages: NotRequired[Absent]
    text: NotRequired[Absent]
    text_bytes: NotRequired[Absent]
    stream: TurnStream
    """What the agent's program printed, in place of `output`, `messages` and `text`; decoded when the event is applied.
    """


class EmptyTurnFinished(_TurnFinishedBase):
    """A turn that left nothing."""

    exit_code: NotRequired[int]
    """The process's exit code; absent counts as 0 (a sticky process stays alive)."""
    output: NotRequired[Absent]
    messages: NotRequired[Absent]
    text: NotRequired[Absent]
    text_bytes: NotRequired[Absent]
    stream: NotRequired[Absent]


TurnFinished: TypeAlias = (
    TextTurnFinished | MessagesTurnFinished | OutputTurnFinished | StreamTurnFinished | EmptyTurnFinished
)
"""The agent's turn is over, well or not."""


class Reply(TypedDict):
    """A person answers a question."""

    type: Literal["reply"]
    interaction_id: int
    """The question it answers."""
    response: Json
    """The answer: any text, also empty; any other JSON value is carried on as its JSON text."""
    idempotency_key: NotRequired[str]
    """Makes a repeated send harmless: the same key and reply are taken once."""
    expected_revision: NotRequired[int]
    """Take the reply only if the run is still at this revision."""


class TimerFired(TypedDict):
    """The timer set for a question went off."""

    type: Literal["timer_fired"]
    interaction_id: int
    """The question it was set for."""


class ProcessLost(TypedDict):
    """The agent's process is gone and its turn will never finish."""

    type: Literal["process_lost"]
    attempt_number: int
    """The turn it belonged to."""
    slot_id: NotRequired[str]
    """The slot it ran in; distinguishes a retried turn's process from the one before it."""


class Cancel(TypedDict):
    """A request to end the run."""

    type: Literal["cancel"]
    reason: NotRequired[str]
    """Why, in their words."""


RunEvent: TypeAlias = SlotGranted | TurnFinished | Reply | TimerFired | ProcessLost | Cancel
"""Something that happened. `reply` and `cancel` are requests and can be rejected; the others are facts."""

EventName: TypeAlias = Literal[
    "created",
    "slot_granted",
    "turn_finished",
    "reply",
    "timer_fired",
    "process_lost",
    "cancel",
]
"""What can happen to a run. A turn is `turn_finished`, also where only its decision was recorded."""

Origin: TypeAlias = Literal["user", "agent", "timer", "host"]
"""Who brings an event.

- `user`: The user, or a client on their behalf.
- `agent`: The agent.
- `timer`: The clock.
- `host`: The host: its slots and processes.
"""


class Resume(TypedDict):
    """What a turn continues from."""

    session_handle: NotRequired[str]
    """The last good handle of the agent's session, if it ever gave one."""
    interaction_id: int
    """The question that was answered."""
    response: str
    """The answer."""


class AcquireSlot(TypedDict):
    """Ask for a slot; answer with `slot_granted` when there is one."""

    type: Literal["acquire_slot"]
    id: str
    """The effect's own id."""
    slot_id: str
    """The request's id, and the slot's once it is granted."""


class ReleaseSlot(TypedDict):
    """Give the slot back; if it was asked for and not granted yet, withdraw the request."""

    type: Literal["release_slot"]
    id: str
    """The effect's own id."""
    slot_id: str
    """The slot to give back."""


class StartTurn(TypedDict):
    """Run the agent for one turn; answer with `turn_finished` or `process_lost`."""

    type: Literal["start_turn"]
    id: str
    """The effect's own id."""
    attempt_number: int
    """The turn's number."""
    slot_id: str
    """The slot it runs in."""
    resume: NotRequired[Resume]
    """What the turn continues from; absent in the first turn."""


class InjectReply(TypedDict):
    """Hand the reply to the process that waits for it; its next turn begins."""

    type: Literal["inject_reply"]
    id: str
    """The effect's own id."""
    attempt_number: int
    """The number of the turn that begins."""
    slot_id: str
    """The slot the process lives in."""
    interaction_id: int
    """The question that was answered."""
    response: str
    """The answer."""


class TerminateProcess(TypedDict):
    """End the agent's process and everything it started."""

    type: Literal["terminate_process"]
    id: str
    """The effect's own id."""
    attempt_number: int
    """The turn it is in."""
    slot_id: str
    """The slot it lives in: which distinguishes it from another process of the same turn."""


class SetTimer(TypedDict):
    """Answer with `timer_fired` at this time. A timer of the same question is replaced."""

    type: Literal["set_timer"]
    id: str
    """The effect's own id."""
    interaction_id: int
    """The question it is for."""
    at: int
    """When it goes off."""


class CancelTimer(TypedDict):
    """Forget the timer of this question, if there is one."""

    type: Literal["cancel_timer"]
    id: str
    """The effect's own id."""
    interaction_id: int
    """The question it was for."""


class Notify(TypedDict):
    """Notify observers; nothing depends on it."""

    type: Literal["notify"]
    id: str
    """The effect's own id."""
    what: Literal["status_changed"]
    """What happened."""
    status: Status
    """The run's status now."""
    interaction_id: NotRequired[int]
    """The question that is now pending."""


Effect: TypeAlias = (
    AcquireSlot | ReleaseSlot | StartTurn | InjectReply | TerminateProcess | SetTimer | CancelTimer | Notify
)
"""One thing to do, and its id `run_id/revision/n`: doing it twice under the same id equals doing it once."""

ResolutionMode: TypeAlias = Literal["user_reply", "auto_decide_timeout", "canceled", "expired"]
"""How a question came to its end.

- `user_reply`: A person answered.
- `auto_decide_timeout`: The user did not answer, and the core made the agent continue.
- `canceled`: The run ended before the user answered: a cancel, or the process that asked was lost.
- `expired`: The user did not answer in time, and that ended the run.
"""


class Resolved(TypedDict):
    """How, when and by whom a question was resolved."""

    resolution_mode: ResolutionMode
    """How."""
    resolved_at: int
    """When."""
    resolved_by: Literal["user", "auto_decision", "end_of_run", "deadline"]
    """By whom: `user`, `auto_decision`, `deadline` or `end_of_run`."""


class _ReceiptBase(TypedDict):
    """What every `Receipt` has."""

    status: Status
    """The run's status; after the step, if there was one."""
    revision: int
    """The run's revision; after the step, if there was one."""


class AcceptedReceipt(_ReceiptBase):
    """The reply was taken, now or before."""

    kind: Literal["accepted", "duplicate"]
    """What became of it, in a word."""
    code: NotRequired[Absent]
    message: NotRequired[Absent]
    interaction_id: int
    """The question the reply named."""
    pending_interaction_id: NotRequired[Absent]
    resolved: NotRequired[Absent]


class CanceledReceipt(_ReceiptBase):
    """The run was canceled."""

    kind: Literal["canceled"]
    """What became of it, in a word."""
    code: NotRequired[Absent]
    message: NotRequired[Absent]
    interaction_id: NotRequired[Absent]
    pending_interaction_id: NotRequired[Absent]
    resolved: NotRequired[Absent]


class RefusedReceipt(_ReceiptBase):
    """The reply was refused."""

    kind: Literal["conflict", "not_waiting", "unknown", "not_interactive", "too_large"]
    """What became of it, in a word."""
    code: Code
    """Why it was refused."""
    message: str
    """The same in a sentence."""
    interaction_id: int
    """The question the reply named."""
    pending_interaction_id: NotRequired[int]
    """The question that is pending instead."""
    resolved: NotRequired[Absent]


class StaleReceipt(_ReceiptBase):
    """The reply came too late: its question had been resolved before."""

    kind: Literal["stale"]
    """What became of it, in a word."""
    code: Code
    """Why it was refused."""
    message: str
    """The same in a sentence."""
    interaction_id: int
    """The question the reply named."""
    pending_interaction_id: NotRequired[int]
    """The question that is pending instead."""
    resolved: Resolved
    """How the question had been resolved before."""


class AlreadyEndedReceipt(_ReceiptBase):
    """There was nothing left to cancel."""

    kind: Literal["already_ended"]
    """What became of it, in a word."""
    code: Code
    """Why it was refused."""
    message: str
    """The same in a sentence."""
    interaction_id: NotRequired[Absent]
    pending_interaction_id: NotRequired[Absent]
    resolved: NotRequired[Absent]


Receipt: TypeAlias = AcceptedReceipt | CanceledReceipt | RefusedReceipt | StaleReceipt | AlreadyEndedReceipt
"""What became of a reply or a cancel."""


class Violation(TypedDict):
    """One way in which an instance does not fit its schema."""

    instance_path: str
    """Where in the instance, as a JSON pointer; empty for the whole."""
    schema_path: str
    """The keyword that was not met, as a JSON pointer into the schema."""
    message: str
    """What the schema asks for; values of the instance are not repeated."""


class Evidence(TypedDict):
    """What a turn shows."""

    marker: Literal["absent", "declined", "found"]
    """Whether the agent said that it is done."""
    output: Literal["missing", "unparsable", "invalid", "valid", "unchecked"]
    """What became of the output."""
    source: NotRequired[Literal["host", "whole_text", "json_fence", "fence", "prose"]]
    """Where the output was found."""
    asks: bool
    """Whether the turn carries a well-formed question."""
    violations: NotRequired[list[Violation]]
    """Where the output does not fit the schema; the first ones."""


Gate: TypeAlias = Literal["GATE-1", "GATE-2", "GATE-3", "GATE-4", "GATE-5", "GATE-6", "GATE-7", "GATE-8", "GATE-11"]
"""A completion gate, by the id of its rule.

- `GATE-1`: Did the agent's process end well?
- `GATE-2`: Mode `auto`: is there a valid output?
- `GATE-3`: Is there a done marker, and a valid output?
- `GATE-4`: Is there a done marker, and no valid output?
- `GATE-5`: Is there a valid output without a done marker?
- `GATE-6`: Is an attempt left?
- `GATE-7`: Nothing else decided: the run waits.
- `GATE-8`: Do the required artifacts exist?
- `GATE-11`: May the run ask another question?
"""


class _CheckBase(TypedDict):
    """What every `Check` has."""

    gate: Gate
    """The gate."""
    result: Literal["passed", "decided"]
    """Whether it decided."""
    detail: str
    """The reason in a sentence."""


class PlainCheck(_CheckBase):
    """A check whose reason has no parameters."""

    reason: Literal[
        "process_succeeded",
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
        "last_attempt",
        "waits_for_user",
        "artifacts_present",
    ]
    """Why, as a stable word."""
    code: NotRequired[Absent]
    exit_code: NotRequired[Absent]
    attempt: NotRequired[Absent]
    max_attempt: NotRequired[Absent]
    paths: NotRequired[Absent]
    interactions: NotRequired[Absent]


class ProcessFailedCheck(_CheckBase):
    """The agent's process, or its host, failed the turn."""

    reason: Literal["process_failed"]
    """Why, as a stable word."""
    code: OpenCode
    """The code: the host's `failure_reason`, or `PROCESS_FAILED`."""
    exit_code: NotRequired[int]
    """The exit code, if it was not 0."""
    attempt: NotRequired[Absent]
    max_attempt: NotRequired[Absent]
    paths: NotRequired[Absent]
    interactions: NotRequired[Absent]


class AttemptsCheck(_CheckBase):
    """A check of how many attempts are left."""

    reason: Literal["attempts_left", "attempts_exhausted"]
    """Why, as a stable word."""
    code: NotRequired[Absent]
    exit_code: NotRequired[Absent]
    attempt: int
    """The attempt that has ended."""
    max_attempt: int
    """How many attempts the run may take."""
    paths: NotRequired[Absent]
    interactions: NotRequired[Absent]


class ArtifactsMissingCheck(_CheckBase):
    """Files that the skill must produce are not there."""

    reason: Literal["artifacts_missing"]
    """Why, as a stable word."""
    code: NotRequired[Absent]
    exit_code: NotRequired[Absent]
    attempt: NotRequired[Absent]
    max_attempt: NotRequired[Absent]
    paths: list[str]
    """The paths that do not exist."""
    interactions: NotRequired[Absent]


class InteractionLimitCheck(_CheckBase):
    """The run has asked as many questions as it may."""

    reason: Literal["interaction_limit_reached"]
    """Why, as a stable word."""
    code: NotRequired[Absent]
    exit_code: NotRequired[Absent]
    attempt: NotRequired[Absent]
    max_attempt: NotRequired[Absent]
    paths: NotRequired[Absent]
    interactions: int
    """How many questions the run has asked."""


Check: TypeAlias = PlainCheck | ProcessFailedCheck | AttemptsCheck | ArtifactsMissingCheck | InteractionLimitCheck
"""One gate's answer: `reason` selects its parameters."""

Reason: TypeAlias = Literal[
    "process_succeeded",
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
    "last_attempt",
    "waits_for_user",
    "artifacts_present",
    "process_failed",
    "attempts_left",
    "attempts_exhausted",
    "artifacts_missing",
    "interaction_limit_reached",
]
"""Why a gate passed or decided."""


class Decision(TypedDict):
    """Why a turn ended as it did."""

    outcome: Literal["succeeded", "failed", "waiting_user"]
    """What the run becomes."""
    rule: Gate
    """The gate that decided."""
    code: NotRequired[OpenCode]
    """The failure's code."""
    message: str
    """The decision in a sentence."""
    evidence: Evidence
    """What the turn showed."""
    warnings: list[Note]
    """What the user should look at."""
    diagnostics: list[Note]
    """Details."""
    checks: list[Check]
    """Every gate that was asked, in order. The last one decided."""


InteractionKind: TypeAlias = Literal["choose_one", "confirm", "fill_fields", "open_text", "risk_ack"]
"""What a question looks like to a person. Display metadata: no decision depends on it (PEND-4).

- `choose_one`: One of several options.
- `confirm`: Yes or no.
- `fill_fields`: Several fields to fill in.
- `open_text`: Free text; also what every unknown kind becomes.
- `risk_ack`: A risk to be acknowledged.
"""


class QuestionOption(TypedDict):
    """A suggested answer as a client sees it."""

    label: str
    """What the user sees."""
    value: NotRequired[Json]
    """Value to send for this option, if the agent supplied one."""


class Question(TypedDict):
    """What is asked as a client sees it, pending or in an evaluated turn (VIEW-8)."""

    kind: InteractionKind
    """How to show it."""
    prompt: str
    """The question as the agent wrote it."""
    display_prompt: str
    """The question with control and bidi characters made visible, for logs and terminals (BAD-5)."""
    options: list[QuestionOption]
    """Answers the agent suggests."""
    ui_hints: dict[str, Json]
    """Hints of the agent for the user interface."""
    default_decision_policy: str
    """What an automatic decision goes by."""
    required_fields: list[str]
    """Names of fields the agent would like to have filled in."""
    context: dict[str, Json]
    """What the agent said around the question."""


class Evaluation(TypedDict):
    """A decision and what the run continues with."""

    decision: Decision
    """The decision."""
    data_text: NotRequired[str]
    """The result's JSON text, if the run succeeded with one."""
    question: NotRequired[Question]
    """What to ask, if the run waits."""


class RunError(TypedDict):
    """Why a run ended without success."""

    code: OpenCode
    """A stable code: one of `Code`, or the failure reason a host reported."""
    message: str
    """What happened, for people."""


class _StatusViewBase(TypedDict):
    """What every `StatusView` has."""

    run_id: str
    """The run's id."""
    execution_mode: ExecutionMode
    """Whether the user may be asked."""
    engine: str
    """What runs its turns."""
    attempt_number: int
    """The number of the last turn that started; 0 before the first."""
    max_attempt: NotRequired[int]
    """How many turns there may be; absent if they are not limited."""
    warnings: list[Note]
    """What a person should look at: from admission, and from the turn that brought the run where it is."""
    diagnostics: list[Note]
    """Details of the turn that brought the run where it is."""
    interaction_count: int
    """How many questions were asked."""
    auto_decision_count: int
    """How many of them the core answered."""
    created_at: int
    """When it was made."""
    updated_at: int
    """When it last changed."""
    revision: int
    """How many events have changed it."""


class ActiveStatusView(_StatusViewBase):
    """A run that is queued or running."""

    status: Literal["queued", "running"]
    """Where it is."""
    pending_interaction_id: NotRequired[Absent]
    error: NotRequired[Absent]
    data: NotRequired[Absent]
    data_text: NotRequired[Absent]


class WaitingStatusView(_StatusViewBase):
    """A run that waits for the user."""

    status: Literal["waiting_user"]
    """Where it is."""
    pending_interaction_id: int
    """The question it waits on."""
    error: NotRequired[Absent]
    data: NotRequired[Absent]
    data_text: NotRequired[Absent]


class SucceededStatusView(_StatusViewBase):
    """A run that ended well."""

    status: Literal["succeeded"]
    """Where it is."""
    pending_interaction_id: NotRequired[Absent]
    error: NotRequired[Absent]
    data: NotRequired[Json]
    """The result, if it succeeded with one."""
    data_text: NotRequired[str]
    """The result as JSON text: key order kept, integers exact."""


class FailedStatusView(_StatusViewBase):
    """A run that ended without success."""

    status: Literal["failed", "canceled"]
    """Where it is."""
    pending_interaction_id: NotRequired[Absent]
    error: RunError
    """Why it ended without success."""
    data: NotRequired[Absent]
    data_text: NotRequired[Absent]


StatusView: TypeAlias = ActiveStatusView | WaitingStatusView | SucceededStatusView | FailedStatusView
"""A run as a client sees it."""


class Interaction(TypedDict):
    """A pending question as a client sees it."""

    interaction_id: int
    """The id to reply to."""
    kind: InteractionKind
    """How to show it."""
    prompt: str
    """The question as the agent wrote it."""
    display_prompt: str
    """The question with control and bidi characters made visible, for logs and terminals (BAD-5)."""
    options: list[QuestionOption]
    """Answers the agent suggests."""
    ui_hints: dict[str, Json]
    """Hints of the agent for the user interface."""
    default_decision_policy: str
    """What an automatic decision goes by."""
    required_fields: list[str]
    """Names of fields the agent would like to have filled in."""
    context: dict[str, Json]
    """What the agent said around the question."""
    attempt_number: int
    """The turn that asked."""
    asked_at: int
    """When it was asked."""
    deadline_at: NotRequired[int]
    """When waiting ends by itself, if it does."""


class PendingView(TypedDict):
    """What a client needs to show the question."""

    run_id: str
    """The run's id."""
    status: Status
    """Where it is."""
    pending: Interaction | None
    """The question, or null."""


class InteractionRecord(TypedDict):
    """One question and its end, for ever (HIST-1). Made by the transition that ended it and by nothing else."""

    interaction_id: int
    """The question's id."""
    attempt_number: int
    """The turn that asked."""
    kind: InteractionKind
    """How it was shown."""
    prompt: str
    """What was asked."""
    response: NotRequired[str]
    """What was answered, by a person or by the core; absent if nothing was."""
    resolution_mode: ResolutionMode
    """How it ended."""
    asked_at: int
    """When it was asked."""
    resolved_at: int
    """When it ended."""
    idempotency_key: NotRequired[str]
    """The key the reply came with."""
    revision: int
    """The run's revision after this step: what the reply's receipt said."""


class OwnedResources(TypedDict):
    """What a run may still own."""

    slot_id: NotRequired[str]
    """The slot it has: held if `process` names it too, else only asked for."""
    timer: NotRequired[int]
    """The question whose timer may be set."""
    process: NotRequired[str]
    """The slot in which a process may be alive."""


class PendingEffects(TypedDict):
    """What the host still owes a run, and what the run may still own (HOST-2)."""

    effects: list[Effect]
    """Effects to perform, under their first ids. None of them begins a turn: only `Run.after_restart` returns those."""
    keep: OwnedResources
    """Everything else of this run that the host still has is to be given back or ended."""
    turn_effect_id: NotRequired[str]
    """The id of the effect that begins the turn under way: if the host has noted it as begun, `RecoveryFacts.begun` is
    true.
    """


class EffectStatus(TypedDict):
    """Whether an effect is to be performed, asked right before it would be."""

    perform: Literal["now", "later", "never"]
    """When."""
    once: bool
    """It must not happen twice: note durably that it was begun, then perform it."""


class EffectKept(TypedDict):
    """Keep the effect and try again later, or forget it, because nothing depends on it."""

    then: Literal["keep", "forget"]


class TurnGivenUp(TypedDict):
    """End whatever it may have started in this slot, then apply the event."""

    then: Literal["tell"]
    slot_id: str
    """The slot of the process to end."""
    event: TurnFinished
    """The event to apply."""


RetriesExhausted: TypeAlias = EffectKept | TurnGivenUp
"""What to do with an effect that has failed too often."""


class RecoveryFacts(TypedDict):
    """What a host finds of a run after a restart. `begun` has no default: guessing it would start a turn twice, or
    never.
    """

    begun: bool
    """The effect in `PendingEffects.turn_effect_id` was noted as begun before the restart."""
    process_alive: NotRequired[bool]
    """The process in `OwnedResources.process` is alive. Default: `false`."""
    slot_lost: NotRequired[bool]
    """The slot in `OwnedResources.slot_id` could not be held: another run may have it by now. Default: `false`."""


class Attach(TypedDict):
    """A process that has outlived its host."""

    slot_id: str
    """The slot it lives in."""
    attempt_number: int
    """The turn it is in."""


class RecoveryPlan(TypedDict):
    """How a host continues a run after a restart, in this order."""

    attach: NotRequired[Attach]
    """The living process whose end is to be reported again."""
    effects: list[Effect]
    """What to perform."""
    event: NotRequired[ProcessLost]
    """The event to apply."""


class AllowedReply(TypedDict):
    """A reply would be taken."""

    request: Literal["reply"]
    """The request: `reply` or `cancel`."""
    allowed: Literal[True]
    """Whether it would be taken."""
    code: NotRequired[Absent]
    arguments: dict[str, Json]
    """The JSON Schema of its arguments."""
    deadline_at: NotRequired[int]
    """Until when, if there is a deadline."""
    max_response_bytes: int
    """Bytes a response may have, as text or as JSON text."""
    remaining_ms: NotRequired[int]
    """Milliseconds left until then; 0 once the deadline of a resumable wait has passed and no automatic decision is
    made yet.
    """


class AllowedCancel(TypedDict):
    """A cancel would be taken."""

    request: Literal["cancel"]
    """The request: `reply` or `cancel`."""
    allowed: Literal[True]
    """Whether it would be taken."""
    code: NotRequired[Absent]
    arguments: dict[str, Json]
    """The JSON Schema of its arguments."""
    deadline_at: NotRequired[Absent]
    max_response_bytes: NotRequired[Absent]
    remaining_ms: NotRequired[Absent]


class RefusedRequest(TypedDict):
    """The request would be refused."""

    request: Literal["reply", "cancel"]
    """The request: `reply` or `cancel`."""
    allowed: Literal[False]
    """Whether it would be taken."""
    code: Code
    """Why not."""
    arguments: NotRequired[Absent]
    deadline_at: NotRequired[Absent]
    max_response_bytes: NotRequired[Absent]
    remaining_ms: NotRequired[Absent]


AllowedRequest: TypeAlias = AllowedReply | AllowedCancel | RefusedRequest
"""Whether one request would be taken."""


class Allowed(TypedDict):
    """Which requests would be taken now, so that a client can enable buttons and predict refusals offline."""

    revision: int
    """The run's revision this was said of."""
    requests: list[AllowedRequest]
    """Every request there is."""


class TimelineEntry(TypedDict):
    """One entry of a journal as a person reads it: what happened, by whom, and where the run stood after it."""

    revision: int
    """The run's revision after it."""
    at: int
    """The time the host gave."""
    event: EventName
    """The name of what happened. A turn is `turn_finished`, also where only its decision was recorded."""
    by: Origin
    """Who brought it."""
    status: Status
    """Where the run was after it."""
    attempt_number: int
    """The number of the last turn that had started."""
    reason: str
    """Why the run was there."""
    code: NotRequired[OpenCode]
    """The code, if the run had ended without success."""
    slot_id: NotRequired[str]
    """The slot that the run held."""
    interaction_id: NotRequired[int]
    """The question that was asked or came to its end."""
    display_prompt: NotRequired[str]
    """The question, if one was asked, with control and bidi characters made visible."""
    deadline_at: NotRequired[int]
    """When waiting ends by itself, if a question was asked and it does."""
    response: NotRequired[str]
    """The answer that the agent gets."""
    resolution_mode: NotRequired[ResolutionMode]
    """How the question came to its end."""
    decision: NotRequired[Decision]
    """What the gates decided about a turn."""


class DecisionSummary(TypedDict):
    """A decision without what the turn showed."""

    outcome: Literal["succeeded", "failed", "waiting_user"]
    """What the run becomes."""
    rule: Gate
    """The rule that decided."""
    code: NotRequired[Code | Literal["OTHER"]]
    """The failure's code."""
    warnings: list[Code]
    """The codes of its warnings."""


class Observation(TypedDict):
    """One step of a run, or one event that it rejected, as meters, traces and logs may know it."""

    run_id: str
    """The run's id."""
    revision: int
    """Its revision after the step; a rejected event changes none."""
    at: int
    """The time that the run counts: that of the host, but never behind the latest it has seen (LIFE-4)."""
    event: EventName | Literal["unknown"]
    """The name of what happened; `unknown` for a rejected event of another name."""
    by: NotRequired[Origin]
    """Who brought it; absent if that is not known."""
    engine: str
    """The agent CLI that the run is for."""
    execution_mode: ExecutionMode
    """Whether the run may wait for a person."""
    attempt_number: int
    """The number of the last turn that had started."""
    status: Status
    """Where the run was after it."""
    left: NotRequired[Status]
    """Where the run had been, if it is somewhere else now."""
    lasted_ms: NotRequired[int]
    """For how long it had been there, in milliseconds."""
    decision: NotRequired[DecisionSummary]
    """What the gates made of a turn."""
    resolution_mode: NotRequired[ResolutionMode]
    """How a question came to its end."""
    code: NotRequired[Code | Literal["OTHER"]]
    """Why the run ended, if it did now and without success."""
    usage: NotRequired[Usage]
    """The tokens of a turn, if its report has them."""
    rejected: NotRequired[Code | Literal["OTHER"]]
    """Why the event was rejected, or the request refused."""


class Explanation(TypedDict):
    """Why a run is where it is."""

    status: Status
    """Where it is."""
    reason: str
    """Why, in a sentence."""
    code: NotRequired[OpenCode]
    """The failure's code."""
    decision: NotRequired[Decision]
    """Why its last turn ended as it did."""


class WhyNot(TypedDict):
    """What keeps a run from a status."""

    target: Status
    """The status that was asked for."""
    reached: bool
    """Whether the run has it already."""
    reasons: list[str]
    """What is missing or in the way, one thing each."""
    violations: NotRequired[list[Violation]]
    """Where the output does not fit the schema."""

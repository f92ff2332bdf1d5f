/** The data that goes in and comes out, as it stands on the wire. Everything is a plain object: `switch` on `type`. */
// Generated from the core's types by `make types`; changes here are lost.

/** JSON data as `JSON.parse` returns it. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
/**
 * Data that is handed in: anything that `JSON.stringify` writes, and bigints. What is none is refused when it is handed in,
 * with its path, because TypeScript cannot tell an interface of data from a class.
 */
export type JsonInput = unknown;

/** Milliseconds since the Unix epoch, or a date. */
export type Time = number | bigint | Date;

/** A document: its text as it is, or data that stands for its JSON text. */
export type JsonDocument = string | object;
/** A JSON Schema; `true` and `false` are schemas too. */
export type Schema = JsonDocument | boolean;

/**
 * A schema of a library, such as zod 4.2 and later, that can give itself as a JSON Schema and check data
 * (Standard Schema and Standard JSON Schema).
 */
export interface StandardSchema<Data = unknown> {
	readonly '~standard': {
		readonly validate: (value: unknown) => StandardResult<Data> | Promise<StandardResult<Data>>;
		readonly jsonSchema: { readonly input: (options: { readonly target: 'draft-2020-12' }) => object };
	};
}
/** What such a schema makes of data. */
export type StandardResult<Data> =
	| { readonly value: Data; readonly issues?: undefined }
	| { readonly issues: readonly { readonly message: string }[] };

/** What a skill declares: its `runner.json` and its schemas. */
export interface Skill {
	readonly runner: string | RunnerManifest;
	readonly output_schema?: Schema | StandardSchema | undefined;
	readonly input_schema?: Schema | StandardSchema | undefined;
	readonly parameter_schema?: Schema | StandardSchema | undefined;
}

/** What the host can do. */
export interface HostSettings {
	/** The names of the engines it can run. */
	readonly engines: Iterable<string>;
	/** Sizes beyond which input is refused or cut. */
	readonly limits?: Limits | undefined;
}

/** What may be said beside a reply. */
export type ReplyOptions = Pick<Reply, 'idempotency_key' | 'expected_revision'>;

/** A stable code. Once released, a code keeps its text and meaning. */
export type Code =
	| 'REQUEST_MALFORMED'
	| 'RUN_ID_INVALID'
	| 'EXECUTION_MODE_INVALID'
	| 'SKILL_MANIFEST_INVALID'
	| 'SCHEMA_REF_FORBIDDEN'
	| 'SCHEMA_PATTERN_UNSUPPORTED'
	| 'SCHEMA_TOO_COMPLEX'
	| 'SCHEMA_TOO_LARGE'
	| 'MANIFEST_TOO_LARGE'
	| 'SKILL_EXECUTION_MODE_UNSUPPORTED'
	| 'SKILL_ENGINE_UNSUPPORTED'
	| 'OPTION_UNKNOWN'
	| 'OPTION_INVALID'
	| 'INPUT_INVALID'
	| 'EVENT_MALFORMED'
	| 'EVENT_UNKNOWN_ATTEMPT'
	| 'RUN_NOT_INTERACTIVE'
	| 'IDEMPOTENCY_CONFLICT'
	| 'REVISION_CONFLICT'
	| 'STALE_INTERACTION'
	| 'RUN_NOT_WAITING_USER'
	| 'UNKNOWN_INTERACTION'
	| 'REPLY_TOO_LARGE'
	| 'VALIDATOR_MISSING'
	| 'RUN_ALREADY_ENDED'
	| 'PROCESS_FAILED'
	| 'TIMEOUT'
	| 'AUTH_REQUIRED'
	| 'INTERRUPTED'
	| 'RATE_LIMITED'
	| 'MODEL_ERROR'
	| 'PERMISSION_DENIED'
	| 'HOST_FAILED'
	| 'OUTPUT_NOT_UTF8'
	| 'OUTPUT_MISSING'
	| 'OUTPUT_UNPARSABLE'
	| 'OUTPUT_SCHEMA_INVALID'
	| 'ARTIFACT_MISSING'
	| 'INTERACTIVE_MAX_ATTEMPT_EXCEEDED'
	| 'INTERACTION_LIMIT_EXCEEDED'
	| 'INTERACTION_WAIT_TIMEOUT'
	| 'INTERACTION_PROCESS_LOST'
	| 'ORCHESTRATOR_RESTART_INTERRUPTED'
	| 'CANCELED_BY_USER'
	| 'INTERACTIVE_COMPLETED_WITHOUT_DONE_MARKER'
	| 'OUTPUT_REPAIRED_GENERIC'
	| 'DEPRECATED_OPTION'
	| 'ENGINES_OVERLAP'
	| 'MANIFEST_MEMBER_UNKNOWN'
	| 'OUTPUT_SCHEMA_PERMISSIVE'
	| 'OUTPUT_SCHEMA_ACCEPTS_ASK_USER'
	| 'OUTPUT_SCHEMA_DECLARES_MARKER'
	| 'OUTPUT_SCHEMA_NOT_OBJECT'
	| 'OUTPUT_SCHEMA_MISSING'
	| 'DONE_MARKER_PROCESS_FAILURE_CONFLICT'
	| 'DONE_MARKER_MENTIONED'
	| 'MULTIPLE_DONE_MARKERS_IGNORED'
	| 'OUTPUT_TOO_LARGE'
	| 'OUTPUT_TOO_DEEP'
	| 'OUTPUT_DUPLICATE_KEY'
	| 'OUTPUT_NUMBER_OUT_OF_RANGE'
	| 'OUTPUT_LONE_SURROGATE'
	| 'VALIDATION_LIMIT_EXCEEDED'
	| 'ASK_USER_IGNORED'
	| 'PROMPT_TRUNCATED'
	| 'OPTIONS_TRUNCATED'
	| 'STREAM_ROW_UNKNOWN'
	| 'STREAM_ROW_TOO_LONG'
	| 'STREAM_ENDED_EARLY'
	| 'STREAM_MESSAGE_SUPERSEDED'
	| 'STREAM_FAILURE_GUESSED'
	| 'SESSION_HANDLE_IGNORED'
	| 'AGENT_SAID'
	| 'CLOCK_WENT_BACKWARDS'
	| 'TIME_IN_SECONDS'
	| 'SNAPSHOT_INVALID'
	| 'SNAPSHOT_VERSION_UNSUPPORTED'
	| 'JOURNAL_INVALID'
	| 'JOURNAL_VERSION_UNSUPPORTED'
	| 'RUN_UNKNOWN'
	| 'RUN_EXISTS'
	| 'STORE_CONFLICT'
	| 'DRIVER_CLOSED'
	| 'INSIDE_CALLBACK'
	| 'RUN_NOT_DONE'
	| 'OTHER_EVENT_LOOP'
	| 'DRIVER_EXISTS'
	| 'EXECUTOR_ID_IN_USE'
	| 'DATABASE_IN_USE'
	| 'CORE_PANICKED'
	| 'SKILL_UNKNOWN'
	| 'QUERY_INVALID'
	| 'UNAUTHORIZED'
	| 'ORIGIN_FORBIDDEN'
	| 'PATH_UNKNOWN'
	| 'METHOD_NOT_ALLOWED'
	| 'BODY_TOO_LARGE'
	| 'MEDIA_TYPE_UNSUPPORTED'
	| 'SERVICE_STOPPING'
	| 'SERVICE_FAILED';

/** A code where an agent or a host may choose one that is not in the table. */
export type OpenCode = Code | (string & {});

/**
 * Where a code can appear.
 *
 * - `refusal`: Admission said no; there is no run.
 * - `rejection`: A request or event was not applied; the run is unchanged.
 * - `failure`: The run ended without success.
 * - `warning`: Something a person should look at; nothing was stopped.
 * - `diagnostic`: A detail that explains a decision.
 * - `storage`: A snapshot or journal was not loaded.
 * - `hosting`: The host's own code asked a driver for what it cannot do, or the core broke; every run is as it was.
 * - `service`: A job service did not take an HTTP request; no run has seen it.
 */
export type CodeKind =
	| 'refusal'
	| 'rejection'
	| 'failure'
	| 'warning'
	| 'diagnostic'
	| 'storage'
	| 'hosting'
	| 'service';

/** One row of the code table. */
export interface CodeInfo {
	/** The stable text. */
	code: Code;
	/** Where it can appear. */
	kind: CodeKind;
	/** The HTTP status of a response that carries it as its error; 200 where it is part of a good answer. */
	http: number;
	/** What it means, in one sentence. */
	meaning: string;
	/** What to do about it, in one sentence. */
	remedy: string;
}

/** A code with a sentence about this one case: a warning or a diagnostic. */
export interface Note {
	/** What it is. */
	code: Code;
	/** What was found here. */
	message: string;
}

/**
 * The public status of a run.
 *
 * - `queued`: Waits for a slot.
 * - `running`: A turn is under way.
 * - `waiting_user`: Waits for the user.
 * - `succeeded`: Ended well.
 * - `failed`: Ended badly.
 * - `canceled`: Ended by a cancel request.
 */
export type Status = 'queued' | 'running' | 'waiting_user' | 'succeeded' | 'failed' | 'canceled';

/**
 * Whether a run may ask.
 *
 * - `auto`: The user is never asked.
 * - `interactive`: The run may wait for a person.
 */
export type ExecutionMode = 'auto' | 'interactive';

/**
 * What happens to the agent's process while a run waits.
 *
 * - `resumable`: It ends; the next turn resumes the agent's session.
 * - `sticky_process`: It lives on, keeps its slot, and takes the reply.
 */
export type Profile = 'resumable' | 'sticky_process';

/**
 * When a valid output without a marker completes an interactive run (GATE-5).
 *
 * - `unless_asking`: Unless the same turn asks something or says that it is not done.
 * - `always`: Always.
 * - `never`: Never.
 */
export type SoftCompletion = 'unless_asking' | 'always' | 'never';

/**
 * What happens to a turn whose process was lost.
 *
 * - `fail`: The run fails.
 * - `retry`: The turn is run again under the same number.
 */
export type InterruptedTurn = 'fail' | 'retry';

/** What happens to the agent's process while a run waits. */
export interface InteractiveProfile {
	/** Whether it ends or stays alive. Default: `resumable`. */
	kind?: Profile | undefined;
}

/**
 * A skill's `runner.json`: which runs it may have, and what the core has to know about its results.
 *
 * Other members are the skill's own business and are ignored.
 */
export interface RunnerManifest {
	/** The modes it may run in; `auto` alone if absent. */
	execution_modes?: readonly ExecutionMode[] | undefined;
	/** The engines that may run it; all of the host's if absent. */
	engines?: readonly string[] | undefined;
	/** The engines that must not run it. */
	unsupported_engines?: readonly string[] | undefined;
	/** How many turns an interactive run may take; not limited if absent. */
	max_attempt?: number | bigint | undefined;
	/** Paths in the run's folder that must exist for the run to succeed. */
	required_artifacts?: readonly string[] | undefined;
	/** Whether `format` in its schemas is asserted; true if absent. Default: `true`. */
	assert_formats?: boolean | undefined;
	/** The JSON Schema of an output. */
	output_schema?: boolean | object | undefined;
	/** The JSON Schema of a request's `input`. */
	input_schema?: boolean | object | undefined;
	/** The JSON Schema of a request's `parameter`. */
	parameter_schema?: boolean | object | undefined;
}

/** How a run behaves; everything has a default. */
export interface RuntimeOptions {
	/**
	 * Strict: only a reply of the user continues a waiting run. Otherwise the run decides for itself after
	 * `session_timeout_sec`. Default: `true`.
	 */
	interactive_require_user_reply?: boolean | undefined;
	/** How many seconds a wait lasts where it has a deadline. Default: `1200`. */
	session_timeout_sec?: number | bigint | undefined;
	/** What happens to the agent's process while the run waits; `resumable` if absent. */
	interactive_profile?: InteractiveProfile | undefined;
	/** When a valid output without a marker completes an interactive run. Default: `unless_asking`. */
	soft_completion?: SoftCompletion | undefined;
	/** What happens to a turn whose process was lost. Default: `fail`. */
	interrupted_turn?: InterruptedTurn | undefined;
}

/** A request for a run of a skill. */
export interface RunRequest {
	/** The run's id: 1 to 128 of the characters `A-Z a-z 0-9 . _ : -`, the first a letter or digit. */
	run_id: string;
	/** The engine that runs the turns, by the host's name of it. */
	engine: string;
	/** Whether the user may be asked. Default: `auto`. */
	execution_mode?: ExecutionMode | undefined;
	/** What the skill works on; checked against its input schema. */
	input?: JsonInput;
	/** How the skill works; checked against its parameter schema. */
	parameter?: JsonInput;
	/**
	 * Strict: only a reply of the user continues a waiting run. Otherwise the run decides for itself after
	 * `session_timeout_sec`. Default: `true`.
	 */
	interactive_require_user_reply?: boolean | undefined;
	/** How many seconds a wait lasts where it has a deadline. Default: `1200`. */
	session_timeout_sec?: number | bigint | undefined;
	/** What happens to the agent's process while the run waits; `resumable` if absent. */
	interactive_profile?: InteractiveProfile | undefined;
	/** When a valid output without a marker completes an interactive run. Default: `unless_asking`. */
	soft_completion?: SoftCompletion | undefined;
	/** What happens to a turn whose process was lost. Default: `fail`. */
	interrupted_turn?: InterruptedTurn | undefined;
}

/** Sizes beyond which input is refused or cut; part of the plan, so that a replay decides with the same ones. */
export interface Limits {
	/** Bytes of the assistant's text of one turn; more counts as no output (`OUTPUT_TOO_LARGE`). Default: `16777216`. */
	turn_text_bytes?: number | bigint | undefined;
	/**
	 * Levels of nesting in an output; more is unparsable (`OUTPUT_TOO_DEEP`). At most `Limits.MAX_JSON_DEPTH`. Default:
	 * `128`.
	 */
	json_depth?: number | bigint | undefined;
	/** Bytes of one schema's text. Default: `1048576`. */
	schema_bytes?: number | bigint | undefined;
	/** Bytes of the manifest's text. Default: `262144`. */
	manifest_bytes?: number | bigint | undefined;
	/** Bytes of a question's prompt; a longer one is cut. Default: `16384`. */
	prompt_bytes?: number | bigint | undefined;
	/** Options of one question; further ones are dropped. Default: `64`. */
	options?: number | bigint | undefined;
	/**
	 * Bytes of a reply; a larger one is refused and the question stays pending (`REPLY_TOO_LARGE`). Default: `1048576`.
	 */
	reply_bytes?: number | bigint | undefined;
	/** Questions in the life of one run; not limited if absent (GATE-11). */
	interactions?: number | bigint | undefined;
}

/** One reason why a run was not admitted. */
export interface Problem {
	/** What it is. */
	code: Code;
	/**
	 * Where: a JSON pointer behind `request`, `runner`, `output_schema`, `input_schema`, `parameter_schema` or `limits`.
	 */
	path: string;
	/** What was found and what was expected. */
	message: string;
	/** The values it is about. */
	details?: Json;
}

/** What can be asked of a skill, for somebody who wants to choose (ADM-13). */
export interface SkillView {
	/** The modes it declares; empty if that could not be read. */
	execution_modes: ExecutionMode[];
	/** The engines that may run it here; empty if that could not be read. */
	engines: string[];
	/** How many turns it may take in interactive mode. */
	max_attempt?: number;
	/** Why no request for it would be admitted. */
	problems: Problem[];
	/** What is odd about its manifest; every run of it has these warnings. */
	warnings: Note[];
}

/** The body of a request for a new run, which a job service takes. */
export interface NewJob {
	/** The name of a skill that the service has. */
	skill: string;
	/** The engine that runs the turns. */
	engine: string;
	/** Whether the user may be asked. Default: `auto`. */
	execution_mode?: ExecutionMode | undefined;
	/** What the skill works on; checked against its input schema. */
	input?: JsonInput;
	/** How the skill works; checked against its parameter schema. */
	parameter?: JsonInput;
	/** How the run behaves. */
	runtime_options?: RuntimeOptions | undefined;
	/** The run's id, if the client chooses it. */
	run_id?: string | undefined;
}

/** The body of a reply, which a job service takes. */
export interface ReplyBody {
	/** The question it answers. */
	interaction_id: number | bigint;
	/** The answer: any text, also empty; any other JSON value is carried on as its JSON text. */
	response: JsonInput;
	/** Makes a repeated send harmless: the same key and reply are taken once. */
	idempotency_key?: string | undefined;
	/** Take the reply only if the run is still at this revision. */
	expected_revision?: number | bigint | undefined;
}

/** The body of a cancel, which a job service takes. */
export interface CancelBody {
	/** Why, in their words. */
	reason?: string | undefined;
}

/** A client's request for a new run: the skill's name, the run's id, and the rest as text for `admit`. */
export interface Job {
	/** The skill's name, not looked up yet. */
	skill: string;
	/** The run's id: the client's, or else the service's. */
	run_id: string;
	/** The JSON text of a `RunRequest`. */
	request: string;
}

/**
 * Whose words these are. Only those of the assistant are read. An agent of the format `ndjson` may name further roles.
 */
export type Role = 'assistant' | 'user' | 'system' | 'tool' | 'reasoning';

/** One message of a turn. */
export interface TurnMessage {
	/** Whose words these are: `assistant`, or any other role, which is never read. */
	role: Role;
	/** The words. */
	text: string;
}

/**
 * How an agent's command line writes its turn.
 *
 * - `text`: Everything is the assistant's text.
 * - `ndjson`: JSON lines with `role` and `text` (or `content`); a line that is none of these is never the assistant's.
 * - `codex-jsonl`: `codex exec --json`.
 * - `claude-stream-json`: `claude --print --output-format stream-json --verbose`.
 * - `qwen-stream-json`: `qwen --output-format stream-json`: Claude's rows, but an error is reported in the assistant's
 *   text alone.
 * - `gemini-stream-json`: `gemini --output-format stream-json`.
 * - `gemini-json`: `gemini --output-format json`: one object, at the end; of a failed turn at the end of stderr.
 * - `opencode-json`: `opencode run --format json`.
 * - `pi-json`: `pi --print --mode json`.
 * - `acp`: What an agent of the Agent Client Protocol answers: one process for many turns.
 */
export type StreamFormat =
	| 'text'
	| 'ndjson'
	| 'codex-jsonl'
	| 'claude-stream-json'
	| 'qwen-stream-json'
	| 'gemini-stream-json'
	| 'gemini-json'
	| 'opencode-json'
	| 'pi-json'
	| 'acp';

/** Everything that an agent's process printed in a turn. */
export interface TurnStream {
	/** How it is written. */
	format: StreamFormat;
	/** What it printed. */
	stdout: string;
	/** What it complained of. Nothing is decided by it, but by `StreamFormat.GeminiJson`, which reports failures there. */
	stderr?: string | undefined;
	/** How the process ended; absent while it stays alive. */
	exit_code?: number | bigint | undefined;
}

/** Tokens of a turn. */
export interface Usage {
	/** Read by the model. */
	input_tokens: number | bigint;
	/** Written by the model. */
	output_tokens: number | bigint;
	/** Of those read, the ones that came from a cache. */
	cached_input_tokens?: number | bigint | undefined;
}

/** What a turn's stream says. */
export interface Decoded {
	/** The words of the assistant, and beginnings of what tools, users and thoughts said between them. */
	messages: TurnMessage[];
	/** By which the agent's session can be resumed. */
	session_handle?: string;
	/** Why the turn failed, as a code. */
	failure_reason?: OpenCode;
	/** What the turn cost, as far as the agent reports it. */
	usage?: Usage;
	/** What was strange on the way. */
	diagnostics: Note[];
}

/** A piece of a message, as it came. */
export interface Piece {
	/** Which message of the turn it belongs to, counted from 0; pieces of one message are joined. */
	message: number;
	/** Whose words these are. */
	role: Role | (string & {});
	/** The words. */
	text: string;
}

/** What came of some bytes. */
export interface Progress {
	/** What was said, in order, for people who look on. */
	pieces: Piece[];
	/** Whether the stream says that the turn is over; a process that stays alive does not say it by ending. */
	turn_over: boolean;
	/** Nothing more is read, because there is too much of it or it is not UTF-8: the process can be ended. */
	stop: boolean;
	/** What the agent asks for on the way and is to be given, in order: texts for its stdin. */
	write: string[];
}

/** What an agent said just now, in a turn that is under way. */
export interface Said {
	/** The run's id. */
	run_id: string;
	/** The turn that is under way. */
	attempt_number: number;
	/** What was said, in order. */
	pieces: Piece[];
}

/** What every `TurnReport` has. */
interface TurnReportBase {
	/** The turn that finished. */
	attempt_number?: number | bigint | undefined;
	/** The slot it ran in; distinguishes a retried turn from the one before it. */
	slot_id?: string | undefined;
	/** Why the turn failed, as a code such as `TIMEOUT` or `AUTH_REQUIRED`, whatever the exit code was. */
	failure_reason?: OpenCode | undefined;
	/** An opaque handle by which the host can resume the agent's session. */
	session_handle?: string | undefined;
	/** The paths of the artifacts that exist, of those that the skill requires. */
	artifacts?: readonly string[] | undefined;
	/** What the turn cost. */
	usage?: Usage | undefined;
	/** What was strange about the agent's stream; the decision repeats it. */
	diagnostics?: readonly Note[] | undefined;
}

/** A turn that left the assistant's text. */
export interface TextTurnReport extends TurnReportBase {
	/** The process's exit code; absent counts as 0 (a sticky process stays alive). */
	exit_code?: number | bigint | undefined;
	output?: undefined;
	messages?: undefined;
	/** The assistant's text. Of one over the limit the last `prompt_bytes` bytes are enough, with `text_bytes`. */
	text: string;
	/** The size of the whole text in bytes, where only its end stands in `text` (OUT-12). */
	text_bytes?: number | bigint | undefined;
	stream?: undefined;
}

/** A turn that left messages. */
export interface MessagesTurnReport extends TurnReportBase {
	/** The process's exit code; absent counts as 0 (a sticky process stays alive). */
	exit_code?: number | bigint | undefined;
	output?: undefined;
	/** The turn's messages in order. Only those of role `assistant` are read. */
	messages: readonly TurnMessage[];
	text?: undefined;
	text_bytes?: undefined;
	stream?: undefined;
}

/** A turn whose output the host already has. */
export interface OutputTurnReport extends TurnReportBase {
	/** The process's exit code; absent counts as 0 (a sticky process stays alive). */
	exit_code?: number | bigint | undefined;
	/** The output as a JSON value the host already has. At most one of `output`, `messages` and `text`; null is none. */
	output: JsonInput;
	messages?: undefined;
	text?: undefined;
	text_bytes?: undefined;
	stream?: undefined;
}

/** A turn of which the core decodes what the process printed. The exit code is in the stream. */
export interface StreamTurnReport extends TurnReportBase {
	exit_code?: undefined;
	output?: undefined;
	messages?: undefined;
	text?: undefined;
	text_bytes?: undefined;
	/**
	 * What the agent's program printed, in place of `output`, `messages` and `text`; decoded when the event is applied.
	 */
	stream: TurnStream;
}

/** A turn that left nothing. */
export interface EmptyTurnReport extends TurnReportBase {
	/** The process's exit code; absent counts as 0 (a sticky process stays alive). */
	exit_code?: number | bigint | undefined;
	output?: undefined;
	messages?: undefined;
	text?: undefined;
	text_bytes?: undefined;
	stream?: undefined;
}

/** What a finished turn left behind. */
export type TurnReport = TextTurnReport | MessagesTurnReport | OutputTurnReport | StreamTurnReport | EmptyTurnReport;

/** The host gave the slot that `acquire_slot` asked for. */
export interface SlotGranted {
	type: 'slot_granted';
	/** The id of the request it answers. */
	slot_id: string;
}

/** What every `TurnFinished` has. */
interface TurnFinishedBase {
	type: 'turn_finished';
	/** The turn that finished. */
	attempt_number: number | bigint;
	/** The slot it ran in; distinguishes a retried turn from the one before it. */
	slot_id?: string | undefined;
	/** Why the turn failed, as a code such as `TIMEOUT` or `AUTH_REQUIRED`, whatever the exit code was. */
	failure_reason?: OpenCode | undefined;
	/** An opaque handle by which the host can resume the agent's session. */
	session_handle?: string | undefined;
	/** The paths of the artifacts that exist, of those that the skill requires. */
	artifacts?: readonly string[] | undefined;
	/** What the turn cost. */
	usage?: Usage | undefined;
	/** What was strange about the agent's stream; the decision repeats it. */
	diagnostics?: readonly Note[] | undefined;
}

/** A turn that left the assistant's text. */
export interface TextTurnFinished extends TurnFinishedBase {
	/** The process's exit code; absent counts as 0 (a sticky process stays alive). */
	exit_code?: number | bigint | undefined;
	output?: undefined;
	messages?: undefined;
	/** The assistant's text. Of one over the limit the last `prompt_bytes` bytes are enough, with `text_bytes`. */
	text: string;
	/** The size of the whole text in bytes, where only its end stands in `text` (OUT-12). */
	text_bytes?: number | bigint | undefined;
	stream?: undefined;
}

/** A turn that left messages. */
export interface MessagesTurnFinished extends TurnFinishedBase {
	/** The process's exit code; absent counts as 0 (a sticky process stays alive). */
	exit_code?: number | bigint | undefined;
	output?: undefined;
	/** The turn's messages in order. Only those of role `assistant` are read. */
	messages: readonly TurnMessage[];
	text?: undefined;
	text_bytes?: undefined;
	stream?: undefined;
}

/** A turn whose output the host already has. */
export interface OutputTurnFinished extends TurnFinishedBase {
	/** The process's exit code; absent counts as 0 (a sticky process stays alive). */
	exit_code?: number | bigint | undefined;
	/** The output as a JSON value the host already has. At most one of `output`, `messages` and `text`; null is none. */
	output: JsonInput;
	messages?: undefined;
	text?: undefined;
	text_bytes?: undefined;
	stream?: undefined;
}

/** A turn of which the core decodes what the process printed. The exit code is in the stream. */
export interface StreamTurnFinished extends TurnFinishedBase {
	exit_code?: undefined;
	output?: undefined;
	messages?: undefined;
	text?: undefined;
	text_bytes?: undefined;
	/**
	 * What the agent's program printed, in place of `output`, `messages` and `text`; decoded when the event is applied.
	 */
	stream: TurnStream;
}

/** A turn that left nothing. */
export interface EmptyTurnFinished extends TurnFinishedBase {
	/** The process's exit code; absent counts as 0 (a sticky process stays alive). */
	exit_code?: number | bigint | undefined;
	output?: undefined;
	messages?: undefined;
	text?: undefined;
	text_bytes?: undefined;
	stream?: undefined;
}

/** The agent's turn is over, well or not. */
export type TurnFinished =
	| TextTurnFinished
	| MessagesTurnFinished
	| OutputTurnFinished
	| StreamTurnFinished
	| EmptyTurnFinished;

/** A person answers a question. */
export interface Reply {
	type: 'reply';
	/** The question it answers. */
	interaction_id: number | bigint;
	/** The answer: any text, also empty; any other JSON value is carried on as its JSON text. */
	response: JsonInput;
	/** Makes a repeated send harmless: the same key and reply are taken once. */
	idempotency_key?: string | undefined;
	/** Take the reply only if the run is still at this revision. */
	expected_revision?: number | bigint | undefined;
}

/** The timer set for a question went off. */
export interface TimerFired {
	type: 'timer_fired';
	/** The question it was set for. */
	interaction_id: number | bigint;
}

/** The agent's process is gone and its turn will never finish. */
export interface ProcessLost {
	type: 'process_lost';
	/** The turn it belonged to. */
	attempt_number: number | bigint;
	/** The slot it ran in; distinguishes a retried turn's process from the one before it. */
	slot_id?: string | undefined;
}

/** A request to end the run. */
export interface Cancel {
	type: 'cancel';
	/** Why, in their words. */
	reason?: string | undefined;
}

/** Something that happened. `reply` and `cancel` are requests and can be rejected; the others are facts. */
export type RunEvent = SlotGranted | TurnFinished | Reply | TimerFired | ProcessLost | Cancel;

/** What can happen to a run. A turn is `turn_finished`, also where only its decision was recorded. */
export type EventName =
	| 'created'
	| 'slot_granted'
	| 'turn_finished'
	| 'reply'
	| 'timer_fired'
	| 'process_lost'
	| 'cancel';

/**
 * Who brings an event.
 *
 * - `user`: The user, or a client on their behalf.
 * - `agent`: The agent.
 * - `timer`: The clock.
 * - `host`: The host: its slots and processes.
 */
export type Origin = 'user' | 'agent' | 'timer' | 'host';

/** What a turn continues from. */
export interface Resume {
	/** The last good handle of the agent's session, if it ever gave one. */
	session_handle?: string;
	/** The question that was answered. */
	interaction_id: number;
	/** The answer. */
	response: string;
}

/** Ask for a slot; answer with `slot_granted` when there is one. */
export interface AcquireSlot {
	type: 'acquire_slot';
	/** The effect's own id. */
	id: string;
	/** The request's id, and the slot's once it is granted. */
	slot_id: string;
}

/** Give the slot back; if it was asked for and not granted yet, withdraw the request. */
export interface ReleaseSlot {
	type: 'release_slot';
	/** The effect's own id. */
	id: string;
	/** The slot to give back. */
	slot_id: string;
}

/** Run the agent for one turn; answer with `turn_finished` or `process_lost`. */
export interface StartTurn {
	type: 'start_turn';
	/** The effect's own id. */
	id: string;
	/** The turn's number. */
	attempt_number: number;
	/** The slot it runs in. */
	slot_id: string;
	/** What the turn continues from; absent in the first turn. */
	resume?: Resume;
}

/** Hand the reply to the process that waits for it; its next turn begins. */
export interface InjectReply {
	type: 'inject_reply';
	/** The effect's own id. */
	id: string;
	/** The number of the turn that begins. */
	attempt_number: number;
	/** The slot the process lives in. */
	slot_id: string;
	/** The question that was answered. */
	interaction_id: number;
	/** The answer. */
	response: string;
}

/** End the agent's process and everything it started. */
export interface TerminateProcess {
	type: 'terminate_process';
	/** The effect's own id. */
	id: string;
	/** The turn it is in. */
	attempt_number: number;
	/** The slot it lives in: which distinguishes it from another process of the same turn. */
	slot_id: string;
}

/** Answer with `timer_fired` at this time. A timer of the same question is replaced. */
export interface SetTimer {
	type: 'set_timer';
	/** The effect's own id. */
	id: string;
	/** The question it is for. */
	interaction_id: number;
	/** When it goes off. */
	at: number;
}

/** Forget the timer of this question, if there is one. */
export interface CancelTimer {
	type: 'cancel_timer';
	/** The effect's own id. */
	id: string;
	/** The question it was for. */
	interaction_id: number;
}

/** Notify observers; nothing depends on it. */
export interface Notify {
	type: 'notify';
	/** The effect's own id. */
	id: string;
	/** What happened. */
	what: 'status_changed';
	/** The run's status now. */
	status: Status;
	/** The question that is now pending. */
	interaction_id?: number;
}

/** One thing to do, and its id `run_id/revision/n`: doing it twice under the same id equals doing it once. */
export type Effect =
	| AcquireSlot
	| ReleaseSlot
	| StartTurn
	| InjectReply
	| TerminateProcess
	| SetTimer
	| CancelTimer
	| Notify;

/**
 * How a question came to its end.
 *
 * - `user_reply`: A person answered.
 * - `auto_decide_timeout`: The user did not answer, and the core made the agent continue.
 * - `canceled`: The run ended before the user answered: a cancel, or the process that asked was lost.
 * - `expired`: The user did not answer in time, and that ended the run.
 */
export type ResolutionMode = 'user_reply' | 'auto_decide_timeout' | 'canceled' | 'expired';

/** How, when and by whom a question was resolved. */
export interface Resolved {
	/** How. */
	resolution_mode: ResolutionMode;
	/** When. */
	resolved_at: number;
	/** By whom: `user`, `auto_decision`, `deadline` or `end_of_run`. */
	resolved_by: 'user' | 'auto_decision' | 'end_of_run' | 'deadline';
}

/** What every `Receipt` has. */
interface ReceiptBase {
	/** The run's status; after the step, if there was one. */
	status: Status;
	/** The run's revision; after the step, if there was one. */
	revision: number;
}

/** The reply was taken, now or before. */
export interface AcceptedReceipt extends ReceiptBase {
	/** What became of it, in a word. */
	kind: 'accepted' | 'duplicate';
	code?: undefined;
	message?: undefined;
	/** The question the reply named. */
	interaction_id: number;
	pending_interaction_id?: undefined;
	resolved?: undefined;
}

/** The run was canceled. */
export interface CanceledReceipt extends ReceiptBase {
	/** What became of it, in a word. */
	kind: 'canceled';
	code?: undefined;
	message?: undefined;
	interaction_id?: undefined;
	pending_interaction_id?: undefined;
	resolved?: undefined;
}

/** The reply was refused. */
export interface RefusedReceipt extends ReceiptBase {
	/** What became of it, in a word. */
	kind: 'conflict' | 'not_waiting' | 'unknown' | 'not_interactive' | 'too_large';
	/** Why it was refused. */
	code: Code;
	/** The same in a sentence. */
	message: string;
	/** The question the reply named. */
	interaction_id: number;
	/** The question that is pending instead. */
	pending_interaction_id?: number;
	resolved?: undefined;
}

/** The reply came too late: its question had been resolved before. */
export interface StaleReceipt extends ReceiptBase {
	/** What became of it, in a word. */
	kind: 'stale';
	/** Why it was refused. */
	code: Code;
	/** The same in a sentence. */
	message: string;
	/** The question the reply named. */
	interaction_id: number;
	/** The question that is pending instead. */
	pending_interaction_id?: number;
	/** How the question had been resolved before. */
	resolved: Resolved;
}

/** There was nothing left to cancel. */
export interface AlreadyEndedReceipt extends ReceiptBase {
	/** What became of it, in a word. */
	kind: 'already_ended';
	/** Why it was refused. */
	code: Code;
	/** The same in a sentence. */
	message: string;
	interaction_id?: undefined;
	pending_interaction_id?: undefined;
	resolved?: undefined;
}

/** What became of a reply or a cancel. */
export type Receipt = AcceptedReceipt | CanceledReceipt | RefusedReceipt | StaleReceipt | AlreadyEndedReceipt;

/** One way in which an instance does not fit its schema. */
export interface Violation {
	/** Where in the instance, as a JSON pointer; empty for the whole. */
	instance_path: string;
	/** The keyword that was not met, as a JSON pointer into the schema. */
	schema_path: string;
	/** What the schema asks for; values of the instance are not repeated. */
	message: string;
}

/** What a turn shows. */
export interface Evidence {
	/** Whether the agent said that it is done. */
	marker: 'absent' | 'declined' | 'found';
	/** What became of the output. */
	output: 'missing' | 'unparsable' | 'invalid' | 'valid' | 'unchecked';
	/** Where the output was found. */
	source?: 'host' | 'whole_text' | 'json_fence' | 'fence' | 'prose';
	/** Whether the turn carries a well-formed question. */
	asks: boolean;
	/** Where the output does not fit the schema; the first ones. */
	violations?: Violation[];
}

/**
 * A completion gate, by the id of its rule.
 *
 * - `GATE-1`: Did the agent's process end well?
 * - `GATE-2`: Mode `auto`: is there a valid output?
 * - `GATE-3`: Is there a done marker, and a valid output?
 * - `GATE-4`: Is there a done marker, and no valid output?
 * - `GATE-5`: Is there a valid output without a done marker?
 * - `GATE-6`: Is an attempt left?
 * - `GATE-7`: Nothing else decided: the run waits.
 * - `GATE-8`: Do the required artifacts exist?
 * - `GATE-11`: May the run ask another question?
 */
export type Gate = 'GATE-1' | 'GATE-2' | 'GATE-3' | 'GATE-4' | 'GATE-5' | 'GATE-6' | 'GATE-7' | 'GATE-8' | 'GATE-11';

/** What every `Check` has. */
interface CheckBase {
	/** The gate. */
	gate: Gate;
	/** Whether it decided. */
	result: 'passed' | 'decided';
	/** The reason in a sentence. */
	detail: string;
}

/** A check whose reason has no parameters. */
export interface PlainCheck extends CheckBase {
	/** Why, as a stable word. */
	reason:
		| 'process_succeeded'
		| 'output_valid'
		| 'no_schema'
		| 'output_missing'
		| 'output_unparsable'
		| 'output_invalid'
		| 'output_not_object'
		| 'no_done_marker'
		| 'done_marker_declined'
		| 'done_with_valid_output'
		| 'done_without_schema'
		| 'done_without_valid_output'
		| 'soft_completion_off'
		| 'asks_user'
		| 'attempts_unlimited'
		| 'last_attempt'
		| 'waits_for_user'
		| 'artifacts_present';
	code?: undefined;
	exit_code?: undefined;
	attempt?: undefined;
	max_attempt?: undefined;
	paths?: undefined;
	interactions?: undefined;
}

/** The agent's process, or its host, failed the turn. */
export interface ProcessFailedCheck extends CheckBase {
	/** Why, as a stable word. */
	reason: 'process_failed';
	/** The code: the host's `failure_reason`, or `PROCESS_FAILED`. */
	code: OpenCode;
	/** The exit code, if it was not 0. */
	exit_code?: number;
	attempt?: undefined;
	max_attempt?: undefined;
	paths?: undefined;
	interactions?: undefined;
}

/** A check of how many attempts are left. */
export interface AttemptsCheck extends CheckBase {
	/** Why, as a stable word. */
	reason: 'attempts_left' | 'attempts_exhausted';
	code?: undefined;
	exit_code?: undefined;
	/** The attempt that has ended. */
	attempt: number;
	/** How many attempts the run may take. */
	max_attempt: number;
	paths?: undefined;
	interactions?: undefined;
}

/** Files that the skill must produce are not there. */
export interface ArtifactsMissingCheck extends CheckBase {
	/** Why, as a stable word. */
	reason: 'artifacts_missing';
	code?: undefined;
	exit_code?: undefined;
	attempt?: undefined;
	max_attempt?: undefined;
	/** The paths that do not exist. */
	paths: string[];
	interactions?: undefined;
}

/** The run has asked as many questions as it may. */
export interface InteractionLimitCheck extends CheckBase {
	/** Why, as a stable word. */
	reason: 'interaction_limit_reached';
	code?: undefined;
	exit_code?: undefined;
	attempt?: undefined;
	max_attempt?: undefined;
	paths?: undefined;
	/** How many questions the run has asked. */
	interactions: number;
}

/** One gate's answer: `reason` selects its parameters. */
export type Check = PlainCheck | ProcessFailedCheck | AttemptsCheck | ArtifactsMissingCheck | InteractionLimitCheck;

/** Why a gate passed or decided. */
export type Reason =
	| 'process_succeeded'
	| 'output_valid'
	| 'no_schema'
	| 'output_missing'
	| 'output_unparsable'
	| 'output_invalid'
	| 'output_not_object'
	| 'no_done_marker'
	| 'done_marker_declined'
	| 'done_with_valid_output'
	| 'done_without_schema'
	| 'done_without_valid_output'
	| 'soft_completion_off'
	| 'asks_user'
	| 'attempts_unlimited'
	| 'last_attempt'
	| 'waits_for_user'
	| 'artifacts_present'
	| 'process_failed'
	| 'attempts_left'
	| 'attempts_exhausted'
	| 'artifacts_missing'
	| 'interaction_limit_reached';

/** Why a turn ended as it did. */
export interface Decision {
	/** What the run becomes. */
	outcome: 'succeeded' | 'failed' | 'waiting_user';
	/** The gate that decided. */
	rule: Gate;
	/** The failure's code. */
	code?: OpenCode;
	/** The decision in a sentence. */
	message: string;
	/** What the turn showed. */
	evidence: Evidence;
	/** What the user should look at. */
	warnings: Note[];
	/** Details. */
	diagnostics: Note[];
	/** Every gate that was asked, in order. The last one decided. */
	checks: Check[];
}

/** A decision and what the run continues with. */
export interface Evaluation {
	/** The decision. */
	decision: Decision;
	/** The result's JSON text, if the run succeeded with one. */
	data_text?: string;
	/** What to ask, if the run waits. */
	question?: Question;
}

/** Why a run ended without success. */
export interface RunError {
	/** A stable code: one of `Code`, or the failure reason a host reported. */
	code: OpenCode;
	/** What happened, for people. */
	message: string;
}

/** What every `StatusView` has. */
interface StatusViewBase {
	/** The run's id. */
	run_id: string;
	/** Whether the user may be asked. */
	execution_mode: ExecutionMode;
	/** What runs its turns. */
	engine: string;
	/** The number of the last turn that started; 0 before the first. */
	attempt_number: number;
	/** How many turns there may be; absent if they are not limited. */
	max_attempt?: number;
	/** What a person should look at: from admission, and from the turn that brought the run where it is. */
	warnings: Note[];
	/** Details of the turn that brought the run where it is. */
	diagnostics: Note[];
	/** How many questions were asked. */
	interaction_count: number;
	/** How many of them the core answered. */
	auto_decision_count: number;
	/** When it was made. */
	created_at: number;
	/** When it last changed. */
	updated_at: number;
	/** How many events have changed it. */
	revision: number;
}

/** A run that is queued or running. */
export interface ActiveStatusView extends StatusViewBase {
	/** Where it is. */
	status: 'queued' | 'running';
	pending_interaction_id?: undefined;
	error?: undefined;
	data?: undefined;
	data_text?: undefined;
}

/** A run that waits for the user. */
export interface WaitingStatusView extends StatusViewBase {
	/** Where it is. */
	status: 'waiting_user';
	/** The question it waits on. */
	pending_interaction_id: number;
	error?: undefined;
	data?: undefined;
	data_text?: undefined;
}

/** A run that ended well. */
export interface SucceededStatusView<Data = Json> extends StatusViewBase {
	/** Where it is. */
	status: 'succeeded';
	pending_interaction_id?: undefined;
	error?: undefined;
	/** The result, if it succeeded with one. */
	data?: Data;
	/** The result as JSON text: key order kept, integers exact. */
	data_text?: string;
}

/** A run that ended without success. */
export interface FailedStatusView extends StatusViewBase {
	/** Where it is. */
	status: 'failed' | 'canceled';
	pending_interaction_id?: undefined;
	/** Why it ended without success. */
	error: RunError;
	data?: undefined;
	data_text?: undefined;
}

/** A run as a client sees it. */
export type StatusView<Data = Json> =
	| ActiveStatusView
	| WaitingStatusView
	| SucceededStatusView<Data>
	| FailedStatusView;

/**
 * What a question looks like to a person. Display metadata: no decision depends on it (PEND-4).
 *
 * - `choose_one`: One of several options.
 * - `confirm`: Yes or no.
 * - `fill_fields`: Several fields to fill in.
 * - `open_text`: Free text; also what every unknown kind becomes.
 * - `risk_ack`: A risk to be acknowledged.
 */
export type InteractionKind = 'choose_one' | 'confirm' | 'fill_fields' | 'open_text' | 'risk_ack';

/** A suggested answer as a client sees it. */
export interface QuestionOption {
	/** What the user sees. */
	label: string;
	/** Value to send for this option, if the agent supplied one. */
	value?: Json;
}

/** What is asked as a client sees it, pending or in an evaluated turn (VIEW-8). */
export interface Question {
	/** How to show it. */
	kind: InteractionKind;
	/** The question as the agent wrote it. */
	prompt: string;
	/** The question with control and bidi characters made visible, for logs and terminals (BAD-5). */
	display_prompt: string;
	/** Answers the agent suggests. */
	options: QuestionOption[];
	/** Hints of the agent for the user interface. */
	ui_hints: { [key: string]: Json };
	/** What an automatic decision goes by. */
	default_decision_policy: string;
	/** Names of fields the agent would like to have filled in. */
	required_fields: string[];
	/** What the agent said around the question. */
	context: { [key: string]: Json };
}

/** A pending question as a client sees it. */
export interface Interaction {
	/** The id to reply to. */
	interaction_id: number;
	/** How to show it. */
	kind: InteractionKind;
	/** The question as the agent wrote it. */
	prompt: string;
	/** The question with control and bidi characters made visible, for logs and terminals (BAD-5). */
	display_prompt: string;
	/** Answers the agent suggests. */
	options: QuestionOption[];
	/** Hints of the agent for the user interface. */
	ui_hints: { [key: string]: Json };
	/** What an automatic decision goes by. */
	default_decision_policy: string;
	/** Names of fields the agent would like to have filled in. */
	required_fields: string[];
	/** What the agent said around the question. */
	context: { [key: string]: Json };
	/** The turn that asked. */
	attempt_number: number;
	/** When it was asked. */
	asked_at: number;
	/** When waiting ends by itself, if it does. */
	deadline_at?: number;
}

/** What a client needs to show the question. */
export interface PendingView {
	/** The run's id. */
	run_id: string;
	/** Where it is. */
	status: Status;
	/** The question, or null. */
	pending: Interaction | null;
}

/** One question and its end, for ever (HIST-1). Made by the transition that ended it and by nothing else. */
export interface InteractionRecord {
	/** The question's id. */
	interaction_id: number;
	/** The turn that asked. */
	attempt_number: number;
	/** How it was shown. */
	kind: InteractionKind;
	/** What was asked. */
	prompt: string;
	/** What was answered, by a person or by the core; absent if nothing was. */
	response?: string;
	/** How it ended. */
	resolution_mode: ResolutionMode;
	/** When it was asked. */
	asked_at: number;
	/** When it ended. */
	resolved_at: number;
	/** The key the reply came with. */
	idempotency_key?: string;
	/** The run's revision after this step: what the reply's receipt said. */
	revision: number;
}

/** What a run may still own. */
export interface OwnedResources {
	/** The slot it has: held if `process` names it too, else only asked for. */
	slot_id?: string;
	/** The question whose timer may be set. */
	timer?: number;
	/** The slot in which a process may be alive. */
	process?: string;
}

/** What the host still owes a run, and what the run may still own (HOST-2). */
export interface PendingEffects {
	/** Effects to perform, under their first ids. None of them begins a turn: only `Run.after_restart` returns those. */
	effects: Effect[];
	/** Everything else of this run that the host still has is to be given back or ended. */
	keep: OwnedResources;
	/**
	 * The id of the effect that begins the turn under way: if the host has noted it as begun, `RecoveryFacts.begun` is
	 * true.
	 */
	turn_effect_id?: string;
}

/** Whether an effect is to be performed, asked right before it would be. */
export interface EffectStatus {
	/** When. */
	perform: 'now' | 'later' | 'never';
	/** It must not happen twice: note durably that it was begun, then perform it. */
	once: boolean;
}

/** Keep the effect and try again later, or forget it, because nothing depends on it. */
export interface EffectKept {
	then: 'keep' | 'forget';
}

/** End whatever it may have started in this slot, then apply the event. */
export interface TurnGivenUp {
	then: 'tell';
	/** The slot of the process to end. */
	slot_id: string;
	/** The event to apply. */
	event: TurnFinished;
}

/** What to do with an effect that has failed too often. */
export type RetriesExhausted = EffectKept | TurnGivenUp;

/**
 * What a host finds of a run after a restart. `begun` has no default: guessing it would start a turn twice, or never.
 */
export interface RecoveryFacts {
	/** The effect in `PendingEffects.turn_effect_id` was noted as begun before the restart. */
	begun: boolean;
	/** The process in `OwnedResources.process` is alive. Default: `false`. */
	process_alive?: boolean | undefined;
	/** The slot in `OwnedResources.slot_id` could not be held: another run may have it by now. Default: `false`. */
	slot_lost?: boolean | undefined;
}

/** A process that has outlived its host. */
export interface Attach {
	/** The slot it lives in. */
	slot_id: string;
	/** The turn it is in. */
	attempt_number: number;
}

/** How a host continues a run after a restart, in this order. */
export interface RecoveryPlan {
	/** The living process whose end is to be reported again. */
	attach?: Attach;
	/** What to perform. */
	effects: Effect[];
	/** The event to apply. */
	event?: ProcessLost;
}

/** A reply would be taken. */
export interface AllowedReply {
	/** The request: `reply` or `cancel`. */
	request: 'reply';
	/** Whether it would be taken. */
	allowed: true;
	code?: undefined;
	/** The JSON Schema of its arguments. */
	arguments: { [key: string]: Json };
	/** Until when, if there is a deadline. */
	deadline_at?: number;
	/** Bytes a response may have, as text or as JSON text. */
	max_response_bytes: number;
	/**
	 * Milliseconds left until then; 0 once the deadline of a resumable wait has passed and no automatic decision is made
	 * yet.
	 */
	remaining_ms?: number;
}

/** A cancel would be taken. */
export interface AllowedCancel {
	/** The request: `reply` or `cancel`. */
	request: 'cancel';
	/** Whether it would be taken. */
	allowed: true;
	code?: undefined;
	/** The JSON Schema of its arguments. */
	arguments: { [key: string]: Json };
	deadline_at?: undefined;
	max_response_bytes?: undefined;
	remaining_ms?: undefined;
}

/** The request would be refused. */
export interface RefusedRequest {
	/** The request: `reply` or `cancel`. */
	request: 'reply' | 'cancel';
	/** Whether it would be taken. */
	allowed: false;
	/** Why not. */
	code: Code;
	arguments?: undefined;
	deadline_at?: undefined;
	max_response_bytes?: undefined;
	remaining_ms?: undefined;
}

/** Whether one request would be taken. */
export type AllowedRequest = AllowedReply | AllowedCancel | RefusedRequest;

/** Which requests would be taken now, so that a client can enable buttons and predict refusals offline. */
export interface Allowed {
	/** The run's revision this was said of. */
	revision: number;
	/** Every request there is. */
	requests: AllowedRequest[];
}

/** One entry of a journal as a person reads it: what happened, by whom, and where the run stood after it. */
export interface TimelineEntry {
	/** The run's revision after it. */
	revision: number;
	/** The time the host gave. */
	at: number;
	/** The name of what happened. A turn is `turn_finished`, also where only its decision was recorded. */
	event: EventName;
	/** Who brought it. */
	by: Origin;
	/** Where the run was after it. */
	status: Status;
	/** The number of the last turn that had started. */
	attempt_number: number;
	/** Why the run was there. */
	reason: string;
	/** The code, if the run had ended without success. */
	code?: OpenCode;
	/** The slot that the run held. */
	slot_id?: string;
	/** The question that was asked or came to its end. */
	interaction_id?: number;
	/** The question, if one was asked, with control and bidi characters made visible. */
	display_prompt?: string;
	/** When waiting ends by itself, if a question was asked and it does. */
	deadline_at?: number;
	/** The answer that the agent gets. */
	response?: string;
	/** How the question came to its end. */
	resolution_mode?: ResolutionMode;
	/** What the gates decided about a turn. */
	decision?: Decision;
}

/** A decision without what the turn showed. */
export interface DecisionSummary {
	/** What the run becomes. */
	outcome: 'succeeded' | 'failed' | 'waiting_user';
	/** The rule that decided. */
	rule: Gate;
	/** The failure's code. */
	code?: Code | 'OTHER';
	/** The codes of its warnings. */
	warnings: Code[];
}

/** One step of a run, or one event that it rejected, as meters, traces and logs may know it. */
export interface Observation {
	/** The run's id. */
	run_id: string;
	/** Its revision after the step; a rejected event changes none. */
	revision: number;
	/** The time that the run counts: that of the host, but never behind the latest it has seen (LIFE-4). */
	at: number;
	/** The name of what happened; `unknown` for a rejected event of another name. */
	event: EventName | 'unknown';
	/** Who brought it; absent if that is not known. */
	by?: Origin;
	/** The agent CLI that the run is for. */
	engine: string;
	/** Whether the run may wait for a person. */
	execution_mode: ExecutionMode;
	/** The number of the last turn that had started. */
	attempt_number: number;
	/** Where the run was after it. */
	status: Status;
	/** Where the run had been, if it is somewhere else now. */
	left?: Status;
	/** For how long it had been there, in milliseconds. */
	lasted_ms?: number;
	/** What the gates made of a turn. */
	decision?: DecisionSummary;
	/** How a question came to its end. */
	resolution_mode?: ResolutionMode;
	/** Why the run ended, if it did now and without success. */
	code?: Code | 'OTHER';
	/** The tokens of a turn, if its report has them. */
	usage?: Usage;
	/** Why the event was rejected, or the request refused. */
	rejected?: Code | 'OTHER';
}

/** Why a run is where it is. */
export interface Explanation {
	/** Where it is. */
	status: Status;
	/** Why, in a sentence. */
	reason: string;
	/** The failure's code. */
	code?: OpenCode;
	/** Why its last turn ended as it did. */
	decision?: Decision;
}

/** What keeps a run from a status. */
export interface WhyNot {
	/** The status that was asked for. */
	target: Status;
	/** Whether the run has it already. */
	reached: boolean;
	/** What is missing or in the way, one thing each. */
	reasons: string[];
	/** Where the output does not fit the schema. */
	violations?: Violation[];
}

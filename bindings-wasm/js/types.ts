/** The data that goes in and comes out, as it stands on the wire. Everything is a plain object: `switch` on `type`. */

/** JSON data. Integers that a number cannot hold exactly are bigints. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };
/** Data that is handed in: anything that can be written as JSON. */
export type JsonInput =
	| null
	| boolean
	| number
	| bigint
	| string
	| readonly JsonInput[]
	| { readonly [key: string]: JsonInput };

/** Milliseconds since the Unix epoch, or a date. */
export type Time = number | bigint | Date;

export type Status = 'queued' | 'running' | 'waiting_user' | 'succeeded' | 'failed' | 'canceled';
export type ExecutionMode = 'auto' | 'interactive';
export type Kind = 'choose_one' | 'confirm' | 'fill_fields' | 'open_text' | 'risk_ack';
export type ResolutionMode = 'user_reply' | 'auto_decide_timeout' | 'canceled' | 'expired';

/** A document: its text as it is, or data that stands for its JSON text. */
export type Document = string | { readonly [key: string]: JsonInput };
/** A JSON Schema; `true` and `false` are schemas too. */
export type Schema = Document | boolean;

/** What a skill declares: its `runner.json` and its schemas. */
export interface Skill {
	readonly runner: Document;
	readonly output_schema?: Schema;
	readonly input_schema?: Schema;
	readonly parameter_schema?: Schema;
}

/** How much of anything the core takes in before it says no. */
export interface Limits {
	turn_text_bytes: number;
	json_depth: number;
	schema_bytes: number;
	manifest_bytes: number;
	prompt_bytes: number;
	options: number;
	reply_bytes: number;
	/** Questions of one run; not limited if absent. */
	interactions?: number;
}

/** What the host can do. */
export interface HostSettings {
	readonly engines: Iterable<string>;
	readonly limits?: Readonly<Partial<Limits>>;
}

export interface Message {
	role: string;
	text: string;
}

/** How an agent's command line writes its turn; `docs/streams.md` has the programs and options that do so. */
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

/** Everything that an agent's process printed in a turn; without `exit_code` the process lives on. */
export interface Stream {
	format: StreamFormat;
	stdout: string;
	stderr?: string;
	exit_code?: number | bigint;
}

/** Tokens of a turn, as the agent tells them: a number that it made up may be too large for a JavaScript number. */
export interface Usage {
	input_tokens: number | bigint;
	output_tokens: number | bigint;
	/** Of those read, the ones that came from a cache. */
	cached_input_tokens?: number | bigint;
}

/** What a turn's stream says. */
export interface Decoded {
	messages: Message[];
	session_handle?: string;
	failure_reason?: string;
	usage?: Usage;
	diagnostics: Note[];
}

/** A piece of a message, as it came; pieces of one message are joined. */
export interface Piece {
	/** Which message of the turn it belongs to, counted from 0. */
	message: number;
	role: string;
	text: string;
}

/** What came of some bytes of a stream. */
export interface Progress {
	/** What was said, in order, for people who look on. */
	pieces: Piece[];
	/** Whether the stream says that the turn is over; a process that stays alive does not say it by ending. */
	turn_over: boolean;
	/** Nothing more is read, because there is too much of it or it is not UTF-8: the process can be ended. */
	stop: boolean;
	/** What the agent asks for on the way and is to be given: texts for its stdin, in order. */
	write: string[];
}

export interface SlotGranted {
	type: 'slot_granted';
	slot_id: string;
}

/** What a finished turn left behind; at most one of `output`, `messages`, `text` and `stream`. */
export interface TurnReport {
	attempt_number?: number | bigint;
	slot_id?: string;
	exit_code?: number | bigint;
	failure_reason?: string;
	output?: JsonInput;
	messages?: readonly Message[];
	text?: string;
	/** What the process printed, for the core to decode; it has the exit code too. */
	stream?: Stream;
	session_handle?: string;
	artifacts?: readonly string[];
	usage?: Usage;
	/** What was strange about the stream; the decision goes on telling it. */
	diagnostics?: readonly Note[];
}

export interface TurnFinished extends TurnReport {
	type: 'turn_finished';
	attempt_number: number | bigint;
}

export interface ReplyOptions {
	/** Makes a repeated send harmless: the same key and reply are taken once. */
	idempotency_key?: string;
	/** Take the reply only if the run is still at this revision. */
	expected_revision?: number | bigint;
}

export interface Reply extends ReplyOptions {
	type: 'reply';
	interaction_id: number | bigint;
	response: JsonInput;
}

export interface TimerFired {
	type: 'timer_fired';
	interaction_id: number | bigint;
}

export interface ProcessLost {
	type: 'process_lost';
	attempt_number: number | bigint;
	slot_id?: string;
}

export interface Cancel {
	type: 'cancel';
	reason?: string;
}

/** What happened, told to the core. */
export type Event = SlotGranted | TurnFinished | Reply | TimerFired | ProcessLost | Cancel;

export interface AcquireSlot {
	type: 'acquire_slot';
	id: string;
	slot_id: string;
}

export interface ReleaseSlot {
	type: 'release_slot';
	id: string;
	slot_id: string;
}

export interface Resume {
	session_handle?: string;
	interaction_id: number;
	response: string;
}

export interface StartTurn {
	type: 'start_turn';
	id: string;
	attempt_number: number;
	slot_id: string;
	resume?: Resume;
}

export interface InjectReply {
	type: 'inject_reply';
	id: string;
	attempt_number: number;
	slot_id: string;
	interaction_id: number;
	response: string;
}

export interface TerminateProcess {
	type: 'terminate_process';
	id: string;
	attempt_number: number;
	slot_id: string;
}

export interface SetTimer {
	type: 'set_timer';
	id: string;
	interaction_id: number;
	at: number;
}

export interface CancelTimer {
	type: 'cancel_timer';
	id: string;
	interaction_id: number;
}

export interface Notify {
	type: 'notify';
	id: string;
	what: 'status_changed';
	status: Status;
	interaction_id?: number;
}

/** What the host must do, told by the core. */
export type Effect =
	| AcquireSlot
	| ReleaseSlot
	| StartTurn
	| InjectReply
	| TerminateProcess
	| SetTimer
	| CancelTimer
	| Notify;

export interface Resolved {
	resolution_mode: ResolutionMode;
	resolved_at: number;
	resolved_by: 'user' | 'auto_decision' | 'end_of_run' | 'deadline';
}

/** What became of a request. One that was refused has a `code` and a `message`. */
export interface Receipt {
	kind:
		| 'accepted'
		| 'duplicate'
		| 'conflict'
		| 'stale'
		| 'not_waiting'
		| 'unknown'
		| 'not_interactive'
		| 'too_large'
		| 'canceled'
		| 'already_ended';
	code?: string;
	message?: string;
	interaction_id?: number;
	pending_interaction_id?: number;
	resolved?: Resolved;
	status: Status;
	revision: number;
}

export interface Note {
	code: string;
	message: string;
}

export interface Violation {
	instance_path: string;
	schema_path: string;
	message: string;
}

export interface Evidence {
	marker: 'absent' | 'declined' | 'found';
	output: 'missing' | 'unparsable' | 'invalid' | 'valid' | 'unchecked';
	source?: 'host' | 'whole_text' | 'json_fence' | 'fence' | 'prose';
	asks: boolean;
	violations?: Violation[];
}

/** A completion gate, by the id of its rule. */
export type Gate = 'GATE-1' | 'GATE-2' | 'GATE-3' | 'GATE-4' | 'GATE-5' | 'GATE-6' | 'GATE-7' | 'GATE-8' | 'GATE-11';

/** Why a gate passed or decided. */
export type Reason =
	| 'process_succeeded'
	| 'process_failed'
	| 'output_valid'
	| 'no_schema'
	| 'output_missing'
	| 'output_unparsable'
	| 'output_invalid'
	| 'output_not_object'
	| 'no_done_marker'
	| 'done_marker_declined'
	| 'done_without_valid_output'
	| 'soft_completion_off'
	| 'asks_user'
	| 'attempts_unlimited'
	| 'attempts_left'
	| 'last_attempt'
	| 'attempts_exhausted'
	| 'waits_for_user'
	| 'artifacts_present'
	| 'artifacts_missing'
	| 'interaction_limit_reached';

/** One gate's answer: a stable word with its parameters, and the sentence that they make. */
export interface Check {
	gate: Gate;
	/** `passed`: it did not decide, and the next gate was asked. */
	result: 'passed' | 'decided';
	reason: Reason;
	/** The reason in a sentence. */
	detail: string;
	/** Of `process_failed`: the host's `failure_reason`, or `PROCESS_FAILED`. */
	code?: string;
	/** Of `process_failed`, if it was not 0. */
	exit_code?: number | bigint;
	/** Of `attempts_left` and `attempts_exhausted`. */
	attempt?: number;
	/** Of `attempts_left` and `attempts_exhausted`. */
	max_attempt?: number;
	/** Of `artifacts_missing`. */
	paths?: string[];
	/** Of `interaction_limit_reached`: how many questions the run has asked. */
	interactions?: number;
}

/** Why a turn ended as it did. */
export interface Decision {
	/** What the run becomes. */
	outcome: 'succeeded' | 'failed' | 'waiting_user';
	/** The gate that decided. */
	rule: Gate;
	/** The failure's code. */
	code?: string;
	/** The decision in a sentence. */
	message: string;
	/** What the turn showed. */
	evidence: Evidence;
	warnings: Note[];
	diagnostics: Note[];
	/** Every gate that was asked, in order. The last one decided. */
	checks: Check[];
}

/** A decision and what the run continues with: the result's JSON text, or the question as a snapshot holds it. */
export interface Evaluation {
	decision: Decision;
	data_text?: string;
	question?: { [key: string]: Json };
}

export interface RunError {
	code: string;
	message: string;
}

export interface StatusView {
	run_id: string;
	status: Status;
	execution_mode: ExecutionMode;
	engine: string;
	attempt_number: number;
	max_attempt?: number;
	pending_interaction_id?: number;
	warnings: Note[];
	error?: RunError;
	diagnostics: Note[];
	interaction_count: number;
	auto_decision_count: number;
	/** The result as data; `data_text` is the same to the letter. */
	data?: Json;
	data_text?: string;
	created_at: number;
	updated_at: number;
	revision: number;
}

export interface Option {
	label: string;
	value?: Json;
}

export interface Interaction {
	interaction_id: number;
	kind: Kind;
	prompt: string;
	display_prompt: string;
	options: Option[];
	ui_hints: { [key: string]: Json };
	default_decision_policy: string;
	required_fields: string[];
	context: { [key: string]: Json };
	attempt_number: number;
	asked_at: number;
	deadline_at?: number;
}

export interface PendingView {
	run_id: string;
	status: Status;
	pending: Interaction | null;
}

export interface InteractionRecord {
	interaction_id: number;
	attempt_number: number;
	kind: Kind;
	prompt: string;
	response?: string;
	resolution_mode: ResolutionMode;
	asked_at: number;
	resolved_at: number;
	idempotency_key?: string;
	revision: number;
}

export interface Keep {
	slot_id?: string;
	timer?: number;
	process?: string;
}

/** `effects` begin no turn: only `Run.afterRestart` returns the effect that does, whose id is `turn_effect_id`. */
export interface Outstanding {
	effects: Effect[];
	keep: Keep;
	turn_effect_id?: string;
}

/** `later`: after one that failed and is tried again; `once`: note durably that it was begun, then perform it. */
export interface Due {
	perform: 'now' | 'later' | 'never';
	once: boolean;
}

/** `tell`: end what may have been started in this slot, then apply the event. */
export type GivenUp = { then: 'keep' } | { then: 'forget' } | { then: 'tell'; slot_id: string; event: TurnFinished };

/** What a host finds of a run after a restart. */
export interface Found {
	process_alive?: boolean;
	/** The effect `turn_effect_id` of `Run.outstanding` was noted as begun before the restart. */
	begun: boolean;
	slot_lost?: boolean;
}

/** Listen to the process again, perform the effects, apply the event. */
export interface Resumption {
	attach?: { slot_id: string; attempt_number: number };
	effects: Effect[];
	event?: ProcessLost;
}

export interface AllowedRequest {
	request: 'reply' | 'cancel';
	allowed: boolean;
	code?: string;
	arguments?: { [key: string]: Json };
	max_response_bytes?: number;
	deadline_at?: number;
	remaining_ms?: number;
}

export interface Allowed {
	revision: number;
	requests: AllowedRequest[];
}

/** One entry of a journal as a person reads it; `decision` is there for turns. */
export interface Step {
	revision: number;
	at: number;
	event: 'created' | 'slot_granted' | 'turn_finished' | 'reply' | 'timer_fired' | 'process_lost' | 'cancel';
	by: 'user' | 'agent' | 'timer' | 'host';
	status: Status;
	attempt_number: number;
	reason: string;
	code?: string;
	slot_id?: string;
	interaction_id?: number;
	prompt?: string;
	deadline_at?: number;
	response?: string;
	resolution_mode?: ResolutionMode;
	decision?: Decision;
}

/** A decision without what the turn showed. */
export interface DecisionSummary {
	outcome: 'succeeded' | 'failed' | 'waiting_user';
	rule: Gate;
	code?: string;
	warnings: string[];
}

/**
 * What meters, traces and logs may know of a step, or of an event that was rejected or refused: no word of a user or an agent (OBS-2).
 * `lasted_ms` is how long the run was in the status that it `left`.
 */
export interface Observation {
	run_id: string;
	revision: number;
	at: number;
	event: Step['event'] | 'unknown';
	by?: Step['by'];
	engine: string;
	execution_mode: ExecutionMode;
	attempt_number: number;
	status: Status;
	left?: Status;
	lasted_ms?: number;
	decision?: DecisionSummary;
	resolution_mode?: ResolutionMode;
	code?: string;
	usage?: Usage;
	rejected?: string;
}

export interface Explanation {
	status: Status;
	reason: string;
	code?: string;
	decision?: Decision;
}

export interface WhyNot {
	target: Status;
	reached: boolean;
	reasons: string[];
	violations?: Violation[];
}

/** One row of the table of codes, without words. */
export interface CodeStatus {
	code: string;
	kind: 'refusal' | 'rejection' | 'failure' | 'warning' | 'diagnostic' | 'storage' | 'hosting' | 'service';
	http: number;
}

/** One row of the table of codes. */
export interface CodeInfo extends CodeStatus {
	meaning: string;
	remedy: string;
}

/** One thing that admission found wrong. */
export interface Problem {
	code: string;
	path: string;
	message: string;
	details?: Json;
}

/** What can be asked of a skill; with `problems` nothing can. Every run of it has its `warnings`. */
export interface SkillView {
	execution_modes: ExecutionMode[];
	engines: string[];
	max_attempt?: number;
	problems: Problem[];
	warnings: Note[];
}

/** A client's request for a new run: the skill's name, the run's id, and the rest as text for `admit`. */
export interface Job {
	skill: string;
	run_id: string;
	request: string;
}

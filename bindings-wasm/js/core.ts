/// <reference lib="esnext.disposable" preserve="true" />
/** Runs, and the operations that need none: the core with TypeScript's types. */

import * as glue from 'turnlatch-glue';
import { EventRejectedError } from './errors.js';
import { type EncodedEvent, encodeEvent } from './event.js';
import { encode, eventText, millis } from './input.js';
import { call, currentGeneration, forgetRescued, type Handle, takeRescued } from './instance.js';
import { Entry, type Journal } from './journal.js';
import { readJson } from './json.js';
import { type Plan, planId, planOf } from './plan.js';
import type * as types from './types.js';

/** What came of an event. Save the run, then perform `effects` in order. */
export interface Transition {
	/** What the host must do, in order. */
	readonly effects: types.Effect[];
	/** The answer to a request; with a `code` if it was refused. */
	readonly receipt?: types.Receipt;
	/** What to append to the journal; absent if the event was ignored or refused, and nothing happened. */
	readonly entry?: Entry;
	/**
	 * What is worth measuring of it, without a word of a user or an agent; absent if the event was ignored, and from
	 * `turnlatch/slim`. Pass it on once the run is saved.
	 */
	readonly observation?: types.Observation | undefined;
}

interface RunHandle extends Handle {
	freed: boolean;
}

const abandoned = new FinalizationRegistry<RunHandle>((handle) => {
	try {
		release(handle);
	} catch {
		// Only a broken instance throws here. Its memory goes with it, and nobody is there to be told.
	}
});

/** One execution of a skill for one request. */
export class Run {
	readonly #handle: RunHandle;

	private constructor(id: number, generation: number) {
		this.#handle = { generation, id, freed: false };
		abandoned.register(this, this.#handle, this.#handle);
	}

	/** Makes a run of an admitted plan. It is queued and asks for its first slot. */
	static create(plan: Plan, now: types.Time): [Run, Transition] {
		const [of, at] = [planId(plan), millis(now)];
		const [id, ...texts] = call(() => glue.run_create(of, at));
		return [new Run(id, currentGeneration()), readTransition(at, ...texts)];
	}

	/** Reads a snapshot back, or throws {@link LoadError}. */
	static fromJson(snapshot: string): Run {
		const bytes = encode(snapshot);
		const id = call(() => glue.run_restore(bytes));
		return new Run(id, currentGeneration());
	}

	/** Makes a run again from its plan and journal, and gives every effect it told on the way. */
	static replay(plan: Plan, journal: Journal): [Run, types.Effect[][]] {
		const of = planId(plan);
		const lines = encode(JSON.stringify(journal.lines()));
		const runId = encode(journal.runId);
		const text = call(() => glue.journal_replay(of, runId, lines));
		const { handle, effects } = readJson(text) as { handle: number; effects: types.Effect[][] };
		return [new Run(handle, currentGeneration()), effects];
	}

	/** Makes a run again from its plan and the first line of its journal; {@link Run.follow} takes the others. */
	static first(plan: Plan, line: string): [Run, types.TimelineEntry] {
		const [run, step] = Run.firstJson(plan, line);
		return [run, readJson(step) as types.TimelineEntry];
	}

	/** The same with the step as JSON text: what to send to a client. */
	static firstJson(plan: Plan, line: string): [Run, string] {
		const [of, bytes] = [planId(plan), encode(line)];
		const [id, step] = call(() => glue.run_first(of, bytes));
		return [new Run(id, currentGeneration()), step];
	}

	/** Does what the next line of the journal says was done, or throws {@link LoadError}. */
	follow(line: string): types.TimelineEntry {
		return readJson(this.followJson(line)) as types.TimelineEntry;
	}

	/** The same with the step as JSON text: what to send to a client. */
	followJson(line: string): string {
		const bytes = encode(line);
		return this.#call((id) => glue.run_follow(id, bytes));
	}

	/** The settings it was admitted with. */
	get plan(): Plan {
		return planOf(this.#call((id) => glue.run_plan(id)));
	}

	/** The run as canonical JSON text: the same run gives the same text, in every language. */
	toJson(): string {
		return this.#call((id) => glue.run_snapshot(id));
	}

	/** A run of its own in the same state: what is applied to one does not change the other. */
	copy(): Run {
		const id = this.#call((of) => glue.run_copy(of));
		return new Run(id, currentGeneration());
	}

	/** The run as data. */
	snapshot(): { [key: string]: types.Json } {
		return readJson(this.toJson()) as { [key: string]: types.Json };
	}

	/**
	 * Applies one event. A reply or cancel that is refused has a `receipt` with a `code` and changes nothing; what is no
	 * event throws {@link EventRejectedError} and leaves the run as it was.
	 */
	apply(event: types.RunEvent, now: types.Time): Transition {
		try {
			return this.#step(encodeEvent(event), millis(now));
		} catch (error) {
			throw this.#withObservation(error, () => event, now);
		}
	}

	/** Applies one event given as JSON text. */
	applyJson(event: string, now: types.Time): Transition {
		try {
			return this.#step({ json: encode(event) }, millis(now));
		} catch (error) {
			throw this.#withObservation(error, () => JSON.parse(event), now);
		}
	}

	#step({ json, text }: EncodedEvent, at: number): Transition {
		return readTransition(at, ...this.#call((id) => glue.run_apply(id, json, text, at)));
	}

	/** Takes a reply. Whatever becomes of it, `receipt` says so; only a malformed one throws. */
	reply(
		interactionId: number | bigint,
		response: types.JsonInput,
		now: types.Time,
		options: types.ReplyOptions = {},
	): Transition & { readonly receipt: types.Receipt } {
		const event: types.Reply = { type: 'reply', interaction_id: interactionId, response };
		if (options.idempotency_key !== undefined) event.idempotency_key = options.idempotency_key;
		if (options.expected_revision !== undefined) event.expected_revision = options.expected_revision;
		return this.apply(event, now) as Transition & { readonly receipt: types.Receipt };
	}

	/** Ends the run. `receipt` is `canceled`, or `already_ended`. */
	cancel(now: types.Time, reason?: string): Transition & { readonly receipt: types.Receipt } {
		const event: types.Cancel = reason === undefined ? { type: 'cancel' } : { type: 'cancel', reason };
		return this.apply(event, now) as Transition & { readonly receipt: types.Receipt };
	}

	/** The run's id. */
	get runId(): string {
		return this.#call((id) => glue.run_id(id));
	}

	/** Where the run is. */
	get status(): types.Status {
		return this.#call((id) => glue.run_status(id)) as types.Status;
	}

	/** Whether nothing can happen to it any more. */
	get ended(): boolean {
		return this.#call((id) => glue.run_ended(id));
	}

	/** How many events have changed it. */
	get revision(): number {
		return this.#call((id) => glue.run_revision(id));
	}

	/** The number of the last turn that started; 0 before the first. */
	get attemptNumber(): number {
		return this.#call((id) => glue.run_attempt_number(id));
	}

	/** The last good handle of the agent's session. */
	get sessionHandle(): string | undefined {
		return this.#call((id) => glue.run_session_handle(id));
	}

	/** The run as a client sees it. */
	statusView(): types.StatusView {
		return readJson(this.statusViewJson()) as types.StatusView;
	}

	/** The same as JSON text, exact to the last digit: what to send to a client. */
	statusViewJson(): string {
		return this.#call((id) => glue.run_status_view(id));
	}

	/** The pending question as a client sees it, or null in its place. */
	pendingView(): types.PendingView {
		return readJson(this.pendingViewJson()) as types.PendingView;
	}

	/** The same as JSON text, exact to the last digit: what to send to a client. */
	pendingViewJson(): string {
		return this.#call((id) => glue.run_pending_view(id));
	}

	/** Every question that came to its end, in order. */
	history(): types.InteractionRecord[] {
		return readJson(this.historyJson()) as types.InteractionRecord[];
	}

	/** The same as JSON text: what to send to a client. */
	historyJson(): string {
		return this.#call((id) => glue.run_history(id));
	}

	/**
	 * What the host still owes, and what the run may still own: for the time after a crash. The effect that begins a turn
	 * is not among it, because it may have happened: only {@link Run.afterRestart} returns it.
	 */
	outstanding(): types.PendingEffects {
		return readJson(this.#call((id) => glue.run_outstanding(id))) as types.PendingEffects;
	}

	/** Whether an effect is still to be performed; `failed` are those of this run that are tried again later. */
	due(effect: types.Effect, failed: readonly types.Effect[] = []): types.EffectStatus {
		const [bytes, others] = [encode(eventText(effect)), encode(eventText(failed))];
		return readJson(this.#call((id) => glue.run_due(id, bytes, others))) as types.EffectStatus;
	}

	/** What becomes of an effect that failed too often; `begun` says that it may have happened in part. */
	givenUp(effect: types.Effect, begun: boolean): types.RetriesExhausted {
		const bytes = encode(eventText(effect));
		return readJson(this.#call((id) => glue.run_given_up(id, bytes, begun))) as types.RetriesExhausted;
	}

	/** How to go on with a run that was loaded after a restart, from what the host still has of it. */
	afterRestart(found: types.RecoveryFacts): types.RecoveryPlan {
		const { process_alive = false, begun, slot_lost = false } = found;
		// Guessing it would start a turn twice, or never.
		if (typeof begun !== 'boolean') throw new TypeError('afterRestart needs `begun`: true or false');
		const text = this.#call((id) => glue.run_after_restart(id, process_alive, begun, slot_lost));
		return readJson(text) as types.RecoveryPlan;
	}

	/** The requests that would be taken now, and for the others the reason. */
	allowed(now: types.Time): types.Allowed {
		const at = millis(now);
		return readJson(this.#call((id) => glue.run_allowed(id, at))) as types.Allowed;
	}

	/** Why the run is where it is. */
	explain(): types.Explanation {
		return readJson(this.explainJson()) as types.Explanation;
	}

	/** The same as JSON text: what to send to a client. */
	explainJson(): string {
		return this.#call((id) => glue.run_explain(id));
	}

	/** What keeps the run from a status. */
	whyNot(target: types.Status): types.WhyNot {
		const name = String(target);
		return readJson(this.#call((id) => glue.run_why_not(id, name))) as types.WhyNot;
	}

	/** Gives its memory back at once, instead of when it is collected. The run cannot be used afterwards. */
	free(): void {
		if (this.#handle.freed) return;
		abandoned.unregister(this.#handle);
		release(this.#handle);
	}

	/** The same as {@link Run.free}, for `using`. */
	declare [Symbol.dispose]: () => void;

	/** The error with what is worth measuring of it, if this run has rejected the event. */
	#withObservation(error: unknown, event: () => unknown, now: types.Time): unknown {
		if (!(error instanceof EventRejectedError) || glue.run_observe_rejected === undefined) return error;
		const at = orElse(() => millis(now), 0);
		const name = orElse(() => String((event() as { type?: unknown }).type), '');
		const text = this.#call((id) => glue.run_observe_rejected(id, name, error.code, at));
		error.observation = readJson(text) as types.Observation;
		return error;
	}

	#call<T>(work: (id: number) => T): T {
		const handle = this.#ready();
		return call(() => work(handle.id), handle);
	}

	/** Where the run lives, after it has been moved into the instance of now. */
	#ready(): RunHandle {
		const handle = this.#handle;
		if (handle.freed) throw new TypeError('the run was freed');
		if (handle.generation !== currentGeneration()) move(handle);
		return handle;
	}
}

if (Symbol.dispose) Object.defineProperty(Run.prototype, Symbol.dispose, { value: Run.prototype.free });

/** Makes a run again from its plan and journal, and gives every effect it told on the way. */
export function replay(plan: Plan, journal: Journal): [Run, types.Effect[][]] {
	return Run.replay(plan, journal);
}

/** Reads the body of a request for a new run, or throws {@link AdmissionError}. `runId` is for a client that has chosen none. */
export function readJob(body: string, runId: string): types.Job {
	const [bytes, id] = [encode(body), encode(runId)];
	return JSON.parse(call(() => glue.read_job(bytes, id))) as types.Job;
}

/** Reads the body of a request to a run as its event, or throws {@link EventRejectedError}. */
export function requestEvent(kind: 'reply' | 'cancel', body: string): types.RunEvent {
	return readJson(requestEventJson(kind, body)) as types.RunEvent;
}

/** The same as JSON text, in which a response of numbers or objects stays as it was sent; for `applyJson`, `tellJson`. */
export function requestEventJson(kind: 'reply' | 'cancel', body: string): string {
	const [name, bytes] = [String(kind), encode(body)];
	return call(() => glue.request_event(name, bytes));
}

/** Evaluates one turn by itself: the gates alone, without a run. */
export function evaluateTurn(plan: Plan, report: types.TurnReport): types.Evaluation {
	const of = planId(plan);
	const event = encode(eventText({ attempt_number: 1, ...report, type: 'turn_finished' }));
	return readJson(call(() => glue.evaluate_turn(of, event))) as types.Evaluation;
}

/** The skill's text with the instructions for this mode at its end, and the plan's output schema and required artifacts. */
export function appendInstructions(skill: string, mode: types.ExecutionMode, plan?: Plan): string {
	const of = plan === undefined ? undefined : planId(plan);
	const [bytes, name] = [encode(skill), String(mode)];
	return call(() => glue.append_instructions(bytes, name, of));
}

/** The run that asked for this slot; undefined if no run can have. */
export function runOfSlot(slotId: string): string | undefined {
	return call(() => glue.run_of_slot(slotId));
}

/** What to tell of a turn that has ended, but whose report cannot be read. */
export function unreadableReport(attemptNumber: number, slotId: string): types.TurnFinished {
	return JSON.parse(call(() => glue.unreadable_report(attemptNumber, slotId))) as types.TurnFinished;
}

/** The text with terminal escapes, control and bidi characters made visible. */
export function displayText(text: string): string {
	const bytes = encode(text);
	return call(() => glue.display_text(bytes));
}

/** The version of the package. */
export function version(): string {
	return call(() => glue.version());
}

function orElse<T>(attempt: () => T, otherwise: T): T {
	try {
		return attempt();
	} catch {
		return otherwise;
	}
}

/** What came of an event, of the texts that the core returns (`src/run.rs`). */
function readTransition(at: number, step: string, observation?: string, entry?: string): Transition {
	const { effects, receipt, revision = 0 } = readJson(step) as Step;
	// There is no time below 0, but JavaScript has one beside it.
	const recorded = entry === undefined ? undefined : new Entry(revision, at + 0, entry);
	return new LazyTransition(effects, receipt, recorded, observation);
}

interface Step {
	readonly effects: types.Effect[];
	readonly receipt?: types.Receipt;
	readonly revision?: number;
}

/** Parses the observation when it is read: few hosts measure, and it would take as long as all the rest. */
class LazyTransition implements Transition {
	readonly effects: types.Effect[];
	declare readonly receipt?: types.Receipt;
	declare readonly entry?: Entry;
	#observation: string | types.Observation | undefined;

	constructor(effects: types.Effect[], receipt?: types.Receipt, entry?: Entry, observation?: string) {
		this.effects = effects;
		if (receipt !== undefined) this.receipt = receipt;
		if (entry !== undefined) this.entry = entry;
		this.#observation = observation;
	}

	get observation(): types.Observation | undefined {
		if (typeof this.#observation === 'string') this.#observation = readJson(this.#observation) as types.Observation;
		return this.#observation;
	}
}

/** Brings a run into the instance of now, from the snapshot that the broken one gave. */
function move(handle: RunHandle): void {
	const bytes = encode(takeRescued(handle));
	const generation = currentGeneration();
	const id = call(() => glue.run_restore(bytes));
	forgetRescued(handle);
	handle.generation = generation;
	handle.id = id;
}

function release(handle: RunHandle): void {
	handle.freed = true;
	if (handle.generation === currentGeneration()) call(() => glue.run_free(handle.id));
	else forgetRescued(handle);
}

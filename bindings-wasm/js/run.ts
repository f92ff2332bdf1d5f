import * as glue from 'turnlatch-glue';
import { EventRejectedError } from './errors.js';
import { callWith, Holder } from './holder.js';
import { call } from './instance.js';
import { documentText, encode, encodeTwo, eventText, isPlain, isWellFormed } from './json.js';
import { corePlan, Plan } from './plan.js';
import type * as types from './types.js';

/** What came of an event: plain data. Save the run, then perform `effects` in order. */
export interface Transition {
	/** What the host must do, in order. */
	readonly effects: types.Effect[];
	/** The answer to a request; with a `code` if it was refused. */
	readonly receipt?: types.Receipt;
	/** The run's revision after it; absent if the event was ignored or refused, and nothing happened. */
	readonly revision?: number;
	/** What to append to the journal, as JSON text; absent like `revision`. */
	readonly entry?: string;
	/**
	 * What is worth measuring of it, without a word of a user or an agent; absent if the event was ignored, and from
	 * `turnlatch/slim`. Pass it on once the run is saved.
	 */
	readonly observation?: types.Observation;
}

/** One execution of a skill for one request. */
export class Run extends Holder {
	private constructor(core: glue.Run) {
		if (!(core instanceof glue.Run))
			throw new TypeError('runs are made by Run.create(plan, now) and Run.restore(snapshot)');
		super('run', core);
	}

	/** @internal */
	static of(core: glue.Run): Run {
		return new Run(core);
	}

	/** Makes a run of an admitted plan. It is queued and asks for its first slot. */
	static create(plan: Plan, now: types.Time): [Run, Transition] {
		const [of, at] = [corePlan(plan), millis(now)];
		const [core, created] = call(() => glue.Run.create(of, at)) as unknown as [glue.Run, string];
		return [new Run(core), transition(created)];
	}

	/** Reads a snapshot back, as text or as data, or throws {@link LoadError}. */
	static restore(snapshot: types.JsonDocument): Run {
		const bytes = encode(documentText(snapshot, 'the snapshot'));
		return new Run(call(() => glue.Run.restore(bytes)));
	}

	/** The settings it was admitted with. */
	get plan(): Plan {
		return Plan.of(callWith(this, (run: glue.Run) => run.plan));
	}

	/** The run as canonical JSON text: the same run gives the same text, in every language. */
	snapshot(): string {
		return callWith(this, (run: glue.Run) => run.snapshot());
	}

	/** The snapshot as data: `JSON.stringify(run)` can be restored. */
	toJSON(): { [key: string]: types.Json } {
		return JSON.parse(this.snapshot());
	}

	/** A run of its own in the same state: what is applied to one does not change the other. */
	copy(): Run {
		return new Run(callWith(this, (run: glue.Run) => run.copy()));
	}

	/**
	 * Applies one event. A reply or cancel that is refused has a `receipt` with a `code` and changes nothing; what is no
	 * event throws {@link EventRejectedError} and leaves the run as it was.
	 */
	apply(event: types.RunEvent, now: types.Time): Transition {
		return this.#observed(event, now, () => {
			const text = longText(event);
			if (text === undefined) return this.#apply(eventText(event), now);
			const end = this.#endOf(text, event);
			if (end === undefined) return this.#apply(eventText(withoutText(event)), now, text);
			return this.#apply(eventText(withoutText(event, end.size)), now, end.text);
		});
	}

	/** The end of a text over the limit, which is all that counts of it (OUT-12); undefined if it is to be handed over whole. */
	#endOf(text: string, event: types.RunEvent): { readonly text: string; readonly size: number } | undefined {
		if (text.length < LONGEST_COPIED || !isText(event)) return undefined;
		const [limit, kept] = callWith(this, (run: glue.Run) => [run.turn_text_bytes, run.prompt_bytes]) as [
			number,
			number,
		];
		if (3 * text.length <= limit) return undefined;
		const bytes = encode(text);
		return bytes.length <= limit ? undefined : { text: decoder.decode(endOf(bytes, kept)), size: bytes.length };
	}

	/** Applies one event given as JSON text. */
	applyJson(event: string, now: types.Time): Transition {
		return this.#observed(event, now, () => this.#apply(event, now));
	}

	#apply(json: string, now: types.Time, text?: string): Transition {
		const at = millis(now);
		const [event, bytes] = encodeTwo(json, text);
		const lines = callWith(this, (run: glue.Run) => run.apply(event, text === undefined ? undefined : bytes, at));
		return transition(lines, text);
	}

	/** Takes a reply. Whatever becomes of it, `receipt` says so; only a malformed one throws. */
	reply(
		interactionId: number | bigint,
		response: types.JsonInput,
		now: types.Time,
		options: types.ReplyOptions = {},
	): Transition & { readonly receipt: types.Receipt } {
		const { idempotency_key, expected_revision } = options;
		const event = { type: 'reply', interaction_id: interactionId, response, idempotency_key, expected_revision };
		return this.apply(event as types.Reply, now) as Transition & { readonly receipt: types.Receipt };
	}

	/** Ends the run. `receipt` is `canceled`, or `already_ended`. */
	cancel(now: types.Time, reason?: string): Transition & { readonly receipt: types.Receipt } {
		return this.apply({ type: 'cancel', reason } as types.Cancel, now) as Transition & {
			readonly receipt: types.Receipt;
		};
	}

	/** The run's id. */
	get runId(): string {
		return callWith(this, (run: glue.Run) => run.run_id);
	}

	/** Where the run is. */
	get status(): types.Status {
		return callWith(this, (run: glue.Run) => run.status) as types.Status;
	}

	/** Whether nothing can happen to it any more. */
	get ended(): boolean {
		return callWith(this, (run: glue.Run) => run.ended);
	}

	/** How many events have changed it. */
	get revision(): number {
		return callWith(this, (run: glue.Run) => run.revision);
	}

	/** The number of the last turn that started; 0 before the first. */
	get attemptNumber(): number {
		return callWith(this, (run: glue.Run) => run.attempt_number);
	}

	/** The last good handle of the agent's session. */
	get sessionHandle(): string | undefined {
		return callWith(this, (run: glue.Run) => run.session_handle);
	}

	/**
	 * The run as a client sees it; `Data` is what the output schema describes. Integers beyond 2^53 are rounded; `data_text` has them
	 * exactly.
	 */
	statusView<Data = types.Json>(): types.StatusView<Data> {
		return JSON.parse(this.statusViewJson());
	}

	/** The same as JSON text, exact to the last digit: what to send to a client. */
	statusViewJson(): string {
		return callWith(this, (run: glue.Run) => run.status_view());
	}

	/** The pending question as a client sees it, or null in its place. */
	pendingView(): types.PendingView {
		return JSON.parse(this.pendingViewJson());
	}

	/** The same as JSON text, exact to the last digit: what to send to a client. */
	pendingViewJson(): string {
		return callWith(this, (run: glue.Run) => run.pending_view());
	}

	/** Every question that came to its end, in order. */
	history(): types.InteractionRecord[] {
		return callWith(this, (run: glue.Run) => run.history());
	}

	/**
	 * The effects that the host still has to perform, and what the run may still own: for the time after a crash. The effect that
	 * begins a turn is not among them, because it may have happened: only {@link Run.afterRestart} returns it.
	 */
	outstanding(): types.PendingEffects {
		return callWith(this, (run: glue.Run) => run.outstanding());
	}

	/** Whether an effect is still to be performed; `failed` are those of this run that are tried again later. */
	due(effect: types.Effect, failed: readonly types.Effect[] = []): types.EffectStatus {
		const [bytes, others] = [encode(eventText(effect)), encode(eventText(failed))];
		return this.#asHost('due', (run) => run.due(bytes, others));
	}

	/** What becomes of an effect that failed too often; `begun` says that it may have happened in part. */
	givenUp(effect: types.Effect, begun: boolean): types.RetriesExhausted {
		const bytes = encode(eventText(effect));
		return this.#asHost('givenUp', (run) => run.given_up(bytes, begun));
	}

	/** How to continue with a run that was loaded after a restart, from what the host still has of it. */
	afterRestart(found: types.RecoveryFacts): types.RecoveryPlan {
		const { process_alive = false, begun, slot_lost = false } = found;
		// Guessing it would start a turn twice, or never.
		if (typeof begun !== 'boolean') throw new TypeError('afterRestart needs `begun`: true or false');
		return this.#asHost('afterRestart', (run) => run.after_restart(process_alive, begun, slot_lost));
	}

	/** The requests that would be taken now, and for the others the reason. */
	allowed(now: types.Time): types.Allowed {
		const at = millis(now);
		return callWith(this, (run: glue.Run) => run.allowed(at));
	}

	/** Why the run is where it is. */
	explain(): types.Explanation {
		return JSON.parse(this.explainJson());
	}

	/** The same as JSON text: what to send to a client. */
	explainJson(): string {
		return callWith(this, (run: glue.Run) => run.explain());
	}

	/** What keeps the run from a status. */
	whyNot(target: types.Status): types.WhyNot {
		const name = String(target);
		return callWith(this, (run: glue.Run) => run.why_not(name));
	}

	#asHost<R>(question: 'due' | 'givenUp' | 'afterRestart', work: (run: glue.Run) => R): R {
		if (glue.Run.prototype.due !== undefined) return callWith(this, work);
		throw new TypeError(`turnlatch/slim has no \`${question}\`: hosts use turnlatch itself`);
	}

	/** Gives the error of an event that this run has rejected what is worth measuring of it. */
	#observed(event: unknown, now: types.Time, work: () => Transition): Transition {
		try {
			return work();
		} catch (error) {
			if (error instanceof EventRejectedError && glue.Run.prototype.observe_rejected !== undefined) {
				const [name, at] = [nameOf(event), millis(now)];
				error.observation = callWith(this, (run: glue.Run) => run.observe_rejected(name, error.code, at));
			}
			throw error;
		}
	}
}

// What Node prints of it.
Object.defineProperty(Run.prototype, Symbol.for('nodejs.util.inspect.custom'), {
	value(this: Run): string {
		return `Run { runId: '${this.runId}', status: '${this.status}', revision: ${this.revision} }`;
	},
});

/** Data of the lines that the core wrote (`src/run.rs`); what few hosts read is put together when it is. */
function transition(lines: string, text?: string): Transition {
	const first = lines.indexOf('\n');
	const second = lines.indexOf('\n', first + 1);
	const parsed = JSON.parse(lines.slice(0, first)) as { -readonly [Member in keyof Transition]: Transition[Member] };
	const observation = lines.slice(first + 1, second < 0 ? undefined : second);
	if (second > 0) parsed.entry = lines.slice(second + 1);
	if (observation !== '') later(parsed, 'observation', () => JSON.parse(observation));
	const { entry } = parsed;
	const middle = text === undefined || entry === undefined ? -1 : entry.indexOf('\n');
	if (middle > 0)
		later(parsed, 'entry', () => `${entry?.slice(0, middle)}${JSON.stringify(text)}${entry?.slice(middle + 1)}`);
	return parsed;
}

function later(transition: Transition, member: keyof Transition, get: () => unknown): void {
	Object.defineProperty(transition, member, { get, enumerable: true, configurable: true });
}

const decoder = new TextDecoder();

/** Milliseconds since the epoch; NaN for what is no time, which the core then refuses. */
function millis(now: types.Time): number {
	if (typeof now === 'number') return now;
	if (typeof now === 'bigint') return Number(now);
	return now instanceof Date ? now.getTime() : Number.NaN;
}

/** A shorter text is cheaper as a part of the JSON text. */
const LONG = 1024;
/** A shorter text is handed over whole, whatever the limit is. */
const LONGEST_COPIED = 4096;

interface LongTurn {
	readonly type: 'turn_finished';
	readonly text?: string;
	readonly text_bytes?: number;
	readonly stream?: { readonly stdout: string };
}

/**
 * The one long text of a finished turn: its `text`, or the stdout of its `stream`. It crosses beside the event, because it would be
 * escaped only to be read back. If the turn has another content as well, the core has to see the whole of it.
 */
function longText(event: unknown): string | undefined {
	if (typeof event !== 'object' || event === null || !isPlain(event)) return undefined;
	const { type, text, stream, output, messages } = event as Record<string, unknown>;
	if (type !== 'turn_finished' || output !== undefined || messages !== undefined) return undefined;
	if (text !== undefined && stream !== undefined) return undefined;
	const long = isStream(stream) ? stream.stdout : text;
	return typeof long === 'string' && long.length >= LONG && isWellFormed(long) ? long : undefined;
}

function isStream(stream: unknown): stream is { readonly stdout: unknown } {
	return typeof stream === 'object' && stream !== null && isPlain(stream) && Object.hasOwn(stream, 'stdout');
}

/** Whether the long text is the assistant's own, of which only the end counts if it is over the limit (OUT-12). */
function isText(event: unknown): boolean {
	const { stream, text_bytes } = event as LongTurn;
	return stream === undefined && text_bytes === undefined;
}

/** The event with the text missing, or with an empty one beside its size. */
function withoutText(event: unknown, size?: number): unknown {
	const { text: _, stream, ...rest } = event as LongTurn;
	if (stream !== undefined) return { ...rest, stream: { ...stream, stdout: '' } };
	const text_bytes = size ?? rest.text_bytes;
	return text_bytes === undefined ? rest : { ...rest, text: '', text_bytes };
}

/** The last bytes of a text, from the beginning of a character. */
function endOf(bytes: Uint8Array, most: number): Uint8Array {
	let start = Math.max(0, bytes.length - most);
	while (start < bytes.length && ((bytes[start] as number) & 0xc0) === 0x80) start += 1;
	return bytes.subarray(start);
}

/** The event's name, as far as there is one. */
function nameOf(event: unknown): string {
	try {
		const { type } = (typeof event === 'string' ? JSON.parse(event) : event) as { type?: unknown };
		return String(type);
	} catch {
		return '';
	}
}

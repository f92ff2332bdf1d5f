/**
 * Carries out a vector and fills in what the core answers, as `tests/rust/src/vector.rs` does. It runs in Node and in
 * a page alike, so it is handed the package and the vectors and imports neither.
 */

import type * as turnlatch from 'turnlatch';
import { canonical, compact, define, read } from './exact-json.js';
import { reorder, resignJournal, resignSnapshot } from './tamper.js';
import { decodedInPieces, type Fed, fed } from './vectors-streams.js';

export type Package = typeof turnlatch;
type Json = unknown;
type Members = Record<string, Json>;

export interface Vector extends Members {
	name: string;
	given?: Members;
	admission?: Json;
	steps?: Members[];
}

const DEFAULT_RUNNER = '{"execution_modes": ["auto", "interactive"]}';
const DEFAULT_OUTPUT_SCHEMA =
	'{"type":"object","required":["answer"],"properties":{"answer":{"type":"integer"}},"additionalProperties":false}';
const NOT_THE_KIND = new Set(['at', 'then', 'edit', 'entries', 'resign']);

/** The vectors of a file's text. */
export function readVectors(text: string): Vector[] {
	const file = read(text) as { about: string; vectors: Vector[] };
	known(file, ['about', 'vectors']);
	for (const vector of file.vectors) known(vector, ['name', 'covers', 'given', 'admission', 'steps']);
	return file.vectors;
}

/** How many vectors files have, and how many steps these. */
export function counted(files: readonly { text: string }[]): { vectors: number; steps: number } {
	const vectors = files.flatMap(({ text }) => readVectors(text));
	return { vectors: vectors.length, steps: vectors.reduce((sum, { steps }) => sum + (steps?.length ?? 0), 0) };
}

/** The vector with every expectation as the core answers it. */
export async function execute(core: Package, vector: Vector, forms: Forms = 'data and text'): Promise<Vector> {
	const filled: Vector = { ...vector, steps: (vector.steps ?? []).map((step) => ({ ...step })) };
	let plan: turnlatch.Plan;
	try {
		plan = admission(core, vector.given ?? {});
	} catch (error) {
		if (!(error instanceof core.AdmissionError)) throw error;
		assert(filled.steps?.length === 0, 'nothing can follow a refusal');
		filled.admission = { refused: refused(error) };
		return filled;
	}
	filled.admission = { warnings: plan.warnings };
	const stage = new Stage(core, plan, forms);
	for (const [index, step] of (filled.steps ?? []).entries()) {
		try {
			const { then: _, ...told } = step;
			step.then = await stage.carryOut(expandMembers(told));
		} catch (error) {
			throw new Error(`${vector.name}\n  step ${index + 1}: ${String(error)}`, { cause: error });
		}
	}
	stage.checkLaws();
	stage.free();
	plan.free();
	return filled;
}

/** What the vectors of one file gave: a line of canonical JSON each, the same in every runtime. */
export async function results(core: Package, text: string): Promise<string[]> {
	const lines: string[] = [];
	for (const vector of readVectors(text)) {
		const found = await execute(core, vector);
		// Where an answer holds, its exact numbers are those that were expected.
		const { name, admission, steps } = difference(vector, found) === undefined ? vector : found;
		lines.push(canonical({ name, admission, then: (steps ?? []).map((step) => step.then) }));
	}
	return lines;
}

/** Where the vectors of a file do not hold. */
export async function broken(core: Package, text: string, forms?: Forms): Promise<string[]> {
	const told: string[] = [];
	for (const vector of readVectors(text)) {
		try {
			const found = difference(vector, await execute(core, vector, forms));
			if (found !== undefined) told.push(found);
		} catch (error) {
			told.push(`${vector.name}\n  ${String(error)}`);
		}
	}
	return told;
}

/**
 * Where two vectors differ. 1, 1n, "1" and true are four values; the order of keys does not matter. What an event returns is data,
 * in which integers beyond 2^53 are rounded.
 */
export function difference(expected: Vector, found: Vector): string | undefined {
	const pairs: [string, Json, Json][] = [['admission', expected.admission, found.admission]];
	assert((expected.steps ?? []).length === (found.steps ?? []).length, 'a step is missing');
	for (const [index, step] of (expected.steps ?? []).entries()) {
		pairs.push([`step ${index + 1}`, step.then, found.steps?.[index]?.then]);
	}
	for (const [place, left, right] of pairs) {
		if (canonical(left) !== canonical(right) && canonical(rounded(left)) !== canonical(right)) {
			return `${expected.name}\n  ${place} expected ${canonical(left)}\n  ${place} found    ${canonical(right)}`;
		}
	}
	return undefined;
}

/** The value as `JSON.parse` would have read it. */
function rounded(value: Json): Json {
	return value === undefined ? undefined : JSON.parse(canonical(value));
}

function asText(value: Json): string {
	return typeof value === 'string' ? value : compact(value);
}

/** Long texts are written short: `{"repeat": "ab", "times": 3}` is a string, and so is `{"concat": [...]}`. */
function expand(value: Json): Json {
	if (Array.isArray(value)) return value.map(expand);
	if (typeof value !== 'object' || value === null) return value;
	const members = value as Members;
	const keys = Object.keys(members).sort().join();
	if (keys === 'repeat,times') return (expand(members.repeat) as string).repeat(members.times as number);
	if (keys === 'concat' && Array.isArray(members.concat)) return members.concat.map(expand).join('');
	return expandMembers(members);
}

export function expandMembers(members: Members): Members {
	const expanded: Members = {};
	for (const [key, value] of Object.entries(members)) define(expanded, key, expand(value));
	return expanded;
}

/** The plan of what is given over the defaults, or AdmissionError; the same from text and from objects. */
export function admission(core: Package, given: Members): turnlatch.Plan {
	const { request, request_text, ...rest } = expandMembers(given);
	const asked =
		request_text === undefined
			? { run_id: 'r1', engine: 'codex', execution_mode: 'interactive', ...(request as Members) }
			: asText(request_text);
	const answer = (form: (part: Json) => Json) => {
		const [manifest, host] = skillAndHost(rest, form);
		return core.admit(manifest, form(asked) as never, host);
	};
	const outcome = (form: (part: Json) => Json) => {
		try {
			const plan = answer(form);
			const data = plan.toJSON();
			plan.free();
			return data;
		} catch (error) {
			if (error instanceof core.AdmissionError) return refused(error);
			throw error;
		}
	};
	// What is no object has to be given as text; for all others the object must lead to the same answer.
	const isData = (part: Json) =>
		typeof part === 'boolean' || (typeof part === 'object' && part !== null && !Array.isArray(part));
	const [byData, byText] = [outcome((part) => (isData(part) ? part : asText(part))), outcome(asText)];
	assert(
		canonical(byData) === canonical(byText),
		`object and text are admitted differently: ${canonical(byData)} ${canonical(byText)}`,
	);
	return answer(asText);
}

function describe(core: Package, given: Members): Json {
	return core.describeSkill(...skillAndHost(given, asText));
}

function skillAndHost(given: Members, form: (part: Json) => Json): [turnlatch.Skill, turnlatch.HostSettings] {
	const { skill, engines, limits, ...unknown } = given;
	known(unknown, []);
	const manifest: Members = {};
	const parts = { runner: DEFAULT_RUNNER, output_schema: DEFAULT_OUTPUT_SCHEMA, ...(skill as Members) };
	for (const [name, part] of Object.entries(parts)) {
		// Only `output_schema: null` means that there is none; elsewhere null is a text like any other.
		if (name !== 'output_schema' || part !== null) manifest[name] = form(part);
	}
	const host = {
		engines: engines ?? ['codex', 'claude', 'gemini', 'opencode'],
		...(limits === undefined ? {} : { limits }),
	};
	return [manifest as never, host as never];
}

export function refused(error: turnlatch.AdmissionError): Json {
	return { code: error.code, message: error.message, problems: error.details };
}

export function rejected(error: turnlatch.EventRejectedError): Json {
	assert(error.details === null, 'what is no event has no details');
	const path = error.path === undefined ? {} : { path: error.path };
	return { rejected: { code: error.code, message: error.message, ...path } };
}

function orRejected(core: Package, work: () => Json): Json {
	try {
		return work();
	} catch (error) {
		if (!(error instanceof core.EventRejectedError)) throw error;
		return rejected(error);
	}
}

function notLoaded(core: Package, error: unknown): Json {
	if (!(error instanceof core.LoadError)) throw error;
	return { load_error: { code: error.code, place: error.path, message: error.message } };
}

function job(core: Package, { body, run_id }: { body: string; run_id: string }): Json {
	try {
		return core.readJob(body, run_id);
	} catch (error) {
		if (!(error instanceof core.AdmissionError)) throw error;
		return { refused: refused(error) };
	}
}

function eventOf(core: Package, { kind, body }: { kind: 'reply'; body: string }): Json {
	return orRejected(core, () => {
		const text = core.requestEventJson(kind, body);
		return exact(text, core.requestEvent(kind, body));
	});
}

/** Events are handed in as objects; and, unless there are very many, also as text to a copy of the run. */
export type Forms = 'data and text' | 'data';

/** An event of a script: with its time, as data or as text; or what the run is read back from. */
export type Thrown = readonly [event: Json, at: Json, form?: 'text'] | { readonly reload: string };

/** One run on its way through a vector, with its journals. */
export class Stage {
	readonly #core: Package;
	readonly #plan: turnlatch.Plan;
	readonly #forms: Forms;
	#run!: turnlatch.Run;
	#full!: turnlatch.Journal;
	#compact!: turnlatch.Journal;
	#effects: Json[] = [];
	/** The observation of the last event. */
	#observation: Json = null;

	constructor(core: Package, plan: turnlatch.Plan, forms: Forms = 'data and text') {
		this.#core = core;
		this.#plan = plan;
		this.#forms = forms;
		this.#start(0);
	}

	#start(at: Json): void {
		const [run, created] = this.#core.Run.create(this.#plan, at as number);
		this.#run?.free();
		this.#run = run;
		this.#full = new this.#core.Journal(this.#plan);
		this.#compact = new this.#core.Journal(this.#plan);
		this.#effects = [];
		this.#observation = created.observation ?? null;
		this.#record(created);
	}

	#record({ entry, effects }: turnlatch.Transition): void {
		if (entry === undefined) throw new Error('there is no entry');
		this.#full.push(entry);
		this.#compact.push(this.#core.compactEntry(entry));
		this.#effects.push(effects);
	}

	async carryOut(step: Members): Promise<Json> {
		const kind = Object.keys(step).find((key) => !NOT_THE_KIND.has(key)) ?? '';
		const argument = step[kind];
		const at = 'at' in step ? step.at : 0;
		switch (kind) {
			case 'create':
				return this.create(at);
			case 'event':
				return this.#event(argument, at as number);
			case 'event_text':
				return this.#lawful([argument, at, 'text'])[0];
			case 'query':
				return this.#query(argument);
			case 'turn':
				return this.#turn(argument);
			case 'stream':
				return this.#stream(argument as turnlatch.TurnStream);
			case 'feed':
				return orRejected(this.#core, () => fed(this.#core, argument as Fed));
			case 'patch':
				return this.#patch(argument as { skill: string; mode: turnlatch.ExecutionMode });
			case 'reload':
				return this.#reload(argument);
			case 'load':
				return this.#load(argument, step);
			case 'display':
				return this.#core.displayText(argument as string);
			default:
				throw new Error(`unknown step ${kind}`);
		}
	}

	create(at: Json): Json {
		assert(this.#full.length === 1, 'a run is created once, first');
		this.#start(at);
		return { effects: this.#effects[0], status: this.#run.status };
	}

	throw(thrown: Thrown): Json {
		if ('reload' in thrown) return this.#reload(thrown.reload);
		const [event, at, form] = thrown;
		return form === 'text'
			? this.#taken((run) => run.applyJson(event as string, at as number))
			: this.#taken((run) => run.apply(event as turnlatch.RunEvent, at as number));
	}

	snapshot(): string {
		return this.#run.snapshot();
	}

	/** The object is applied; its text must do the same to a copy of the run. */
	#event(event: Json, at: number): Json {
		if (this.#forms === 'data') return this.#lawful([event, at])[0];
		const copy = this.#run.copy();
		const [byText] = this.#answer(copy, (run) => run.applyJson(compact(event), at));
		const [byData, after] = this.#lawful([event, at]);
		assert(
			canonical(byData) === canonical(byText),
			`the object gave ${canonical(byData)}, its text ${canonical(byText)}`,
		);
		assert(after === copy.snapshot(), 'the object and its text lead to different runs');
		copy.free();
		return byData;
	}

	/** What comes of an event, with the law that one that was rejected, refused or ignored changes nothing. */
	#lawful(thrown: Thrown): [then: Json, after: string] {
		const [before, recorded] = [this.#run.snapshot(), this.#full.length];
		const then = this.throw(thrown);
		const after = this.#run.snapshot();
		const changed = this.#full.length > recorded;
		assert(changed || after === before, 'an event without an entry changes nothing');
		return [then, after];
	}

	#taken(apply: (run: turnlatch.Run) => turnlatch.Transition): Json {
		const [then, applied] = this.#answer(this.#run, apply);
		this.#observation = applied.observation ?? null;
		if ('entry' in applied) this.#record(applied);
		return then;
	}

	#answer(
		run: turnlatch.Run,
		apply: (run: turnlatch.Run) => turnlatch.Transition,
	): [then: Json, applied: turnlatch.Transition | turnlatch.EventRejectedError] {
		try {
			const applied = apply(run);
			const receipt = applied.receipt === undefined ? {} : { receipt: applied.receipt };
			return [{ effects: applied.effects, status: run.status, ...receipt }, applied];
		} catch (error) {
			if (!(error instanceof this.#core.EventRejectedError)) throw error;
			return [rejected(error), error];
		}
	}

	#query(query: Json): Json {
		switch (query) {
			case 'status_view':
				return exact(this.#run.statusViewJson(), this.#run.statusView());
			case 'pending_view':
				return exact(this.#run.pendingViewJson(), this.#run.pendingView());
			case 'history':
				return this.#run.history();
			case 'outstanding':
				return this.#run.outstanding();
			case 'explain':
				return exact(this.#run.explainJson(), this.#run.explain());
			case 'snapshot_digest':
				return this.#run.toJSON().digest;
			case 'timeline':
				return this.#timeline();
			case 'observed':
				return this.#observation;
			case 'codes':
				return this.#core.codes();
			default: {
				const [name, argument] = Object.entries(query as Members)[0] ?? [];
				return this.#question(name, argument as never);
			}
		}
	}

	#question(name: string | undefined, argument: never): Json {
		const { effect, failed, begun, attempt_number, slot_id } = argument as {
			effect: turnlatch.Effect;
			failed?: turnlatch.Effect[];
			begun: boolean;
			attempt_number: number;
			slot_id: string;
		};
		switch (name) {
			case 'why_not':
				return this.#run.whyNot(argument);
			case 'allowed':
				return this.#run.allowed(argument);
			case 'due':
				return this.#run.due(effect, failed);
			case 'given_up':
				return this.#run.givenUp(effect, begun);
			case 'after_restart':
				return this.#run.afterRestart(argument);
			case 'run_of_slot':
				return this.#core.runOfSlot(argument) ?? null;
			case 'follow':
				return this.#follow(argument);
			case 'describe_skill':
				return describe(this.#core, expand(argument) as Members);
			case 'read_job':
				return job(this.#core, argument);
			case 'request_event':
				return eventOf(this.#core, argument);
			case 'unreadable_report':
				return this.#core.unreadableReport(attempt_number, slot_id);
			default:
				throw new Error(`unknown query ${name}`);
		}
	}

	/** The journal followed line by line. Both kinds of it tell the same and lead to this run. */
	#timeline(): Json {
		const told = [this.#full, this.#compact].map((journal) => {
			const replayer = new this.#core.Replayer(this.#plan);
			assert(new this.#core.Replayer(this.#plan).run === undefined, 'there is no run before the first line');
			const steps = journal.lines().map((line) => read(replayer.nextJson(line)));
			assert(replayer.run?.snapshot() === this.#run.snapshot(), 'a replayer ends at the run');
			replayer.free();
			return steps;
		});
		assert(canonical(told[0]) === canonical(told[1]), 'a compact journal tells the same');
		return told[0];
	}

	#follow(line: string): Json {
		const replayer = new this.#core.Replayer(this.#run);
		try {
			return replayer.next(line);
		} catch (error) {
			assert(replayer.run?.snapshot() === this.#run.snapshot(), 'a line that cannot be the next changes nothing');
			return notLoaded(this.#core, error);
		} finally {
			replayer.free();
		}
	}

	/** The gate alone; the attempt is 1 unless the report says otherwise. */
	#turn(report: Json): Json {
		return orRejected(this.#core, () => this.#core.evaluateTurn(this.#plan, report as turnlatch.TurnReport));
	}

	/** What a stream says, and what the gates make of it. However it is cut, it says the same. */
	#stream(stream: turnlatch.TurnStream): Json {
		return orRejected(this.#core, () => {
			const decoded = this.#core.decodeStream(stream);
			for (const size of stream.exit_code === undefined ? [] : [1, 7, 4096]) {
				const cut = decodedInPieces(this.#core, stream, size);
				assert(compact(cut) === compact(decoded), `cut into pieces of ${size} bytes it says ${compact(cut)}`);
			}
			return { decoded, judged: this.#turn({ stream }) };
		});
	}

	#patch({ skill, mode }: { skill: string; mode: turnlatch.ExecutionMode }): Json {
		const once = this.#core.appendInstructions(skill, mode, this.#plan);
		assert(this.#core.appendInstructions(once, mode, this.#plan) === once, 'patching twice equals once');
		return once;
	}

	/** Goes on with a run that was read back, from its snapshot or by a replay. */
	#reload(source: Json): Json {
		const before = this.#run.snapshot();
		this.#run.free();
		if (source === 'snapshot') this.#run = this.#core.Run.restore(before);
		else if (source === 'journal') [this.#run] = this.#core.replay(this.#plan, this.#full);
		else if (source === 'compact_journal') [this.#run] = this.#core.replay(this.#plan, this.#compact);
		else if (source === 'record')
			[this.#run] = this.#core.replay(...this.#core.importRun(this.#core.exportRun(this.#plan, this.#full)));
		else throw new Error(`unknown source ${compact(source)}`);
		assert(this.#run.snapshot() === before, 'what was read back is what was written');
		return { status: this.#run.status };
	}

	/** Reads a document somebody has tampered with. */
	async #load(of: Json, step: Members): Promise<Json> {
		const given = of as { text: Json; as: string };
		let text: string;
		if (of === 'snapshot') text = this.#run.snapshot();
		else if (of === 'journal') text = this.#full.serialize();
		else if (of === 'compact_journal') text = this.#compact.serialize();
		else if (of === 'record') text = this.#core.exportRun(this.#plan, this.#full);
		else text = asText(given.text);
		const form = given.as ?? of;
		const snapshot = form === 'snapshot';
		if (step.entries !== undefined) text = reorder(text, step.entries as number[]);
		for (const [find, replacement] of (step.edit ?? []) as [string, string][]) {
			assert(text.includes(find), `nothing to edit: ${find} in ${text}`);
			text = text.replace(find, () => replacement);
		}
		if (step.resign === true) text = await (snapshot ? resignSnapshot(text) : resignJournal(text));
		try {
			const run = snapshot ? this.#core.Run.restore(text) : this.#replayed(text, form === 'record');
			const then = { loaded: run.status, same: run.snapshot() === this.#run.snapshot() };
			run.free();
			return then;
		} catch (error) {
			return notLoaded(this.#core, error);
		}
	}

	#replayed(text: string, record: boolean): turnlatch.Run {
		const [plan, journal] = record ? this.#core.importRun(text) : [this.#plan, this.#core.Journal.restore(text)];
		return this.#core.replay(plan, journal)[0];
	}

	/** What holds for every run, whatever the vector is about. */
	checkLaws(): void {
		const snapshot = this.#run.snapshot();
		const restored = this.#core.Run.restore(snapshot);
		assert(restored.snapshot() === snapshot, 'a snapshot is canonical');
		restored.free();
		for (const [form, journal] of [
			['full', this.#full],
			['compact', this.#compact],
		] as const) {
			const [run, effects] = this.#core.replay(this.#plan, this.#core.Journal.restore(journal.serialize()));
			assert(run.snapshot() === snapshot, `the ${form} journal replays to the same snapshot`);
			assert(canonical(effects) === canonical(this.#effects), `the ${form} journal replays the effects`);
			run.free();
		}
		noReservedKeys(this.#run.toJSON());
	}

	free(): void {
		this.#run.free();
	}
}

/** A view's exact text, read exactly; the view itself is what `JSON.parse` makes of it. */
function exact(text: string, view: Json): Json {
	assert(canonical(JSON.parse(text)) === canonical(view), 'text and view differ');
	return read(text);
}

function noReservedKeys(value: Json): void {
	if (typeof value !== 'object' || value === null) return;
	for (const [key, member] of Object.entries(value)) {
		assert(Array.isArray(value) || !/^[$_]/.test(key), `the snapshot has the key ${key}`);
		noReservedKeys(member);
	}
}

function known(members: object, names: readonly string[]): void {
	const unknown = Object.keys(members).filter((name) => !names.includes(name));
	assert(unknown.length === 0, `unknown members ${unknown}`);
}

function assert(holds: boolean, message: string): asserts holds {
	if (!holds) throw new Error(message);
}

/// <reference lib="esnext.disposable" preserve="true" />
import * as glue from 'turnlatch-glue';
import { call, Held } from './instance.js';
import { documentText, encode } from './json.js';
import { corePlan, type Plan, planOf } from './plan.js';
import { coreRun, Run, runOf } from './run.js';
import type * as types from './types.js';

let heldBy: (journal: Journal) => Held<glue.Journal>;

/** What happened to a run, in order and chained; it replays to the same run and the same effects. */
export class Journal {
	static {
		heldBy = (journal) => journal.#held;
	}
	readonly #held: Held<glue.Journal>;

	/** An empty journal for a run of this plan. */
	constructor(plan: Plan);
	/** @internal */
	constructor(core: glue.Journal);
	constructor(of: Plan | glue.Journal) {
		this.#held = new Held('journal', of instanceof glue.Journal ? of : emptyJournal(corePlan(of)));
	}

	/** Reads a journal back, as text or as data, or throws {@link LoadError}. */
	static restore(document: types.JsonDocument): Journal {
		const bytes = encode(documentText(document, 'the journal'));
		return new Journal(call(() => glue.Journal.restore(bytes)));
	}

	/** Reads a journal back from its lines ({@link encodeChained}). */
	static fromLines(runId: string, lines: Iterable<string>): Journal {
		const [id, texts] = [encode(runId), Array.from(lines, (line) => encode(String(line)))];
		return new Journal(call(() => glue.Journal.fromLines(id, texts)));
	}

	/** How many entries there are. */
	get length(): number {
		return this.#held.call((journal) => journal.length);
	}

	/** The id of the run that it is about. */
	get runId(): string {
		return this.#held.call((journal) => journal.runId);
	}

	/** The entries as JSON texts, for a store that appends them one by one. */
	lines(): string[] {
		return this.#held.call((journal) => journal.lines());
	}

	/** Appends the `entry` of a transition. */
	push(entry: string): void {
		const bytes = encode(entry);
		this.#held.call((journal) => journal.push(bytes));
	}

	/** The journal as JSON text. */
	serialize(): string {
		return this.#held.call((journal) => journal.serialize());
	}

	/** The journal as data: what `JSON.stringify` makes of it can be restored. */
	toJSON(): { [key: string]: types.Json } {
		return JSON.parse(this.serialize());
	}

	/** Gives its memory back at once, instead of when it is collected. */
	free(): void {
		this.#held.free();
	}

	/** The same as {@link Journal.free}, for `using`. */
	declare [Symbol.dispose]: () => void;
}

/** Makes a run again from its plan and journal, and gives the effects of every entry. */
export function replay(plan: Plan, journal: Journal): [Run, types.Effect[][]] {
	const of = corePlan(plan);
	const [run, effects] = heldBy(journal).call((core) => core.replay(of)) as unknown as [glue.Run, types.Effect[][]];
	return [runOf(run), effects];
}

/** A journal together with its plan as JSON text: it can be replayed by itself. */
export function exportRun(plan: Plan, journal: Journal): string {
	const of = corePlan(plan);
	return heldBy(journal).call((core) => core.exportRun(of));
}

/** Reads back what {@link exportRun} gave, or throws {@link LoadError}. */
export function importRun(document: types.JsonDocument): [Plan, Journal] {
	const bytes = encode(documentText(document, 'the exported run'));
	const [plan, journal] = call(() => glue.Journal.importRun(bytes)) as unknown as [glue.Plan, glue.Journal];
	return [planOf(plan), new Journal(journal)];
}

/**
 * Makes a run again from the lines of its journal, one by one. The chain is not checked: lines that may have been changed are read
 * with {@link Journal.fromLines} first.
 */
export class Replayer {
	readonly #held: Held<glue.Replayer>;

	/** Begins before the first line of a run of this plan, or behind the line that brought this run where it is. */
	constructor(of: Plan | Run) {
		this.#held = new Held('replayer', of instanceof Run ? replayerAfter(coreRun(of)) : replayerOf(corePlan(of)));
	}

	/** Replays the next line and says what it did, or throws {@link LoadError} and stays where it was. */
	next(line: string): types.TimelineEntry {
		return JSON.parse(this.nextJson(line));
	}

	/** The same as JSON text: what to send to a client. */
	nextJson(line: string): string {
		const bytes = encode(line);
		return this.#held.call((replayer) => replayer.next(bytes));
	}

	/** The run after the last line, as a copy; undefined before the first. */
	get run(): Run | undefined {
		const run = this.#held.call((replayer) => replayer.run);
		return run === undefined ? undefined : runOf(run);
	}

	/** Gives its memory back at once, instead of when it is collected. */
	free(): void {
		this.#held.free();
	}

	/** The same as {@link Replayer.free}, for `using`. */
	declare [Symbol.dispose]: () => void;
}

function emptyJournal(plan: glue.Plan): glue.Journal {
	return call(() => new glue.Journal(plan));
}

function replayerOf(plan: glue.Plan): glue.Replayer {
	return call(() => new glue.Replayer(plan));
}

function replayerAfter(run: glue.Run): glue.Replayer {
	return call(() => glue.Replayer.after(run));
}

for (const { prototype } of [Journal, Replayer]) {
	if (Symbol.dispose) Object.defineProperty(prototype, Symbol.dispose, { value: prototype.free });
}

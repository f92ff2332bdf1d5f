import * as glue from 'turnlatch-glue';
import { callWith, Holder, use } from './holder.js';
import { call } from './instance.js';
import { documentText, encode } from './json.js';
import { corePlan, Plan } from './plan.js';
import { Run } from './run.js';
import type * as types from './types.js';

/** What happened to a run, in order and chained; it replays to the same run and the same effects. */
export class Journal extends Holder {
	/** An empty journal for a run of this plan. */
	constructor(plan: Plan);
	/** @internal */
	constructor(core: glue.Journal);
	constructor(of: Plan | glue.Journal) {
		super('journal', of instanceof glue.Journal ? of : madeOf(corePlan(of), (plan) => new glue.Journal(plan)));
	}

	/** Reads a journal back, as text or as data, or throws {@link LoadError}. */
	static restore(document: types.JsonDocument): Journal {
		const bytes = encode(documentText(document, 'the journal'));
		return new Journal(call(() => glue.Journal.restore(bytes)));
	}

	/** Reads a journal back from its lines ({@link encodeChained}). */
	static fromLines(runId: string, lines: Iterable<string>): Journal {
		const [id, texts] = [encode(runId), Array.from(lines, (line) => encode(String(line)))];
		return new Journal(call(() => glue.Journal.from_lines(id, texts)));
	}

	/** How many entries there are. */
	get length(): number {
		return callWith(this, (journal: glue.Journal) => journal.length);
	}

	/** The id of the run that it is about. */
	get runId(): string {
		return callWith(this, (journal: glue.Journal) => journal.run_id);
	}

	/** The entries as JSON texts, for a store that appends them one by one. */
	lines(): string[] {
		return callWith(this, (journal: glue.Journal) => journal.lines());
	}

	/** Appends the `entry` of a transition. */
	push(entry: string): void {
		const bytes = encode(entry);
		callWith(this, (journal: glue.Journal) => journal.push(bytes));
	}

	/** The journal as JSON text. */
	serialize(): string {
		return callWith(this, (journal: glue.Journal) => journal.serialize());
	}

	/** The journal as data: what `JSON.stringify` makes of it can be restored. */
	toJSON(): { [key: string]: types.Json } {
		return JSON.parse(this.serialize());
	}
}

/** Makes a run again from its plan and journal, and gives the effects of every entry. */
export function replay(plan: Plan, journal: Journal): [Run, types.Effect[][]] {
	const of = corePlan(plan);
	const [run, effects] = callWith(journal, (core: glue.Journal) => core.replay(of)) as unknown as [
		glue.Run,
		types.Effect[][],
	];
	return [Run.of(run), effects];
}

/** A journal together with its plan as JSON text: it can be replayed by itself. */
export function exportRun(plan: Plan, journal: Journal): string {
	const of = corePlan(plan);
	return callWith(journal, (core: glue.Journal) => core.export_run(of));
}

/** Reads back what {@link exportRun} gave, or throws {@link LoadError}. */
export function importRun(document: types.JsonDocument): [Plan, Journal] {
	const bytes = encode(documentText(document, 'the exported run'));
	const [plan, journal] = call(() => glue.Journal.import_run(bytes)) as unknown as [glue.Plan, glue.Journal];
	return [Plan.of(plan), new Journal(journal)];
}

/**
 * Makes a run again from the lines of its journal, one by one. The chain is not checked: lines that may have been changed are read
 * with {@link Journal.fromLines} first.
 */
export class Replayer extends Holder {
	/** Begins before the first line of a run of this plan, or behind the line that brought this run where it is. */
	constructor(of: Plan | Run) {
		const core =
			of instanceof Run
				? madeOf(use<glue.Run>(of), glue.Replayer.after)
				: madeOf(corePlan(of), (plan) => new glue.Replayer(plan));
		super('replayer', core);
	}

	/** Replays the next line and says what it did, or throws {@link LoadError} and stays where it was. */
	next(line: string): types.TimelineEntry {
		return JSON.parse(this.nextJson(line));
	}

	/** The same as JSON text: what to send to a client. */
	nextJson(line: string): string {
		const bytes = encode(line);
		return callWith(this, (replayer: glue.Replayer) => replayer.next(bytes));
	}

	/** The run after the last line, as a copy; undefined before the first. */
	get run(): Run | undefined {
		const run = callWith(this, (replayer: glue.Replayer) => replayer.run);
		return run === undefined ? undefined : Run.of(run);
	}
}

/** An object of the core that is made of another. */
function madeOf<From, Made>(from: From, make: (from: From) => Made): Made {
	return call(() => make(from));
}

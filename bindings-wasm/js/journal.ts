import * as glue from 'turnlatch-glue';
import { encode } from './input.js';
import { call } from './instance.js';
import { escapeHalfPairs, readJson } from './json.js';
import { type Plan, planId, planOf } from './plan.js';
import type { Json } from './types.js';

/** One event that changed a run, for its journal. It is text, so there is nothing to free and nothing to lose with an instance. */
export class Entry {
	/** The run's revision after it. */
	readonly revision: number;
	/** The time the host gave. */
	readonly at: number;
	readonly #text: string;

	/**
	 * `text` is the entry's JSON text, with the evaluation of a turn.
	 * @internal
	 */
	constructor(revision: number, at: number, text: string) {
		this.revision = revision;
		this.at = at;
		this.#text = text;
	}

	/** The entry without a turn's text: its digest and the recorded evaluation instead. Other entries stay as they are. */
	compact(): Entry {
		const entry = encode(this.#text);
		const text = call(() => glue.entry_compact(entry));
		return new Entry(this.revision, this.at, text);
	}

	/** The entry as data; that of a turn has its `evaluation`. */
	toData(): { [key: string]: Json } {
		return readJson(this.#text) as { [key: string]: Json };
	}

	/** The entry as JSON text, chained to the text before it. */
	encodeChained(runId: string, previous?: string): string {
		const before = previous === undefined ? undefined : encode(previous);
		const [entry, id] = [encode(this.#text), encode(runId)];
		return call(() => glue.entry_encode_chained(entry, id, before));
	}
}

/** What happened to a run, in order and chained; it replays to the same run and the same effects. */
export class Journal {
	readonly #runId: string;
	readonly #lines: string[];

	/** An empty journal for a run of this plan. */
	constructor(plan: Plan);
	/** @internal */
	constructor(runId: string, lines: string[]);
	constructor(of: Plan | string, lines: string[] = []) {
		this.#runId = typeof of === 'string' ? of : of.runId;
		this.#lines = lines;
	}

	/** Reads a journal back, or throws {@link LoadError}. */
	static fromJson(text: string): Journal {
		const document = encode(text);
		return Journal.#loaded(call(() => glue.journal_from_json(document)));
	}

	/** Reads a journal back from the texts of its entries ({@link Entry.encodeChained}). */
	static fromLines(runId: string, lines: Iterable<string>): Journal {
		const texts = encode(JSON.stringify([...lines].map((line) => escapeHalfPairs(String(line)))));
		const id = encode(runId);
		return Journal.#loaded(call(() => glue.journal_from_lines(id, texts)));
	}

	static #loaded(text: string): Journal {
		const { run_id, lines } = JSON.parse(text) as { run_id: string; lines: string[] };
		return new Journal(run_id, lines);
	}

	/** How many entries there are. */
	get length(): number {
		return this.#lines.length;
	}

	/** The id of the run that it is about. */
	get runId(): string {
		return this.#runId;
	}

	/** The entries as JSON texts, for a store that appends them one by one. */
	lines(): string[] {
		return [...this.#lines];
	}

	/** Appends what {@link Run.apply} gave. */
	push(entry: Entry): void {
		this.#lines.push(entry.encodeChained(this.#runId, this.#lines.at(-1)));
	}

	/** The journal as JSON text. */
	toJson(): string {
		const lines = encode(JSON.stringify(this.#lines));
		const runId = encode(this.#runId);
		return call(() => glue.journal_to_json(runId, lines));
	}
}

/** A journal together with its plan as JSON text: it can be replayed by itself. */
export function recordJson(plan: Plan, journal: Journal): string {
	const of = planId(plan);
	const [runId, lines] = [encode(journal.runId), encode(JSON.stringify(journal.lines()))];
	return call(() => glue.record_to_json(of, runId, lines));
}

/** Reads a record back, or throws {@link LoadError}. */
export function readRecord(text: string): [Plan, Journal] {
	const document = encode(text);
	const read = call(() => glue.record_from_json(document));
	const { plan, run_id, lines } = JSON.parse(read) as { plan: number; run_id: string; lines: string[] };
	return [planOf(plan), new Journal(run_id, lines)];
}

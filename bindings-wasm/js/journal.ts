import * as glue from 'turnlatch-glue';
import { askCore } from './desk.js';
import { layEvent, type ToldEvent, wholeText } from './event.js';
import { encode } from './input.js';
import { escapeHalfPairs, readJson } from './json.js';
import { type Plan, planId, planOf } from './plan.js';
import { judgedText } from './told.js';
import type { Json } from './types.js';

/** One event that changed a run, for its journal. It is text, so there is nothing to free and nothing to lose with an instance. */
export class Entry {
	/** The run's revision after it. */
	readonly revision: number;
	/** The time the host gave. */
	readonly at: number;
	readonly #event: ToldEvent;
	readonly #judged: string;
	readonly #compact: boolean;

	/**
	 * `event` is as it was applied; `judged` is what a turn was judged to be, as the core told it, or empty.
	 * @internal
	 */
	constructor(revision: number, at: number, event: ToldEvent, judged: string, compact = false) {
		this.revision = revision;
		this.at = at;
		this.#event = event;
		this.#judged = judged;
		this.#compact = compact;
	}

	/** The entry without a turn's text: its digest and the recorded decision instead. */
	compact(): Entry {
		return new Entry(this.revision, this.at, this.#event, this.#judged, true);
	}

	/** The entry as data. */
	toData(): { [key: string]: Json } {
		const parts = this.#bytes();
		return readJson(askCore(() => glue.entry_text(...parts))) as { [key: string]: Json };
	}

	/** The entry as JSON text, chained to the text before it. */
	lineAfter(runId: string, previous?: string): string {
		const before = previous === undefined ? undefined : encode(previous);
		const [parts, id] = [this.#bytes(), encode(runId)];
		return askCore(() => glue.entry_line(...parts, id, before));
	}

	/**
	 * The same for a journal, which has written the text before it, or has checked it.
	 * @internal
	 */
	lineIn(runId: string, previous: string | undefined): string {
		if (this.#compact) return this.lineAfter(runId, previous);
		const { form } = this.#event;
		const length = layEvent(this.#event, `${previous === undefined ? runId : chainOf(previous)}\n`);
		return askCore(() => glue.entry_chained(form, this.revision, this.at, length));
	}

	#bytes(): [Uint8Array, Uint8Array | undefined, boolean] {
		const judged = this.#judged === '' || !this.#compact ? undefined : encode(judgedText(this.#judged));
		const entry = `{"revision":${this.revision},"at":${this.at},"event":${wholeText(this.#event)}}`;
		return [encode(entry), judged, this.#compact];
	}
}

/** The digest that the core has written at the end of a line. */
function chainOf(line: string): string {
	return line.slice(line.lastIndexOf(':') + 2, -2);
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

	/** Reads a journal back, or throws {@link NotLoaded}. */
	static fromJson(text: string): Journal {
		const document = encode(text);
		return Journal.#loaded(askCore(() => glue.journal_from_json(document)));
	}

	/** Reads a journal back from the texts of its entries ({@link Entry.lineAfter}). */
	static fromLines(runId: string, lines: Iterable<string>): Journal {
		const texts = encode(JSON.stringify([...lines].map((line) => escapeHalfPairs(String(line)))));
		const id = encode(runId);
		return Journal.#loaded(askCore(() => glue.journal_from_lines(id, texts)));
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
		this.#lines.push(entry.lineIn(this.#runId, this.#lines.at(-1)));
	}

	/** The journal as JSON text. */
	toJson(): string {
		const lines = encode(JSON.stringify(this.#lines));
		const runId = encode(this.#runId);
		return askCore(() => glue.journal_to_json(runId, lines));
	}
}

/** A journal together with its plan as JSON text: it can be replayed by itself. */
export function recordJson(plan: Plan, journal: Journal): string {
	const of = planId(plan);
	const [runId, lines] = [encode(journal.runId), encode(JSON.stringify(journal.lines()))];
	return askCore(() => glue.record_to_json(of, runId, lines));
}

/** Reads a record back, or throws {@link NotLoaded}. */
export function readRecord(text: string): [Plan, Journal] {
	const document = encode(text);
	const read = askCore(() => glue.record_from_json(document));
	const { plan, run_id, lines } = JSON.parse(read) as { plan: number; run_id: string; lines: string[] };
	return [planOf(plan), new Journal(run_id, lines)];
}

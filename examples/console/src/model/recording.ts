/** A recorded run: every moment of it can be looked at again. */

import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { Run, type TimelineEntry } from 'turnlatch';
import type { RunRecord, RunSource } from './run-source.js';

/** A copy is kept at every so many steps, so that no moment is far from one. */
const STRIDE = 32;

export class Recording {
	readonly runId: string;
	readonly steps: readonly TimelineEntry[];
	/** Which step was the last to happen: what the slider moves. */
	readonly position = signal(0);
	readonly run: ReadonlySignal<Run>;
	readonly #record: RunRecord;
	readonly #copies: Run[] = [];

	/** Replays the whole journal once; throws if it is not the plan's. */
	constructor(record: RunRecord) {
		const [first, ...rest] = record.lines;
		if (first === undefined) throw new Error('the journal is empty: nothing has happened to this run');
		const [run, created] = Run.first(record.plan, first);
		const steps = [created];
		this.#record = record;
		this.#copies.push(run.copy());
		for (const line of rest) {
			steps.push(run.follow(line));
			if ((steps.length - 1) % STRIDE === 0) this.#copies.push(run.copy());
		}
		this.runId = run.runId;
		this.steps = steps;
		this.position.value = steps.length - 1;
		this.run = computed(() => this.#at(this.position.value));
	}

	source(): RunSource {
		return {
			run: this.run,
			steps: computed(() => this.steps.slice(0, this.position.value + 1)),
			now: computed(() => this.steps[this.position.value]?.at ?? 0),
			record: () => Promise.resolve(this.#record),
		};
	}

	#at(position: number): Run {
		const from = Math.floor(position / STRIDE);
		const run = this.#copies[from]?.copy();
		if (run === undefined) throw new RangeError(`there is no step ${position}`);
		for (const line of this.#record.lines.slice(from * STRIDE + 1, position + 1)) run.follow(line);
		return run;
	}
}

/** A snapshot alone: one moment. */
export function momentOf(run: Run): RunSource {
	return {
		run: signal(run),
		steps: signal([]),
		now: signal(run.statusView().updated_at),
	};
}

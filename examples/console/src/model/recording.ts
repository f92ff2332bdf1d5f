/** A recorded run: every moment of it can be looked at again. */

import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Replayer, Run, TimelineEntry } from 'turnlatch';
import type { FullCore } from './full-core.js';
import type { RunRecord, RunSource } from './run-source.js';

/** A copy is kept at every so many steps, so that no moment is far from one. */
const STRIDE = 32;

export class Recording {
	readonly runId: string;
	readonly steps: readonly TimelineEntry[];
	/** Which step was the last to happen: what the slider moves. */
	readonly position = signal(0);
	readonly run: ReadonlySignal<Run>;
	readonly #core: FullCore;
	readonly #record: RunRecord;
	readonly #copies: Run[] = [];

	/** Replays the whole journal once; throws if it is not the plan's. */
	constructor(core: FullCore, record: RunRecord) {
		const [first, ...rest] = record.lines;
		if (first === undefined) throw new Error('the journal is empty: nothing has happened to this run');
		const replayer = new core.Replayer(record.plan);
		const steps = [replayer.next(first)];
		this.#core = core;
		this.#record = record;
		this.#copies.push(runOf(replayer));
		for (const line of rest) {
			steps.push(replayer.next(line));
			if ((steps.length - 1) % STRIDE === 0) this.#copies.push(runOf(replayer));
		}
		this.runId = record.plan.runId;
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
		const copy = this.#copies[from];
		if (copy === undefined) throw new RangeError(`there is no step ${position}`);
		const replayer = new this.#core.Replayer(copy);
		for (const line of this.#record.lines.slice(from * STRIDE + 1, position + 1)) replayer.next(line);
		return runOf(replayer);
	}
}

/** The run after the last line that was replayed. */
function runOf(replayer: Replayer): Run {
	const { run } = replayer;
	if (run === undefined) throw new Error('a replayer has a run after its first line');
	return run;
}

/** A snapshot alone: one moment. */
export function momentOf(run: Run): RunSource {
	return {
		run: signal(run),
		steps: signal([]),
		now: signal(run.statusView().updated_at),
	};
}

/** A run of the service, followed as it happens. */

import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { Run, type TimelineEntry } from 'turnlatch/slim';
import { AgentWords, type Said } from './agent-words.js';
import * as api from './api.js';
import { seconds } from './clock.js';
import type { StreamEvent } from './event-parser.js';
import { recordOf } from './files.js';
import { fullCore } from './full-core.js';
import type { RunSource } from './run-source.js';
import { type Connection, follow, type Stream } from './stream.js';

const AGAIN_MS = 2000;

export class LiveRun {
	readonly runId: string;
	/** What the page shows, once the run is there. */
	readonly source = signal<RunSource | undefined>(undefined);
	/** Why it is not there. */
	readonly failure = signal<api.ApiError | undefined>(undefined);
	readonly words = new AgentWords();
	readonly #steps = signal<readonly TimelineEntry[]>([]);
	readonly #stream: Stream;
	/** The run as the service last saved it, restored in the browser; it answers what is allowed. */
	#run: Signal<Run> | undefined;
	#arrived: TimelineEntry[] = [];
	#loading = false;
	#closed = false;

	constructor(runId: string) {
		this.runId = runId;
		this.#stream = follow(api.stepsPath(runId), (event) => this.#take(event));
		void this.refresh();
	}

	get connection(): ReadonlySignal<Connection> {
		return this.#stream.connection;
	}

	close(): void {
		this.#closed = true;
		this.#stream.close();
	}

	/** Fetches the run's snapshot, again as long as more has happened meanwhile. */
	async refresh(): Promise<void> {
		if (this.#loading || this.#closed) return;
		this.#loading = true;
		try {
			do {
				this.#show(Run.restore(await api.snapshot(this.runId)));
			} while (!this.#closed && this.#isBehind());
		} catch (error) {
			// What is shown stays, until the service is there again.
			if (this.#run === undefined) this.failure.value = asApiError(error);
			else setTimeout(() => void this.refresh(), AGAIN_MS);
		} finally {
			this.#loading = false;
		}
	}

	#show(run: Run): void {
		this.failure.value = undefined;
		if (this.#run !== undefined) {
			if (run.revision >= this.#run.value.revision) this.#run.value = run;
			return;
		}
		this.#run = signal(run);
		this.source.value = {
			run: this.#run,
			steps: this.#steps,
			now: seconds,
			record: async () => recordOf(await fullCore(), await api.record(this.runId)),
			requests: {
				reply: (interaction_id, response, idempotency_key) =>
					this.#sent(api.reply(this.runId, { interaction_id, response, idempotency_key })),
				cancel: (reason) => this.#sent(api.cancel(this.runId, reason)),
			},
		};
	}

	#isBehind(): boolean {
		return (this.#run?.value.revision ?? 0) < (this.#steps.value.at(-1)?.revision ?? 0);
	}

	#take(event: StreamEvent): void {
		if (event.event === 'said') this.words.take(JSON.parse(event.data) as Said);
		if (event.event !== 'step') return;
		// A turn under way makes no steps: this one has begun or ended it.
		this.words.forget();
		// Many steps come at once when a page is opened; they are shown at once, too.
		if (this.#arrived.length === 0) queueMicrotask(() => this.#showSteps());
		this.#arrived.push(JSON.parse(event.data) as TimelineEntry);
	}

	#showSteps(): void {
		this.#steps.value = [...this.#steps.value, ...this.#arrived];
		this.#arrived = [];
		void this.refresh();
	}

	/** A refusal means that this page knew less than the service, so it looks again. */
	async #sent<T>(request: Promise<T>): Promise<T> {
		try {
			return await request;
		} finally {
			void this.refresh();
		}
	}
}

function asApiError(error: unknown): api.ApiError {
	if (error instanceof api.ApiError) return error;
	const { code, message } = error as { code?: string; message?: string };
	return new api.ApiError(0, code ?? 'SNAPSHOT_INVALID', message ?? String(error));
}

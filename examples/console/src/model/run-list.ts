/** The list of runs, kept up to date. */

import { effect, type ReadonlySignal, signal } from '@preact/signals';
import * as api from './api.js';
import { refreshHealth } from './service.js';
import { type Connection, follow, type Stream } from './stream.js';

const PAGE = 50;
const LARGEST_PAGE = 200;
/** Changes that come together are fetched together. */
const CALM_MS = 150;
const FILTERS = ['status', 'skill', 'engine'] as const;

/** Which skill a run is of; only the list says so. */
export const skillOf = new Map<string, string>();

export class RunList {
	readonly rows = signal<api.Jobs['jobs']>([]);
	readonly more = signal(false);
	readonly loaded = signal(false);
	readonly failure = signal<api.ApiError | undefined>(undefined);
	readonly #stream: Stream;
	readonly #stop: () => void;
	#filters = new URLSearchParams();
	#wanted = PAGE;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#asked = 0;

	constructor() {
		this.#stream = follow('/v1/events', () => this.#soon());
		// What happened before the stream was there, or while it was away, is told by nobody.
		this.#stop = effect(() => {
			if (this.#stream.connection.value.state === 'live') this.#soon();
		});
	}

	get connection(): ReadonlySignal<Connection> {
		return this.#stream.connection;
	}

	filter(query: URLSearchParams): void {
		this.#filters = new URLSearchParams();
		for (const name of FILTERS) {
			const value = query.get(name);
			if (value) this.#filters.set(name, value);
		}
		this.#wanted = PAGE;
		void this.#load();
	}

	showMore(): void {
		this.#wanted = this.rows.value.length + PAGE;
		void this.#load();
	}

	close(): void {
		clearTimeout(this.#timer);
		this.#stop();
		this.#stream.close();
	}

	#soon(): void {
		this.#timer ??= setTimeout(() => {
			this.#timer = undefined;
			void this.#load();
			refreshHealth();
		}, CALM_MS);
	}

	async #load(): Promise<void> {
		this.#asked += 1;
		const asked = this.#asked;
		try {
			const rows: api.Jobs['jobs'] = [];
			let next: string | null = null;
			do {
				const query = new URLSearchParams(this.#filters);
				query.set('limit', String(Math.min(LARGEST_PAGE, this.#wanted - rows.length)));
				if (next !== null) query.set('before', next);
				const page: api.Jobs = await api.jobs(query);
				rows.push(...page.jobs);
				next = page.next;
			} while (next !== null && rows.length < this.#wanted);
			// An answer to an older question than the last one would show what nobody asked for.
			if (asked !== this.#asked) return;
			for (const { skill, view } of rows) skillOf.set(view.run_id, skill);
			this.rows.value = rows;
			this.more.value = next !== null;
			this.failure.value = undefined;
		} catch (error) {
			if (asked === this.#asked && error instanceof api.ApiError) this.failure.value = error;
		} finally {
			if (asked === this.#asked) this.loaded.value = true;
		}
	}
}

/** Who wants to know that a run has changed, in any process. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { type Address, connect, disconnect } from './database.js';

const LOOK_AGAIN_MS = 500;
const SILENT_MS = 5000;

/** Wakes those who watch a run. */
export class Changes {
	readonly #watchers = new Map<string, Set<() => void>>();
	readonly #followers = new Set<(runId: string | null) => void>();

	/** A run has changed; `null` says that any may have. */
	tell(runId: string | null): void {
		const watched = runId === null ? [...this.#watchers.values()] : [this.#watchers.get(runId) ?? []];
		for (const watchers of watched) for (const stir of [...watchers]) stir();
		for (const follower of [...this.#followers]) follower(runId);
	}

	/** Calls whenever the run has changed, until the function that it gives is called. */
	watch(runId: string, stir: () => void): () => void {
		const watchers = this.#watchers.get(runId) ?? new Set();
		this.#watchers.set(runId, watchers.add(stir));
		return () => {
			watchers.delete(stir);
			if (watchers.size === 0 && this.#watchers.get(runId) === watchers) this.#watchers.delete(runId);
		};
	}

	/** The id of every run that changes from now on; `null` after a gap. */
	async *follow(): AsyncGenerator<string | null, never, void> {
		const news: (string | null)[] = [];
		const signal = new Signal();
		const follower = (runId: string | null) => {
			news.push(runId);
			signal.set();
		};
		this.#followers.add(follower);
		try {
			while (true) {
				await signal.wait();
				for (let next = news.shift(); next !== undefined; next = news.shift()) yield next;
			}
		} finally {
			this.#followers.delete(follower);
		}
	}
}

/** Something has happened since the last time that somebody waited for it. */
export class Signal {
	#isSet = false;
	#wake: () => void = () => {};

	readonly set = (): void => {
		this.#isSet = true;
		this.#wake();
	};

	/** Waits until it is set, at most for this time. For one who waits at a time. */
	async wait(withinMs?: number): Promise<void> {
		if (!this.#isSet) {
			await new Promise<void>((resolve) => {
				const timer = withinMs === undefined ? undefined : setTimeout(resolve, withinMs);
				this.#wake = () => {
					clearTimeout(timer);
					resolve();
				};
			});
		}
		this.#isSet = false;
	}
}

/** Hears what the transactions of all processes announce. */
export class Listener {
	readonly #address: Address;
	readonly #tell: (runId: string | null) => void;
	readonly #stop = new AbortController();
	#client: Client | undefined;
	#ended: Promise<void> = Promise.resolve();

	constructor(address: Address, tell: (runId: string | null) => void) {
		this.#address = address;
		this.#tell = tell;
	}

	start(): void {
		this.#ended = this.#listen();
	}

	/** Ends, within a moment. */
	async stop(): Promise<void> {
		this.#stop.abort();
		if (this.#client !== undefined) await disconnect(this.#client);
		await this.#ended;
	}

	async #listen(): Promise<void> {
		const { signal } = this.#stop;
		while (!signal.aborted) {
			try {
				const client = await connect(this.#address, SILENT_MS);
				this.#client = client;
				const lost = new AbortController();
				client.once('end', () => lost.abort());
				client.on('notification', ({ payload }) => this.#tell(payload ?? null));
				await client.query('LISTEN turnlatch');
				// What happened while nobody listened has to be looked up.
				this.#tell(null);
				if (signal.aborted) await disconnect(client);
				while (!lost.signal.aborted) {
					await sleep(SILENT_MS, undefined, { signal: lost.signal }).catch(() => {});
					// A connection that is only read from never finds out that nothing comes any more.
					if (!lost.signal.aborted) await client.query('SELECT 1');
				}
			} catch {
				if (this.#client !== undefined) await disconnect(this.#client);
			}
			await sleep(LOOK_AGAIN_MS, undefined, { signal }).catch(() => {});
		}
	}
}

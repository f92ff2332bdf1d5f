/** Runs of one process: the package's driver on SQLite in the data folder. */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Journal, Plan, Receipt } from 'turnlatch';
import { Driver, DriverUsageError, LocalSlots, LocalTimers, RunNotFoundError } from 'turnlatch/driver';
import { type Database, openDatabase } from './database.js';
import { runExists } from './errors.js';
import type { Host, HostParts, SlotsView } from './host.js';
import { SqliteJobs } from './jobs.js';
import { log } from './log.js';
import type { NewFolder } from './run-folders.js';
import { WatchedStore } from './store.js';

const TRY_AGAIN_MS = 30_000;

export class EmbeddedHost implements Host {
	readonly jobs: SqliteJobs;
	readonly #store: WatchedStore;
	readonly #database: Database;
	readonly #slots: LocalSlots;
	readonly #driver: Driver;
	readonly #making = new Map<string, Promise<void>>();
	#stopping = false;

	constructor({ settings, processes, changes, onObservation }: HostParts) {
		const file = join(settings.data, 'turnlatch.sqlite');
		this.#store = new WatchedStore(file, changes, (runId) => this.#forgetSoon(runId));
		this.#database = openDatabase(file);
		this.jobs = new SqliteJobs(this.#database);
		this.#slots = new LocalSlots(settings.slots);
		this.#driver = new Driver({
			slots: this.#slots,
			timers: new LocalTimers({ keepAlive: false }),
			processes,
			store: this.#store,
			onError: (runId, what, error, attempt) =>
				log.warning`run ${runId}: ${what?.type ?? 'recovery'} failed (attempt ${attempt}): ${error}`,
			onObservation,
		});
	}

	async start(): Promise<void> {
		const unfinished = await this.#driver.recover();
		log.info`recovered ${unfinished.length} unfinished runs`;
	}

	async stop(): Promise<void> {
		this.#stopping = true;
		await this.#driver.close();
	}

	async close(): Promise<void> {
		this.#store.close();
		this.#database.close();
	}

	make(plan: Plan, skill: string, folder: NewFolder): Promise<void> {
		return this.#onlyMakerOf(plan.runId, async () => {
			if (await this.jobs.exists(plan.runId)) throw runExists();
			await this.jobs.note(plan.runId, skill);
			try {
				await folder.prepare();
				if (!(await folder.place())) await folder.replace();
				await this.#driver.start(plan);
			} finally {
				await folder.discard();
			}
		});
	}

	async tell(runId: string, event: string): Promise<Receipt | undefined> {
		try {
			return (await this.#driver.tellJson(runId, event)).receipt;
		} finally {
			// Telling an ended run something takes it into memory again.
			this.#forgetSoon(runId);
		}
	}

	async snapshot(runId: string): Promise<string> {
		return this.#store.load(runId);
	}

	async lines(runId: string, after = 0): Promise<string[]> {
		return this.#store.lines(runId, after);
	}

	async journal(runId: string): Promise<Journal> {
		return this.#store.journal(runId);
	}

	async slots(): Promise<SlotsView> {
		const held = [...this.#slots.granted()].sort();
		return { total: this.#slots.size, held, waiting: this.#slots.held().size - held.length };
	}

	async countUnfinished(): Promise<Record<string, number>> {
		return this.#driver.countUnfinished();
	}

	/** Two requests for one id must not mix up their folders: the second waits and is told that it is taken. */
	async #onlyMakerOf(runId: string, work: () => Promise<void>): Promise<void> {
		for (let other = this.#making.get(runId); other !== undefined; other = this.#making.get(runId)) {
			await other.catch(() => {});
		}
		const making = work();
		this.#making.set(runId, making);
		try {
			await making;
		} finally {
			this.#making.delete(runId);
		}
	}

	#forgetSoon(runId: string): void {
		// Not at once: this may be called inside of the save that ends the run.
		setImmediate(() => {
			this.#forget(runId).catch((error) => log.error(error)`run ${runId} could not be forgotten`);
		});
	}

	/** Takes an ended run out of memory as soon as nothing is owed for it. */
	async #forget(runId: string): Promise<void> {
		while (!this.#stopping && this.#hasEnded(runId)) {
			try {
				await this.#driver.settled(runId);
				this.#driver.forget(runId);
				return;
			} catch (error) {
				if (!(error instanceof DriverUsageError)) throw error;
				await sleep(TRY_AGAIN_MS, undefined, { ref: false });
			}
		}
	}

	/** Whether the run is in memory and has ended. */
	#hasEnded(runId: string): boolean {
		try {
			using run = this.#driver.run(runId);
			return run.ended;
		} catch (error) {
			if (error instanceof RunNotFoundError) return false;
			throw error;
		}
	}
}

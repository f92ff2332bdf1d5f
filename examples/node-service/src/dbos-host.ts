/** Runs that many services share: the package's host on DBOS, and PostgreSQL. Each service is one of its workers. */

import { Pool } from 'pg';
import { Journal, type Plan, type Receipt } from 'turnlatch';
import { DbosDriver } from 'turnlatch/dbos';
import { DriverUsageError, RunNotFoundError, StoreConflictError } from 'turnlatch/driver';
import { runExists } from './errors.js';
import type { Host, HostParts, SlotsView } from './host.js';
import { inWords, log } from './log.js';
import { PostgresJobs } from './postgres-jobs.js';
import type { NewFolder } from './run-folders.js';
import { type Settings, SettingsInvalid } from './settings.js';
import type { Changes } from './store.js';

/** How many requests read at a time. */
const READERS = 8;
/** After which time a database that does not answer is given up. */
const SILENT_MS = 15_000;
/** How long a service that is stopped in the middle of a transaction may keep others waiting. */
const IDLE_IN_TRANSACTION_MS = 5000;

export class DbosHost implements Host {
	readonly jobs: PostgresJobs;
	readonly #settings: Settings;
	readonly #changes: Changes;
	readonly #driver: DbosDriver;
	readonly #readers: Pool;
	#following: Promise<void> = Promise.resolve();
	#stopping = false;

	constructor({ settings, processes, changes, onObservation }: HostParts) {
		this.#settings = settings;
		this.#changes = changes;
		const { databaseUrl, slots, worker } = settings;
		this.#driver = new DbosDriver({
			databaseUrl,
			processes,
			slots,
			executorId: worker,
			onError: (runId, what, error, attempt) =>
				log.warning`run ${runId}: ${what?.type ?? 'a turn'} failed (attempt ${attempt}): ${error}`,
			onObservation,
		});
		this.#readers = new Pool({
			connectionString: databaseUrl,
			application_name: `turnlatch service ${worker}`,
			connectionTimeoutMillis: SILENT_MS,
			query_timeout: SILENT_MS,
			idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
			keepAlive: true,
			max: READERS,
		});
		// What breaks while nobody uses it is replaced by the next one who needs it.
		this.#readers.on('error', () => {});
		this.jobs = new PostgresJobs(this.#readers);
	}

	async start(): Promise<void> {
		try {
			await this.#driver.open();
			await this.jobs.open();
		} catch (error) {
			const why = error instanceof DriverUsageError ? error.message : `the database cannot be used: ${inWords(error)}`;
			throw new SettingsInvalid(why);
		}
		this.#following = this.#follow();
		log.info`worker ${this.#settings.worker} works`;
	}

	async stop(): Promise<void> {
		this.#stopping = true;
		await this.#driver.close();
		await this.#following;
	}

	async close(): Promise<void> {
		await this.#readers.end();
	}

	/**
	 * Makes a run and its job in one transaction, in which its folder is put into its place: a request for the same id, at
	 * whichever service, waits for its end, and no worker sees the first turn before it. The folder is filled before: the
	 * database ends a transaction that does nothing for some seconds.
	 */
	async make(plan: Plan, skill: string, folder: NewFolder): Promise<void> {
		if (await this.jobs.exists(plan.runId)) throw runExists();
		try {
			await folder.prepare();
			await this.#driver.start(plan, async (db) => {
				await this.jobs.note(db, plan.runId, skill);
				if (await folder.place()) return;
				// If the transaction still has the id, it is what a creation has left that was cut off. A service that was
				// stopped meanwhile has lost the id, and what is there is another's.
				await db.query('SELECT 1');
				await folder.replace();
			});
		} catch (error) {
			throw error instanceof StoreConflictError ? runExists() : error;
		} finally {
			await folder.discard();
		}
	}

	async tell(runId: string, event: string): Promise<Receipt | undefined> {
		return (await this.#driver.tellJson(runId, event)).receipt;
	}

	async snapshot(runId: string): Promise<string> {
		const snapshot = await this.jobs.snapshot(runId);
		if (snapshot === undefined) throw new RunNotFoundError(runId);
		return snapshot;
	}

	async lines(runId: string, after = 0): Promise<string[]> {
		const lines = await this.jobs.lines(runId, after);
		if (lines.length === 0 && !(await this.jobs.exists(runId))) throw new RunNotFoundError(runId);
		return lines;
	}

	async journal(runId: string): Promise<Journal> {
		return Journal.fromLines(runId, await this.lines(runId));
	}

	async slots(): Promise<SlotsView> {
		return { total: this.#settings.slots, ...(await this.jobs.slots()) };
	}

	async countUnfinished(): Promise<Record<string, number>> {
		return this.jobs.countUnfinished();
	}

	/** Passes on what changes in any service. */
	async #follow(): Promise<void> {
		try {
			for await (const runId of this.#driver.changes()) {
				if (runId === null) this.#changes.tellAll();
				else this.#changes.tell(runId);
			}
		} catch (error) {
			if (!this.#stopping) log.error(error)`changes are not followed any more`;
		}
	}
}

/** Runs that many services share: the package's host on DBOS, and PostgreSQL. Each service is one of its workers. */

import { Pool } from 'pg';
import { Journal, type Plan, type Receipt } from 'turnlatch';
import { DbosDriver } from 'turnlatch/dbos';
import { DriverMisused, RunUnknown } from 'turnlatch/driver';
import type { Host, HostParts, SlotsView } from './host.js';
import { inWords, log } from './log.js';
import { PostgresJobs } from './postgres-jobs.js';
import { type Settings, SettingsInvalid } from './settings.js';
import type { Changes } from './store.js';

/** How many requests read at a time, and how many make runs. */
const [READERS, MAKERS] = [8, 8];
/** A service that is stopped while it makes a run must not keep others from making one of that id for ever. */
const LONGEST_MAKING_MS = 60_000;

export class DbosHost implements Host {
	readonly jobs: PostgresJobs;
	readonly #settings: Settings;
	readonly #changes: Changes;
	readonly #driver: DbosDriver;
	readonly #readers: Pool;
	/** Of their own: who makes a run holds one while he reads. */
	readonly #makers: Pool;
	#following: Promise<void> = Promise.resolve();
	#stopping = false;

	constructor({ settings, processes, changes, onObserved }: HostParts) {
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
			onObserved,
		});
		const database = { connectionString: databaseUrl, application_name: 'turnlatch-service' };
		this.#readers = new Pool({ ...database, max: READERS });
		const longest = { idle_in_transaction_session_timeout: LONGEST_MAKING_MS };
		this.#makers = new Pool({ ...database, max: MAKERS, ...longest });
		// What breaks while nobody uses it is replaced by the next one who needs it.
		for (const pool of [this.#readers, this.#makers]) pool.on('error', () => {});
		this.jobs = new PostgresJobs(this.#readers);
	}

	async start(): Promise<void> {
		try {
			await this.#driver.open();
			await this.jobs.open();
		} catch (error) {
			const why = error instanceof DriverMisused ? error.message : `the database cannot be used: ${inWords(error)}`;
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
		await Promise.all([this.#readers.end(), this.#makers.end()]);
	}

	/** The services share the folders of runs too, so the lock is the database's. */
	async onlyMakerOf(runId: string, work: () => Promise<void>): Promise<void> {
		const client = await this.#makers.connect();
		const ignore = () => {};
		client.on('error', ignore);
		let broken = true;
		try {
			await client.query('BEGIN');
			await client.query("SELECT pg_advisory_xact_lock(hashtextextended('turnlatch job ' || $1, 0))", [runId]);
			try {
				await work();
			} finally {
				broken = await client.query('COMMIT').then(
					() => false,
					() => true,
				);
			}
		} finally {
			client.off('error', ignore);
			client.release(broken);
		}
	}

	async create(plan: Plan): Promise<void> {
		await this.#driver.start(plan);
	}

	async tell(runId: string, event: string): Promise<Receipt | undefined> {
		return (await this.#driver.tellJson(runId, event)).receipt;
	}

	async snapshot(runId: string): Promise<string> {
		const snapshot = await this.jobs.snapshot(runId);
		if (snapshot === undefined) throw new RunUnknown(runId);
		return snapshot;
	}

	async lines(runId: string, after = 0): Promise<string[]> {
		const lines = await this.jobs.lines(runId, after);
		if (lines.length === 0 && !(await this.jobs.exists(runId))) throw new RunUnknown(runId);
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

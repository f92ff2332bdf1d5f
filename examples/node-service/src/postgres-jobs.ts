/** What the service asks PostgreSQL itself, beside the tables of the package's host on DBOS. */

import type { Pool, PoolClient } from 'pg';
import type { Transaction } from 'turnlatch/dbos';
import { CHANGES_AT_ONCE, type Change, type JobRow, type Jobs, ROWS_AT_ONCE } from './jobs.js';

const SCHEMA = [
	'CREATE TABLE IF NOT EXISTS turnlatch_jobs (run_id TEXT PRIMARY KEY, skill TEXT NOT NULL)',
	'CREATE INDEX IF NOT EXISTS turnlatch_runs_newest ON turnlatch_runs (created_at, run_id)',
];
/** Numbers of the service's own among the database's advisory locks. */
const SCHEMA_LOCK = '8391739297446756353';
const NUMBERS_LOCK = '8391739297446756355';
/** The order within one run is that of its revisions; of several runs, those that were committed earlier come first. */
const NUMBER = `
UPDATE turnlatch_journal AS journal SET number = last.number + new.place
FROM (SELECT coalesce(max(number), 0) AS number FROM turnlatch_journal) AS last,
    (SELECT run_id, revision, row_number() OVER (ORDER BY revision, run_id) AS place
        FROM turnlatch_journal WHERE number IS NULL) AS new
WHERE journal.run_id = new.run_id AND journal.revision = new.revision
`;
const NEWEST = `
SELECT runs.run_id, runs.revision::float8 AS revision, jobs.skill
FROM turnlatch_runs AS runs JOIN turnlatch_jobs AS jobs USING (run_id)
WHERE ($1::text IS NULL OR (runs.created_at, runs.run_id) < (SELECT created_at, run_id FROM turnlatch_runs WHERE run_id = $1))
AND ($2::text IS NULL OR jobs.skill = $2)
ORDER BY runs.created_at DESC, runs.run_id DESC LIMIT ${ROWS_AT_ONCE}
`;

/** What is asked of one run; each query has one of them. */
interface RunColumns {
	readonly snapshot: string;
	readonly line: string;
}

/** The table `turnlatch_jobs`, and reading what the services of a database share. */
export class PostgresJobs implements Jobs {
	readonly #pool: Pool;

	constructor(pool: Pool) {
		this.#pool = pool;
	}

	/** Makes the table if it is not there; the package's own have to be. */
	async open(): Promise<void> {
		await this.#locked(SCHEMA_LOCK, async (db) => {
			for (const statement of SCHEMA) await db.query(statement);
		});
	}

	async exists(runId: string): Promise<boolean> {
		return (await this.#ofRun('SELECT 1 FROM turnlatch_runs WHERE run_id = $1', runId)).length > 0;
	}

	/** The run as it was saved last; `undefined` if there is none. */
	async snapshot(runId: string): Promise<string | undefined> {
		const [row] = await this.#ofRun('SELECT snapshot FROM turnlatch_runs WHERE run_id = $1', runId);
		return row?.snapshot;
	}

	/** The lines of its journal after a revision. */
	async lines(runId: string, after: number): Promise<string[]> {
		const query = 'SELECT line FROM turnlatch_journal WHERE run_id = $1 AND revision > $2 ORDER BY revision';
		return (await this.#ofRun(query, runId, after)).map(({ line }) => line);
	}

	/** Notes a run's skill, in the transaction that makes the run. */
	async note(db: Transaction, runId: string, skill: string): Promise<void> {
		const statement = `INSERT INTO turnlatch_jobs (run_id, skill) VALUES ($1, $2)
			ON CONFLICT (run_id) DO UPDATE SET skill = excluded.skill`;
		await db.query(statement, [runId, skill]);
	}

	async lastChange(): Promise<number> {
		await this.#number();
		const { rows } = await this.#pool.query('SELECT coalesce(max(number), 0)::float8 AS number FROM turnlatch_journal');
		return rows[0].number;
	}

	async changesAfter(number: number): Promise<Change[]> {
		await this.#number();
		const query = `SELECT number::float8 AS number, run_id, revision::float8 AS revision FROM turnlatch_journal
			WHERE number > $1 ORDER BY number LIMIT $2`;
		return (await this.#pool.query(query, [number, CHANGES_AT_ONCE])).rows;
	}

	async newest(before: string | undefined, skill: string | undefined): Promise<JobRow[]> {
		return (await this.#pool.query(NEWEST, [before, skill])).rows;
	}

	/** The slots in use by any worker, and how many runs wait for one. */
	async slots(): Promise<{ held: string[]; waiting: number }> {
		const held = await this.#pool.query('SELECT slot_id FROM turnlatch_slots');
		const queued = "SELECT count(*)::int AS waiting FROM turnlatch_runs WHERE ended = 0 AND status = 'queued'";
		const [{ waiting }] = (await this.#pool.query(queued)).rows;
		return { held: held.rows.map(({ slot_id }) => slot_id).sort(), waiting };
	}

	async countUnfinished(): Promise<Record<string, number>> {
		const asked = 'SELECT status, count(*)::int AS number FROM turnlatch_runs WHERE ended = 0 GROUP BY status';
		const { rows } = await this.#pool.query(asked);
		return Object.fromEntries(rows.map(({ status, number }) => [status, number]));
	}

	async #ofRun(query: string, runId: string, ...values: unknown[]): Promise<RunColumns[]> {
		// There are characters that PostgreSQL does not take, and no id has them.
		if (!/^[\x21-\x7e]+$/.test(runId)) return [];
		return (await this.#pool.query(query, [runId, ...values])).rows;
	}

	/**
	 * Gives numbers to the changes that have none. Afterwards and one at a time: of two that were numbered when they were
	 * written, the greater could be seen first, and who has seen it would never ask for the other.
	 */
	async #number(): Promise<void> {
		const asked = 'SELECT EXISTS (SELECT FROM turnlatch_journal WHERE number IS NULL) AS has_new';
		if ((await this.#pool.query(asked)).rows[0].has_new) await this.#locked(NUMBERS_LOCK, (db) => db.query(NUMBER));
	}

	async #locked(key: string, work: (db: PoolClient) => Promise<unknown>): Promise<void> {
		const db = await this.#pool.connect();
		let broken = true;
		try {
			await db.query('BEGIN');
			await db.query('SELECT pg_advisory_xact_lock($1)', [key]);
			await work(db);
			await db.query('COMMIT');
			broken = false;
		} finally {
			db.release(broken);
		}
	}
}

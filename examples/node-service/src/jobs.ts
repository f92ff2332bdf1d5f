/** Which skill each run is of, and what has changed in which order. */

import type { Database } from './database.js';

const SCHEMA = 'CREATE TABLE IF NOT EXISTS jobs (run_id TEXT PRIMARY KEY, skill TEXT NOT NULL)';
export const CHANGES_AT_ONCE = 500;
export const ROWS_AT_ONCE = 100;
const NEWEST = `
SELECT runs.run_id, runs.revision, jobs.skill FROM runs JOIN jobs USING (run_id)
WHERE runs.rowid < coalesce((SELECT rowid FROM runs WHERE run_id = ?), ${Number.MAX_SAFE_INTEGER})
AND coalesce(jobs.skill = ?, 1) ORDER BY runs.rowid DESC LIMIT ${ROWS_AT_ONCE}
`;

/** One entry of one run's journal, by its place among all entries. */
export interface Change {
	readonly number: number;
	readonly run_id: string;
	readonly revision: number;
}

/** A run and the skill it is of. */
export interface JobRow {
	readonly run_id: string;
	readonly revision: number;
	readonly skill: string;
}

/** What is known of jobs beside their runs. */
export interface Jobs {
	/** Whether there is such a run. A job that was noted but never became a run does not count. */
	exists(runId: string): Promise<boolean>;
	/** The number of the newest change. */
	lastChange(): Promise<number>;
	/** The next changes; ask again after the last of them until there are none. */
	changesAfter(number: number): Promise<Change[]>;
	/** Runs, newest first, that were made before another one; ask again before the last of them until there are none. */
	newest(before: string | undefined, skill: string | undefined): Promise<JobRow[]>;
}

/** The table `jobs`, beside the store's own tables in the same file. */
export class SqliteJobs implements Jobs {
	readonly #db: Database;

	constructor(db: Database) {
		this.#db = db;
		db.exec(SCHEMA);
	}

	async exists(runId: string): Promise<boolean> {
		return this.#db.prepare('SELECT 1 FROM runs WHERE run_id = ?').get(runId) !== undefined;
	}

	/** Notes a run's skill, durably, before the run is made. */
	async note(runId: string, skill: string): Promise<void> {
		this.#db.prepare('INSERT OR REPLACE INTO jobs VALUES (?, ?)').run(runId, skill);
	}

	async lastChange(): Promise<number> {
		const asked = this.#db.prepare('SELECT coalesce(max(rowid), 0) AS number FROM journal').get();
		return (asked as unknown as Change).number;
	}

	async changesAfter(number: number): Promise<Change[]> {
		const query = 'SELECT rowid AS number, run_id, revision FROM journal WHERE rowid > ? ORDER BY rowid LIMIT ?';
		return this.#db.prepare(query).all(number, CHANGES_AT_ONCE) as unknown as Change[];
	}

	async newest(before: string | undefined, skill: string | undefined): Promise<JobRow[]> {
		return this.#db.prepare(NEWEST).all(before ?? null, skill ?? null) as unknown as JobRow[];
	}
}

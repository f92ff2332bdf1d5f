/** Which skill each run is of, and what has changed in which order. */

import type { Database } from './database.js';

const SCHEMA = 'CREATE TABLE IF NOT EXISTS jobs (run_id TEXT PRIMARY KEY, skill TEXT NOT NULL)';
const CHANGES_AT_ONCE = 500;

/** One entry of one run's journal, by its place among all entries. */
export interface Change {
	readonly number: number;
	readonly run_id: string;
	readonly revision: number;
}

/** The table `jobs`, beside the store's own tables in the same file. */
export class Jobs {
	readonly #db: Database;

	constructor(db: Database) {
		this.#db = db;
		db.exec(SCHEMA);
	}

	/** Whether there is such a run. A job that was noted but never became a run does not count. */
	exists(runId: string): boolean {
		return this.#db.prepare('SELECT 1 FROM runs WHERE run_id = ?').get(runId) !== undefined;
	}

	/** Notes a run's skill, durably, before the run is made. */
	note(runId: string, skill: string): void {
		this.#db.prepare('INSERT OR REPLACE INTO jobs VALUES (?, ?)').run(runId, skill);
	}

	/** The number of the newest change. */
	lastChange(): number {
		const asked = this.#db.prepare('SELECT coalesce(max(rowid), 0) AS number FROM journal').get();
		return (asked as unknown as Change).number;
	}

	/** The next changes; ask again after the last of them until there are none. */
	changesAfter(number: number): Change[] {
		const query = 'SELECT rowid AS number, run_id, revision FROM journal WHERE rowid > ? ORDER BY rowid LIMIT ?';
		return this.#db.prepare(query).all(number, CHANGES_AT_ONCE) as unknown as Change[];
	}
}

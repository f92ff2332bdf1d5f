/** A store in one SQLite file, with the tables of the Python package: the two read each other's files. */

import { RunNotFoundError, type Store, StoreConflictError } from '../driver/index.js';
import { compactEntry, encodeChained, Journal } from '../public.js';
import { DatabaseOwner } from './owner.js';

/**
 * An open database. That of `node:sqlite` (Node 22 and later), `better-sqlite3`, `libsql` and `@photostructure/sqlite`
 * all have what is needed, so none of them is a dependency.
 */
export interface SqliteDatabase {
	exec(sql: string): unknown;
	prepare(sql: string): SqliteStatement;
	close(): unknown;
}

export interface SqliteStatement {
	run(...values: (string | number)[]): { readonly changes: number | bigint };
	get(...values: (string | number)[]): unknown;
	all(...values: (string | number)[]): unknown[];
}

const SCHEMA = `
CREATE TABLE IF NOT EXISTS runs (
    run_id TEXT PRIMARY KEY, revision INTEGER NOT NULL, snapshot TEXT NOT NULL, ended INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS runs_unfinished ON runs (run_id) WHERE NOT ended;
CREATE TABLE IF NOT EXISTS journal (
    run_id TEXT NOT NULL, revision INTEGER NOT NULL, line TEXT NOT NULL, PRIMARY KEY (run_id, revision)
);
CREATE TABLE IF NOT EXISTS begun (
    run_id TEXT NOT NULL, effect_id TEXT NOT NULL, PRIMARY KEY (run_id, effect_id)
) WITHOUT ROWID;
`;

export interface SqliteStoreOptions {
	/** Keeps journals without the turns' texts. */
	readonly compact?: boolean;
	/** Opens a second file of SQLite, by which the database is kept to one host: `new` of the database's own class. */
	readonly open?: (path: string) => SqliteDatabase;
}

/**
 * Snapshots, journals and the log of begun effects. Every call waits for the disk, and so does the event loop: some
 * milliseconds for a save.
 *
 * A file has one store at a time, until {@link SqliteStore.close} or the end of the process: a second one, in this process
 * or another, in Node or Python, is `DriverUsageError` with the code `DATABASE_IN_USE` and the owner's `pid` in `details`.
 * To read only, open the file with SQLite itself.
 */
export class SqliteStore implements Store {
	readonly #db: SqliteDatabase;
	readonly #compact: boolean;
	readonly #owner: DatabaseOwner | undefined;

	/** The store sets the database's modes, and closes it with {@link SqliteStore.close}. */
	constructor(database: SqliteDatabase, { compact = false, open = openerLike(database) }: SqliteStoreOptions = {}) {
		this.#db = database;
		this.#compact = compact;
		const main = database.prepare("SELECT file FROM pragma_database_list WHERE name = 'main'").get();
		const { file } = main as { file: string | null };
		// A database in memory has no other user.
		this.#owner = file === null || file === '' ? undefined : new DatabaseOwner(file, open);
		try {
			database.exec('PRAGMA busy_timeout = 5000');
			database.exec('PRAGMA journal_mode = WAL');
			database.exec('PRAGMA synchronous = FULL');
			database.exec(SCHEMA);
		} catch (error) {
			this.#owner?.release();
			throw error;
		}
	}

	/** Keeps a new run and its first journal line, in one transaction. */
	create(runId: string, snapshot: string, entry: string): void {
		this.#write(() => {
			const { changes } = this.#db.prepare('INSERT OR IGNORE INTO runs VALUES (?, 1, ?, 0)').run(runId, snapshot);
			if (Number(changes) !== 1) throw new StoreConflictError('RUN_EXISTS', `there is a run ${runId} already`);
			this.#append(runId, 1, entry);
		});
	}

	/** Keeps a run's next state and its journal line, in one transaction. */
	save(runId: string, expectedRevision: number, snapshot: string, entry: string, ended: boolean): void {
		this.#write(() => {
			const { changes } = this.#db
				.prepare('UPDATE runs SET revision = ?, snapshot = ?, ended = ? WHERE run_id = ? AND revision = ?')
				.run(expectedRevision + 1, snapshot, Number(ended), runId, expectedRevision);
			if (Number(changes) !== 1) {
				const found = this.#column(runId, 'revision');
				throw new StoreConflictError('STORE_CONFLICT', `expected revision ${expectedRevision}, found ${found}`);
			}
			const last = this.#db
				.prepare('SELECT line FROM journal WHERE run_id = ? ORDER BY revision DESC LIMIT 1')
				.get(runId) as { line: string };
			this.#append(runId, expectedRevision + 1, entry, last.line);
		});
	}

	/** The last snapshot. */
	load(runId: string): string {
		return String(this.#column(runId, 'snapshot'));
	}

	/** The runs that have not ended, oldest first. */
	unfinished(): string[] {
		const rows = this.#db.prepare('SELECT run_id FROM runs WHERE NOT ended ORDER BY rowid').all();
		return (rows as { run_id: string }[]).map((row) => row.run_id);
	}

	/** Notes that an effect is about to be performed. */
	markBegun(runId: string, effectId: string): void {
		this.#write(() => this.#db.prepare('INSERT OR IGNORE INTO begun VALUES (?, ?)').run(runId, effectId));
	}

	/** Whether that was noted. */
	wasBegun(runId: string, effectId: string): boolean {
		const asked = this.#db.prepare('SELECT count(*) AS n FROM begun WHERE run_id = ? AND effect_id = ?');
		return Number((asked.get(runId, effectId) as { n: number | bigint }).n) > 0;
	}

	/** The run's journal. */
	journal(runId: string): Journal {
		return Journal.fromLines(runId, this.lines(runId));
	}

	/** The lines of the run's journal after a revision, for somebody who follows it. */
	lines(runId: string, after = 0): string[] {
		this.#column(runId, 'revision');
		const asked = 'SELECT line FROM journal WHERE run_id = ? AND revision > ? ORDER BY revision';
		const rows = this.#db.prepare(asked).all(runId, after);
		return (rows as { line: string }[]).map((row) => row.line);
	}

	/** Closes the database and lets the next store have it. */
	close(): void {
		this.#db.close();
		this.#owner?.release();
	}

	#append(runId: string, revision: number, entry: string, previous?: string): void {
		const line = encodeChained(this.#compact ? compactEntry(entry) : entry, runId, previous);
		this.#db.prepare('INSERT INTO journal VALUES (?, ?, ?)').run(runId, revision, line);
	}

	#column(runId: string, name: 'revision' | 'snapshot'): unknown {
		const row = this.#db.prepare(`SELECT ${name} FROM runs WHERE run_id = ?`).get(runId);
		if (row === undefined || row === null) throw new RunNotFoundError(runId);
		return (row as Record<string, unknown>)[name];
	}

	#write(work: () => void): void {
		// IMMEDIATE takes the write lock before the revision is compared: nothing can come between.
		this.#db.exec('BEGIN IMMEDIATE');
		try {
			work();
			this.#db.exec('COMMIT');
		} catch (error) {
			try {
				this.#db.exec('ROLLBACK');
			} catch {
				// SQLite has done it already for some errors; the first error says what went wrong.
			}
			throw error;
		}
	}
}

/** All the classes that {@link SqliteDatabase} names are made with a path. */
function openerLike(database: SqliteDatabase): (path: string) => SqliteDatabase {
	return (path) => {
		const opened: SqliteDatabase = new (database.constructor as new (path: string) => SqliteDatabase)(path);
		if (typeof opened.exec === 'function') return opened;
		throw new TypeError('the class of the database opens no file: give the store `open`');
	};
}

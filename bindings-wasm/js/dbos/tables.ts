/**
 * The rows of runs: snapshots, journals, what was begun, and who carries out which turn. The tables are those of the
 * Python package.
 *
 * Every function works in the transaction of the connection it is given.
 */

import { DriverUsageError, RunNotFoundError, StoreConflictError } from '../driver/index.js';
import { compactEntry, encodeChained, type Status } from '../public.js';
import type { Connection } from './database.js';

const SCHEMA = [
	`CREATE TABLE IF NOT EXISTS turnlatch_runs (
		run_id TEXT PRIMARY KEY, created_at BIGINT NOT NULL, revision BIGINT NOT NULL, snapshot TEXT NOT NULL,
		ended INTEGER NOT NULL DEFAULT 0, status TEXT NOT NULL
	)`,
	'CREATE INDEX IF NOT EXISTS turnlatch_runs_unfinished ON turnlatch_runs (created_at, run_id) WHERE ended = 0',
	`CREATE TABLE IF NOT EXISTS turnlatch_journal (
		run_id TEXT NOT NULL, revision BIGINT NOT NULL, line TEXT NOT NULL, number BIGINT,
		PRIMARY KEY (run_id, revision)
	)`,
	'CREATE UNIQUE INDEX IF NOT EXISTS turnlatch_journal_number ON turnlatch_journal (number)',
	'CREATE INDEX IF NOT EXISTS turnlatch_journal_new ON turnlatch_journal (revision, run_id) WHERE number IS NULL',
	`CREATE TABLE IF NOT EXISTS turnlatch_begun (
		run_id TEXT NOT NULL, effect_id TEXT NOT NULL, PRIMARY KEY (run_id, effect_id)
	)`,
	`CREATE TABLE IF NOT EXISTS turnlatch_slots (
		slot_id TEXT PRIMARY KEY, run_id TEXT NOT NULL, executor_id TEXT NOT NULL, holder TEXT NOT NULL
	)`,
	'CREATE INDEX IF NOT EXISTS turnlatch_slots_run ON turnlatch_slots (run_id)',
];
const META = 'CREATE TABLE IF NOT EXISTS turnlatch_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)';
/** Numbers of this package's own among the database's advisory locks: that of the schema, that of the slots. */
const SCHEMA_LOCK = 0x7475726e_00000001n;
const SLOTS_LOCK = 0x7475726e_00000002n;
const HOST = 'node';
/** Holds the slots that were taken away from a worker. */
export const NOBODY = '';

/** This worker does not carry out the turn any more: another one does, or will. */
export class Displaced extends Error {}

/**
 * The right to carry out a turn: `holder` is made anew each time its workflow begins, so that of two that carry out the
 * same one the earlier is out.
 */
export interface Hold {
	readonly slotId: string;
	readonly executorId: string;
	readonly holder: string;
}

/** A slot that is held, for which run and by which execution; by none if `holder` is {@link NOBODY}. */
export interface Held {
	readonly slotId: string;
	readonly runId: string;
	readonly holder: string;
}

/** A run as it is to be kept. */
export interface Kept {
	readonly runId: string;
	readonly revision: number;
	readonly snapshot: string;
	readonly status: Status;
	readonly ended: boolean;
}

/** Reads and writes rows. `compact` keeps journals without the turns' texts. */
export class Tables {
	readonly #compact: boolean;

	constructor(compact: boolean) {
		this.#compact = compact;
	}

	/** Makes the tables that are not there. Throws `DATABASE_IN_USE` if those that are there belong to the Python host. */
	async createAll(db: Connection): Promise<void> {
		await advisoryLock(db, SCHEMA_LOCK);
		// Before there was a note of the host there was only one host.
		const isOld = (await value(db, "SELECT to_regclass('turnlatch_runs') IS NOT NULL")) === true;
		await db.query(META);
		const note = "INSERT INTO turnlatch_meta (name, value) VALUES ('host', $1) ON CONFLICT DO NOTHING";
		await db.query(note, [isOld ? 'python' : HOST]);
		const host = await value(db, "SELECT value FROM turnlatch_meta WHERE name = 'host'");
		if (host !== HOST) {
			const message = `the database belongs to hosts of another kind (${host}): Node's need their own`;
			throw new DriverUsageError('DATABASE_IN_USE', message);
		}
		for (const statement of SCHEMA) await db.query(statement);
	}

	// Runs and journals.

	/** Keeps a new run, or throws `RUN_EXISTS`. Gives its first journal line. */
	async insert(db: Connection, { runId, revision, snapshot, status }: Kept, entry: string): Promise<string> {
		const statement = `INSERT INTO turnlatch_runs (run_id, created_at, revision, snapshot, status)
			VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`;
		const { at } = JSON.parse(entry) as { at: number };
		const { rowCount } = await db.query(statement, [runId, at, revision, snapshot, status]);
		if (rowCount !== 1) throw new StoreConflictError('RUN_EXISTS', `there is a run ${runId} already`);
		return this.#append(db, runId, revision, entry, undefined);
	}

	/** Keeps the next state of a run that {@link Tables.locked} has read. Gives its journal line. */
	async update(db: Connection, { runId, revision, snapshot, status, ended }: Kept, entry: string): Promise<string> {
		const statement = `UPDATE turnlatch_runs SET revision = $2, snapshot = $3, ended = $4, status = $5
			WHERE run_id = $1`;
		await db.query(statement, [runId, revision, snapshot, Number(ended), status]);
		const last = 'SELECT line FROM turnlatch_journal WHERE run_id = $1 ORDER BY revision DESC LIMIT 1';
		return this.#append(db, runId, revision, entry, String(await value(db, last, runId)));
	}

	/** The run's snapshot; nobody else changes the run before this transaction ends. */
	async locked(db: Connection, runId: string): Promise<string> {
		return String(await ofRun(db, 'SELECT snapshot FROM turnlatch_runs WHERE run_id = $1 FOR UPDATE', runId));
	}

	/** The same; `undefined` if there is no such run. */
	async lock(db: Connection, runId: string): Promise<string | undefined> {
		try {
			return await this.locked(db, runId);
		} catch (error) {
			if (error instanceof RunNotFoundError) return undefined;
			throw error;
		}
	}

	/** The run's snapshot, or throws `RUN_UNKNOWN`. */
	async snapshot(db: Connection, runId: string): Promise<string> {
		return String(await ofRun(db, 'SELECT snapshot FROM turnlatch_runs WHERE run_id = $1', runId));
	}

	/** The run's revision, or throws `RUN_UNKNOWN`. */
	async revision(db: Connection, runId: string): Promise<number> {
		return Number(await ofRun(db, 'SELECT revision FROM turnlatch_runs WHERE run_id = $1', runId));
	}

	/** The runs that have not ended, oldest first. */
	unfinished(db: Connection): Promise<string[]> {
		return texts(db, 'SELECT run_id FROM turnlatch_runs WHERE ended = 0 ORDER BY created_at, run_id');
	}

	/** How many runs have not ended, by their status. */
	async countUnfinished(db: Connection): Promise<Record<string, number>> {
		const asked = 'SELECT status, count(*)::int AS number FROM turnlatch_runs WHERE ended = 0 GROUP BY status';
		const { rows } = await db.query(asked);
		return Object.fromEntries(rows.map(({ status, number }) => [status, number]));
	}

	/** The lines of the run's journal after a revision. */
	async lines(db: Connection, runId: string, after: number): Promise<string[]> {
		await this.revision(db, runId);
		const asked = 'SELECT line FROM turnlatch_journal WHERE run_id = $1 AND revision > $2 ORDER BY revision';
		return texts(db, asked, runId, after);
	}

	/** Whether exactly this was journaled: what to ask after a commit that may or may not have happened. */
	async hasLine(db: Connection, runId: string, revision: number, line: string): Promise<boolean> {
		const asked = 'SELECT line FROM turnlatch_journal WHERE run_id = $1 AND revision = $2';
		return (await value(db, asked, runId, revision)) === line;
	}

	// What must not happen twice.

	/** Notes that an effect is about to be performed. */
	async markBegun(db: Connection, runId: string, effectId: string): Promise<void> {
		const statement = 'INSERT INTO turnlatch_begun (run_id, effect_id) VALUES ($1, $2) ON CONFLICT DO NOTHING';
		await db.query(statement, [runId, effectId]);
	}

	/** Whether that was noted for any of them. */
	async wasBegun(db: Connection, runId: string, effectIds: readonly string[]): Promise<boolean> {
		const asked = 'SELECT EXISTS (SELECT FROM turnlatch_begun WHERE run_id = $1 AND effect_id = ANY($2))';
		return (await value(db, asked, runId, effectIds)) === true;
	}

	// Who carries out which turn.

	/**
	 * Carries out the turn from now on, in the place of an earlier holder; `false` if no slot is free.
	 *
	 * The queue's limit is counted on snapshots that two workers may take at the same time; this count is exact.
	 */
	async takeSlot(db: Connection, runId: string, hold: Hold, limit: number): Promise<boolean> {
		await advisoryLock(db, SLOTS_LOCK);
		const { slotId, executorId, holder } = hold;
		if (!(await this.isHeld(db, slotId)) && Number(await value(db, 'SELECT COUNT(*) FROM turnlatch_slots')) >= limit) {
			return false;
		}
		const statement = `INSERT INTO turnlatch_slots (slot_id, run_id, executor_id, holder) VALUES ($1, $2, $3, $4)
			ON CONFLICT (slot_id) DO UPDATE SET executor_id = $3, holder = $4`;
		await db.query(statement, [slotId, runId, executorId, holder]);
		return true;
	}

	/** Holds the slot in the place of an earlier execution, if one has it. */
	async adoptSlot(db: Connection, { slotId, executorId, holder }: Hold): Promise<void> {
		const statement = 'UPDATE turnlatch_slots SET executor_id = $2, holder = $3 WHERE slot_id = $1';
		await db.query(statement, [slotId, executorId, holder]);
	}

	/** Throws {@link Displaced} if the turn is somebody else's; if not, it stays so in this transaction. */
	async check(db: Connection, { slotId, holder }: Hold): Promise<void> {
		if ((await this.holder(db, slotId)) !== holder) throw new Displaced();
	}

	/** The execution that holds the slot, until this transaction ends; `undefined` if the slot is free. */
	async holder(db: Connection, slotId: string): Promise<unknown> {
		return value(db, 'SELECT holder FROM turnlatch_slots WHERE slot_id = $1 FOR UPDATE', slotId);
	}

	/** The same as an answer, without a lock. */
	async holds(db: Connection, { slotId, holder }: Hold): Promise<boolean> {
		return (await value(db, 'SELECT holder FROM turnlatch_slots WHERE slot_id = $1', slotId)) === holder;
	}

	/** Whether the slot was granted and not given back. */
	async isHeld(db: Connection, slotId: string): Promise<boolean> {
		return (await value(db, 'SELECT holder FROM turnlatch_slots WHERE slot_id = $1', slotId)) !== undefined;
	}

	/** The slot is free again, unless somebody else has it. */
	async releaseSlot(db: Connection, { slotId, holder }: Hold): Promise<void> {
		await db.query('DELETE FROM turnlatch_slots WHERE slot_id = $1 AND holder = $2', [slotId, holder]);
	}

	/** The slot is free again, whichever execution had it. */
	async freeSlot(db: Connection, slotId: string): Promise<void> {
		await db.query('DELETE FROM turnlatch_slots WHERE slot_id = $1', [slotId]);
	}

	/** Takes every turn away from a worker. The slots stay taken until somebody has ended the turns properly. */
	async displace(db: Connection, executorId: string): Promise<void> {
		await db.query('UPDATE turnlatch_slots SET holder = $2 WHERE executor_id = $1', [executorId, NOBODY]);
	}

	/** The slots that are held, with their runs and holders. */
	async holders(db: Connection): Promise<Held[]> {
		const { rows } = await db.query('SELECT slot_id, run_id, holder FROM turnlatch_slots');
		return rows.map(({ slot_id, run_id, holder }) => ({ slotId: slot_id, runId: run_id, holder }));
	}

	/** The slots that the run has, or that are about to be given back. */
	slotsOf(db: Connection, runId: string): Promise<string[]> {
		return texts(db, 'SELECT slot_id FROM turnlatch_slots WHERE run_id = $1', runId);
	}

	async #append(
		db: Connection,
		runId: string,
		revision: number,
		entry: string,
		previous: string | undefined,
	): Promise<string> {
		const line = encodeChained(this.#compact ? compactEntry(entry) : entry, runId, previous);
		const statement = 'INSERT INTO turnlatch_journal (run_id, revision, line) VALUES ($1, $2, $3)';
		await db.query(statement, [runId, revision, line]);
		return line;
	}
}

async function advisoryLock(db: Connection, key: bigint): Promise<void> {
	await db.query('SELECT pg_advisory_xact_lock($1)', [String(key)]);
}

/** The first column of the first row; `undefined` if there is none. */
async function value(db: Connection, query: string, ...values: unknown[]): Promise<unknown> {
	const { rows } = await db.query({ text: query, values, rowMode: 'array' });
	return rows[0]?.[0];
}

/** The first column of every row. */
async function texts(db: Connection, query: string, ...values: unknown[]): Promise<string[]> {
	const { rows } = await db.query({ text: query, values, rowMode: 'array' });
	return rows.map(([text]) => String(text));
}

async function ofRun(db: Connection, query: string, runId: string): Promise<unknown> {
	// No run has other characters in its id (ADM-10), and there are some that PostgreSQL does not take.
	const found = /^[\x21-\x7e]+$/.test(runId) ? await value(db, query, runId) : undefined;
	if (found === undefined) throw new RunNotFoundError(runId);
	return found;
}

/**
 * Who lives, and who goes on with the workflows of those that do not.
 *
 * A worker holds an advisory lock of a session of its own, and says something on it every second. The server ends the
 * session when the worker is gone, or silent for too long: a stopped process is as good as a dead one. A lock that was
 * free for some time, over several looks, means that its worker will not come back soon; after a restart of the database
 * all locks are free for a moment, and nobody is dead.
 */

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { DriverUsageError } from '../driver/index.js';
import { connect, disconnect } from './database.js';
import type { Office } from './office.js';

const LONGEST_TICK_MS = 1000;
const TRY_AGAIN_MS = 100;

/** The session that has the worker's lock, and since when each worker that is not there was missed in it. */
interface Lease {
	readonly client: Client;
	missing: Map<string, number>;
}

/**
 * Says that this worker lives, and takes over from workers that do not: the office's `takeoverAfterMs` is how long
 * nothing must have been heard of them.
 */
export class Attendance {
	readonly #office: Office;
	readonly #executorId: string;
	readonly #patienceMs: number;
	readonly #tickMs: number;
	readonly #stop = new AbortController();
	#lease: Lease | undefined;
	/** Others are being looked after. That asks the pool, which must not keep this worker from being heard. */
	#looking: Promise<void> | undefined;
	#heard = 0;
	#ended: Promise<void> = Promise.resolve();

	constructor(office: Office, executorId: string) {
		this.#office = office;
		this.#executorId = executorId;
		this.#patienceMs = office.settings.takeoverAfterMs;
		this.#tickMs = Math.min(LONGEST_TICK_MS, this.#patienceMs / 4);
	}

	/**
	 * Takes the worker's lock, or throws `EXECUTOR_ID_IN_USE`. One who takes over from an earlier worker of this id, or
	 * the session of that worker, may still have it for a moment.
	 */
	async arrive(): Promise<void> {
		const end = performance.now() + this.#patienceMs + this.#tickMs;
		while ((await this.#present()) === undefined) {
			if (performance.now() > end) {
				const message = `a worker with the id ${this.#executorId} is running: each needs an executorId of its own`;
				throw new DriverUsageError('EXECUTOR_ID_IN_USE', message);
			}
			await sleep(this.#tickMs);
		}
		this.#ended = this.#attend();
	}

	/** Whether the others can know that this worker lives. If not, it must not begin anything. */
	isHeard(): boolean {
		return this.#lease !== undefined && performance.now() - this.#heard < this.#patienceMs / 2;
	}

	/** Gives the lock back; the worker must have handed over before. */
	async stop(): Promise<void> {
		this.#stop.abort();
		await this.#ended;
		await this.#looking;
		await this.#leave();
	}

	async #attend(): Promise<void> {
		const { signal } = this.#stop;
		let waitMs = this.#tickMs;
		while (!signal.aborted) {
			await sleep(waitMs, undefined, { signal }).catch(() => {});
			if (signal.aborted) return;
			waitMs = this.#tickMs;
			try {
				const lease = await this.#present();
				if (lease !== undefined) this.#looking ??= this.#lookAfterPeers(lease);
			} catch (error) {
				console.warn(`turnlatch: worker ${this.#executorId} cannot say that it lives:`, error);
				await this.#leave();
				waitMs = TRY_AGAIN_MS;
			}
		}
	}

	/** Says something; takes the lock if that has not been done. `undefined` if it is another's. */
	async #present(): Promise<Lease | undefined> {
		if (this.#lease !== undefined) {
			await this.#lease.client.query('SELECT 1');
			this.#heard = performance.now();
			return this.#lease;
		}
		const client = await connect(this.#office.settings.database, this.#patienceMs);
		try {
			await client.query(`SET idle_session_timeout = ${Math.ceil(this.#patienceMs)}`);
			if (await tryLock(client, this.#executorId)) {
				this.#lease = { client, missing: new Map() };
				this.#heard = performance.now();
			}
		} finally {
			if (this.#lease === undefined) await disconnect(client);
		}
		return this.#lease;
	}

	async #leave(): Promise<void> {
		const lease = this.#lease;
		this.#lease = undefined;
		if (lease !== undefined) await disconnect(lease.client);
	}

	async #lookAfterPeers(lease: Lease): Promise<void> {
		try {
			const owners = new Set((await this.#office.enqueuer.pending()).map(({ executorId }) => executorId));
			owners.delete(this.#executorId);
			const present = await locks(lease.client);
			const now = performance.now();
			const gone = [...owners].filter((owner) => !present.has(keyOf(owner)));
			lease.missing = new Map(gone.map((owner) => [owner, lease.missing.get(owner) ?? now]));
			for (const [owner, since] of lease.missing) {
				if (now - since >= this.#patienceMs) await this.#takeOver(lease.client, owner);
			}
		} catch (error) {
			lease.missing.clear();
			if (this.#stop.signal.aborted) return;
			console.warn(`turnlatch: worker ${this.#executorId} cannot look after others:`, error);
		} finally {
			this.#looking = undefined;
		}
	}

	async #takeOver(client: Client, owner: string): Promise<void> {
		// If not, it has come back, or somebody else takes over.
		if (!(await tryLock(client, owner))) return;
		try {
			// Should it come back after all, it finds that none of its turns is its own any more.
			await this.#office.advance.displace(owner);
			const count = await this.#office.enqueuer.handOver(owner);
			console.warn(`turnlatch: worker ${this.#executorId} takes over ${count} workflows of ${owner}`);
		} finally {
			await client.query('SELECT pg_advisory_unlock($1)', [keyOf(owner)]);
		}
	}
}

async function tryLock(client: Client, executorId: string): Promise<boolean> {
	const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS taken', [keyOf(executorId)]);
	return rows[0]?.taken === true;
}

/** The numbers of all advisory locks that are held in this database. */
async function locks(client: Client): Promise<Set<string>> {
	const { rows } = await client.query(`SELECT (classid::bigint << 32) | objid::bigint AS key FROM pg_locks
		WHERE locktype = 'advisory' AND granted AND objsubid = 1
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`);
	return new Set(rows.map(({ key }) => String(key)));
}

/** The number of the worker's lock; 63 bits, so that it is the same number with and without a sign. */
function keyOf(executorId: string): string {
	const digest = createHash('sha256').update(`turnlatch executor ${executorId}`).digest();
	return String(digest.readBigUInt64BE() >> 1n);
}

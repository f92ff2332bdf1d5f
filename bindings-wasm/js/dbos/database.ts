/** The PostgreSQL database that runs and workflows share. */

import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientBase, type ClientConfig, Pool, type PoolClient } from 'pg';

/** What a transaction is given to ask and to write with. */
export type Connection = Pick<ClientBase, 'query'>;

const POOL = 12;
const CONNECT_MS = 10_000;
/** Of a connection that is made again and again until the server answers. */
const CONNECT_ALONE_MS = 3000;
const GOODBYE_MS = 2000;
/** After this time without an answer a connection is given up. */
const SILENT_MS = 15_000;
/** A process that is stopped or cut off in the middle of a transaction holds its locks no longer than this. */
const IDLE_IN_TRANSACTION_MS = 5000;
/** How long a connection is quiet before the kernel asks whether the other machine is there. */
const KEEP_ALIVE_MS = 5000;

/** Which server, and what that calls the sessions in `pg_stat_activity`. */
export interface Address {
	readonly url: string;
	readonly name: string;
}

/** A pool of connections, and transactions on them. */
export class Database {
	readonly #pool: Pool;

	constructor(address: Address) {
		this.#pool = openPool(address, POOL);
	}

	/** Commits what the work has written, or nothing at all. */
	async transaction<T>(work: (db: Connection) => Promise<T>): Promise<T> {
		const client = await this.#pool.connect();
		client.on('error', ignore);
		let broken = true;
		try {
			await client.query('BEGIN');
			try {
				const answer = await work(client);
				await client.query('COMMIT');
				broken = false;
				return answer;
			} catch (error) {
				// What is wrong with the connection, or with the transaction, is over with the connection.
				if (!isPassing(error))
					broken = await client.query('ROLLBACK').then(
						() => false,
						() => true,
					);
				throw error;
			}
		} finally {
			client.off('error', ignore);
			client.release(broken);
		}
	}

	/** For reading alone: nobody waits for it. */
	reading<T>(query: (db: Connection) => Promise<T>): Promise<T> {
		return query(this.#pool);
	}

	/** Closes every connection. */
	async close(): Promise<void> {
		await this.#pool.end();
	}
}

/** Connections that are given up if they are silent for long, and whose transactions are if this process is. */
export function openPool(address: Address, max: number): Pool {
	const pool = new Pool({ ...settings(address, SILENT_MS), connectionTimeoutMillis: CONNECT_MS, max });
	// A connection that breaks while nobody uses it is replaced by the next one who needs it.
	pool.on('error', ignore);
	pool.on('connect', endWhenSilent);
	return pool;
}

/** One whose query was not answered in time is of no use to the next who borrows it, and DBOS would give it back. */
function endWhenSilent(client: PoolClient): void {
	const query = client.query.bind(client) as (...values: unknown[]) => unknown;
	client.query = ((...values: unknown[]) => {
		const answer = query(...values);
		if (answer instanceof Promise) {
			answer.catch((error) => {
				// What has a query under way is not said goodbye to, but closed.
				if (error instanceof Error && error.message === NO_ANSWER) (client as unknown as Client).end().catch(ignore);
			});
		}
		return answer;
	}) as typeof client.query;
}

/** A connection of its own, which is given up if it is silent for this time. What goes wrong with it is said by its queries. */
export async function connect(address: Address, silentMs: number): Promise<Client> {
	const client = new Client({ ...settings(address, silentMs), connectionTimeoutMillis: CONNECT_ALONE_MS });
	client.on('error', ignore);
	try {
		await client.connect();
	} catch (error) {
		await disconnect(client);
		throw error;
	}
	return client;
}

/** Ends a connection, whatever its state is. */
export async function disconnect(client: Client): Promise<void> {
	// A server that does not answer is not waited for.
	await Promise.race([client.end().catch(ignore), sleep(GOODBYE_MS, undefined, { ref: false })]);
}

/** Whether an error is of the connection and not of what was asked: it may work if it is tried again. */
export function isPassing(error: unknown): boolean {
	if (!(error instanceof Error)) return false;
	if (error instanceof AggregateError) return error.errors.some(isPassing);
	const { code } = error as { code?: unknown };
	if (typeof code === 'string') return PASSING_CODES.test(code);
	return PASSING_MESSAGES.test(error.message);
}

/**
 * SQLSTATE: connections (08), no resources (53), a server that goes or comes (57P), transactions that lost to others or
 * were broken off (40, 25P03); and what Node says of sockets.
 */
const PASSING_CODES =
	/^(08...|53...|57P0.|40...|25P03|ECONNRESET|ECONNREFUSED|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN)$/;
/** What the client says itself has no code. */
const NO_ANSWER = 'Query read timeout';
const PASSING_MESSAGES = /connection terminated|connection error|not queryable|timeout/i;

/**
 * `pg` cannot set the `tcp_user_timeout` of its own side as libpq can, so that every query has its time instead: it holds
 * for machines that do not answer, and for proxies and servers that hang. The server's side is asked to set it, so that
 * it does not wait for this one.
 */
function settings({ url, name }: Address, silentMs: number): ClientConfig {
	return {
		connectionString: url,
		application_name: name,
		query_timeout: silentMs,
		keepAlive: true,
		keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
		idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
		options: `-c tcp_user_timeout=${SILENT_MS}`,
	};
}

function ignore(): void {}

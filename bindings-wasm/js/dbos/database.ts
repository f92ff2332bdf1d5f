/** The PostgreSQL database that runs and workflows share. */

import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientBase, type ClientConfig, Pool } from 'pg';

/** What a transaction is given to ask and to write with. */
export type Connection = Pick<ClientBase, 'query'>;

const POOL = 12;
const CONNECT_MS = 10_000;
const GOODBYE_MS = 2000;
/** A connection into nowhere is noticed after this time. */
const SILENT_MS = 30_000;
/** A process that is stopped in the middle of a transaction must not keep all others waiting. */
const IDLE_IN_TRANSACTION_MS = 10_000;

/** A pool of connections, and transactions on them. */
export class Database {
	readonly url: string;
	readonly #pool: Pool;

	constructor(url: string) {
		this.url = url;
		this.#pool = new Pool({
			...settings(url, SILENT_MS),
			max: POOL,
			idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
		});
		// A connection that breaks while nobody uses it is replaced by the next one who needs it.
		this.#pool.on('error', ignore);
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

/** A connection of its own, which is noticed to be dead after this time. What goes wrong with it is said by its queries. */
export async function connect(url: string, silentMs: number): Promise<Client> {
	const client = new Client(settings(url, silentMs));
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
const PASSING_MESSAGES = /connection terminated|connection error|not queryable|timeout/i;

function settings(url: string, silentMs: number): ClientConfig {
	return {
		connectionString: url,
		connectionTimeoutMillis: CONNECT_MS,
		query_timeout: silentMs,
		keepAlive: true,
		application_name: 'turnlatch',
	};
}

function ignore(): void {}

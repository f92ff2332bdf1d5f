/** The entry `turnlatch/indexeddb`: a store in the browser's own database, for local snapshots. */

import { RunNotFoundError, type Store, StoreConflictError } from '../driver/index.js';
import { encodeChained, Journal } from '../public.js';

interface Kept {
	runId: string;
	snapshot: string;
	revision: number;
	ended: boolean;
	/** Counts up, because ids have no order of time. */
	number: number;
}

type Mode = 'readonly' | 'readwrite';

const VERSION = 1;

/**
 * Keeps runs in IndexedDB. A save is one transaction, written to the disk before it is answered (`durability: strict`);
 * two tabs with one database notice each other by the revision. A browser may delete the database when the disk is full
 * or the user asks for it: what must not get lost belongs on a server.
 */
export class IndexedDbStore implements Store {
	readonly #database: IDBDatabase;

	private constructor(database: IDBDatabase) {
		this.#database = database;
		// Another tab wants a newer form of the database; it could not go on while this connection is open.
		database.onversionchange = () => database.close();
	}

	/** Opens the database, or makes it. */
	static async open(name = 'turnlatch'): Promise<IndexedDbStore> {
		const request = indexedDB.open(name, VERSION);
		request.onupgradeneeded = () => {
			const runs = request.result.createObjectStore('runs', { keyPath: 'runId' });
			runs.createIndex('number', 'number', { unique: true });
			request.result.createObjectStore('journal', { keyPath: ['runId', 'revision'] });
			request.result.createObjectStore('begun', { keyPath: ['runId', 'effectId'] });
		};
		return new IndexedDbStore(await answer(request));
	}

	/** Keeps a new run and its first journal line. */
	async create(runId: string, snapshot: string, entry: string): Promise<void> {
		const line = encodeChained(entry, runId);
		await this.#transaction('readwrite', async (stores) => {
			if ((await answer(stores.runs.getKey(runId))) !== undefined) {
				throw new StoreConflictError('RUN_EXISTS', `there is a run ${runId} already`);
			}
			const last = await answer(stores.runs.index('number').openKeyCursor(null, 'prev'));
			const number = last === null ? 1 : (last.key as number) + 1;
			const kept: Kept = { runId, snapshot, revision: 1, ended: false, number };
			stores.runs.add(kept);
			stores.journal.add({ runId, revision: 1, line });
		});
	}

	/** Keeps a run's next state and its journal line. */
	async save(runId: string, expectedRevision: number, snapshot: string, entry: string, ended: boolean): Promise<void> {
		await this.#transaction('readwrite', async (stores) => {
			const kept = await keptIn(stores, runId);
			if (kept.revision !== expectedRevision) {
				const message = `expected revision ${expectedRevision}, found ${kept.revision}`;
				throw new StoreConflictError('STORE_CONFLICT', message);
			}
			const { line } = (await answer(stores.journal.get([runId, expectedRevision]))) as { line: string };
			const revision = expectedRevision + 1;
			stores.runs.put({ ...kept, snapshot, revision, ended });
			stores.journal.add({ runId, revision, line: encodeChained(entry, runId, line) });
		});
	}

	/** The last snapshot. */
	load(runId: string): Promise<string> {
		return this.#transaction('readonly', async (stores) => (await keptIn(stores, runId)).snapshot);
	}

	/** The runs that have not ended, oldest first. */
	unfinished(): Promise<string[]> {
		return this.#transaction('readonly', async ({ runs }) => {
			const all = (await answer(runs.index('number').getAll())) as Kept[];
			return all.filter(({ ended }) => !ended).map(({ runId }) => runId);
		});
	}

	/** Notes that an effect is about to be performed. */
	async markBegun(runId: string, effectId: string): Promise<void> {
		await this.#transaction('readwrite', async ({ begun }) => begun.put({ runId, effectId }));
	}

	/** Whether that was noted. */
	wasBegun(runId: string, effectId: string): Promise<boolean> {
		return this.#transaction('readonly', async ({ begun }) => (await answer(begun.count([runId, effectId]))) > 0);
	}

	/** The run's journal. */
	async journal(runId: string): Promise<Journal> {
		const lines = await this.#transaction('readonly', async (stores) => {
			await keptIn(stores, runId);
			const range = IDBKeyRange.bound([runId, 0], [runId, Number.MAX_SAFE_INTEGER]);
			return (await answer(stores.journal.getAll(range))) as { line: string }[];
		});
		return Journal.fromLines(
			runId,
			lines.map(({ line }) => line),
		);
	}

	/** Closes the connection, after what was asked for. */
	close(): void {
		this.#database.close();
	}

	/** All of it or nothing. `work` may wait for nothing but the database: otherwise the transaction is over. */
	#transaction<T>(mode: Mode, work: (stores: Stores) => Promise<T>): Promise<T> {
		return new Promise((resolve, reject) => {
			const transaction = this.#database.transaction(['runs', 'journal', 'begun'], mode, { durability: 'strict' });
			let result: { readonly value: T } | undefined;
			let reason: unknown;
			transaction.oncomplete = () => (result === undefined ? reject(reason) : resolve(result.value));
			transaction.onabort = () => reject(reason ?? transaction.error);
			const [runs, journal, begun] = ['runs', 'journal', 'begun'].map((name) => transaction.objectStore(name));
			work({ runs, journal, begun } as Stores).then(
				(value) => {
					result = { value };
				},
				(error: unknown) => {
					reason = error;
					transaction.abort();
				},
			);
		});
	}
}

interface Stores {
	readonly runs: IDBObjectStore;
	readonly journal: IDBObjectStore;
	readonly begun: IDBObjectStore;
}

async function keptIn({ runs }: Stores, runId: string): Promise<Kept> {
	const kept = (await answer(runs.get(runId))) as Kept | undefined;
	if (kept === undefined) throw new RunNotFoundError(runId);
	return kept;
}

function answer<T>(request: IDBRequest<T>): Promise<T> {
	return new Promise((resolve, reject) => {
		request.onsuccess = () => resolve(request.result);
		request.onerror = () => reject(request.error);
	});
}

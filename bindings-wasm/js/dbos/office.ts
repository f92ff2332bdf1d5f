/** What a driver, its turns and its timers share: the database, and what is to be done after a commit. */

import { type DriverParts, Host } from '../driver/host.js';
import type { OnNotify } from '../driver/index.js';
import type { Notify, Transition } from '../public.js';
import { Advance, type Advanced } from './advance.js';
import { Changes, Listener } from './changes.js';
import { type Address, type Connection, Database } from './database.js';
import { Tables } from './tables.js';
import type { Attendance } from './takeover.js';
import { Enqueuer, migrate } from './workflows.js';

/** What a driver was told of the database and the queues. */
export interface Settings {
	readonly database: Address;
	readonly applicationVersion: string;
	readonly slots: number;
	readonly pollMs: number;
	readonly takeoverAfterMs: number;
	readonly compact: boolean;
}

export class Office {
	/** What the host brings. Slots, timers and the store are DBOS and the database, so those are never asked. */
	readonly parts: DriverParts;
	readonly host: Host;
	readonly settings: Settings;
	readonly tables: Tables;
	readonly advance: Advance;
	readonly enqueuer: Enqueuer;
	readonly news = new Changes();
	attendance: Attendance | undefined;
	/** Over when the last grant that was asked for is. */
	#granting: Promise<unknown> = Promise.resolve();
	readonly #database: Database;
	readonly #listener: Listener;
	readonly #onNotify: OnNotify | undefined;
	/** Callbacks come in order, apart from everything else: one may take its time, and may ask the driver. */
	#notices: Promise<void> = Promise.resolve();
	readonly #background = new Set<Promise<void>>();

	private constructor(
		parts: DriverParts,
		settings: Settings,
		onNotify: OnNotify | undefined,
		database: Database,
		tables: Tables,
		enqueuer: Enqueuer,
	) {
		this.parts = parts;
		this.host = new Host(parts);
		this.settings = settings;
		this.tables = tables;
		this.enqueuer = enqueuer;
		this.advance = new Advance(database, tables, enqueuer, this.host.clock);
		this.#database = database;
		this.#onNotify = onNotify;
		this.#listener = new Listener(settings.database, (runId) => this.news.tell(runId));
		this.#listener.start();
	}

	/** Connects, and makes the tables that are not there. */
	static async open(parts: DriverParts, settings: Settings, onNotify: OnNotify | undefined): Promise<Office> {
		const database = new Database(settings.database);
		const tables = new Tables(settings.compact);
		try {
			// First of all: a database of another kind of host is left as it is.
			await database.transaction((db) => tables.createAll(db));
			await migrate(settings.database.url);
			const enqueuer = await Enqueuer.connect(settings.database, settings.applicationVersion);
			return new Office(parts, settings, onNotify, database, tables, enqueuer);
		} catch (error) {
			await database.close();
			throw error;
		}
	}

	/** Lets nobody wait any longer. */
	async close(): Promise<void> {
		await this.#listener.stop();
		await Promise.allSettled(this.#background);
		await this.enqueuer.close();
		await this.#database.close();
		this.news.tell(null);
	}

	/** The answer to a query. */
	read<T>(query: (db: Connection) => Promise<T>): Promise<T> {
		return this.advance.read(query);
	}

	/** Looks after what is to be done after a commit. */
	took<T extends Transition>({ runId, applied, withdrawn }: Advanced<T>): void {
		this.host.observe(applied.observation);
		for (const effect of applied.effects) {
			if (effect.type === 'notify') this.#notices = this.#notices.then(() => this.#notify(runId, effect));
		}
		if (withdrawn.length === 0) return;
		const withdrawing = this.enqueuer
			.withdraw(runId, withdrawn)
			.catch((error) => this.host.report(runId, withdrawn[0] ?? null, error, 1))
			.finally(() => this.#background.delete(withdrawing));
		this.#background.add(withdrawing);
	}

	/** Whether turns may be begun here: not while others may think that this worker is dead. */
	mayBegin(): boolean {
		return this.attendance?.isHeard() ?? true;
	}

	/**
	 * Grants one slot at a time: grants wait for each other in the database anyway, and a worker that is cut off leaves no
	 * more than one there that holds the lock of the slots until its time is over.
	 */
	granting<T>(grant: () => Promise<T>): Promise<T> {
		const granted = this.#granting.then(grant);
		this.#granting = granted.catch(() => {});
		return granted;
	}

	async #notify(runId: string, effect: Notify): Promise<void> {
		try {
			await this.#onNotify?.(runId, effect);
		} catch (error) {
			await this.host.report(runId, effect, error, 1);
		}
	}
}

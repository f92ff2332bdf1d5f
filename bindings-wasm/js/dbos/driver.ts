/// <reference lib="esnext.disposable" preserve="true" />
/** Hosts runs on DBOS: the driver of a worker, or of a client that only asks. */

import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { closingAfterPanic } from '../driver/host.js';
import type { RetryPolicy } from '../driver/index.js';
import {
	type Clock,
	DriverUsageError,
	LocalSlots,
	LocalTimers,
	MemoryStore,
	type OnError,
	type OnNotify,
	type OnObservation,
	type Processes,
} from '../driver/index.js';
import {
	CorePanickedError,
	EventRejectedError,
	Journal,
	type JsonInput,
	type Plan,
	type Receipt,
	type ReplyOptions,
	Run,
	type RunEvent,
	type Status,
	type StatusView,
	type Transition,
	version,
} from '../public.js';
import { type Step, telling } from './advance.js';
import { Signal } from './changes.js';
import type { Connection } from './database.js';
import { Engine } from './engine.js';
import { Office, type Settings } from './office.js';
import { Attendance } from './takeover.js';

/** Changes are announced; this is for those that happen while nobody can hear. */
const LOOK_AGAIN_MS = 5000;

/** What a driver on DBOS is told. */
export interface DbosOptions {
	/** The address of the PostgreSQL database, which has to exist: `postgresql://…`. */
	readonly databaseUrl: string;
	/** Carries out turns; what a worker needs. */
	readonly processes?: Processes;
	/** How many turns all workers together carry out at a time: 1. The same for all of them. */
	readonly slots?: number;
	/** Whether this driver carries out turns: `true`. One that does not is a client. */
	readonly works?: boolean;
	/** The worker's own name, which it keeps over restarts: that of the machine. */
	readonly executorId?: string;
	/** Workers only take work of their version: by default the package's. */
	readonly applicationVersion?: string;
	/** How often workers look for work: 200. */
	readonly pollMs?: number;
	/** After which time a silent worker is taken for dead: 5000. */
	readonly takeoverAfterMs?: number;
	/** Keeps journals without the turns' texts. */
	readonly compact?: boolean;
	readonly clock?: Clock;
	/** Told of a run's new status, in the process that took the event. */
	readonly onNotify?: OnNotify;
	/** Told what is worth measuring, in the process that took the event. */
	readonly onObservation?: OnObservation;
	/** What failed; without it, the console is told. */
	readonly onError?: OnError;
	readonly retry?: Partial<RetryPolicy>;
}

/** The connection of a transaction, for a host that keeps rows of its own. */
export interface Transaction {
	query(statement: string, values?: unknown[]): Promise<unknown>;
}

/** Writes what a host keeps beside a run, in the transaction that makes the run. */
export type Beside = (transaction: Transaction) => Promise<unknown>;

/**
 * Drives runs on DBOS. Any number of workers and clients, in any number of processes, share the runs of a database.
 *
 * A worker needs `processes`, the number of `slots` that all workers have together, and an `executorId` that no other
 * worker has; a process can have one. A client (`works: false`) starts, answers and watches runs, and carries out no
 * turn. {@link DbosDriver.open} comes first, {@link DbosDriver.close} last.
 */
export class DbosDriver {
	readonly #options: DbosOptions;
	readonly #settings: Settings;
	readonly #executorId: string | undefined;
	#office: Office | undefined;
	#engine: Engine | undefined;
	#opening = false;
	#closed = false;
	#panic: CorePanickedError | undefined;

	constructor(options: DbosOptions) {
		const { databaseUrl, processes, slots = 1, works = true, executorId = hostname() } = options;
		if (!Number.isInteger(slots) || slots < 1) throw new RangeError('at least one slot is needed');
		if (works && processes === undefined) throw new TypeError('a worker needs processes; works: false makes a client');
		if (!/^postgres(ql)?:/.test(databaseUrl))
			throw new TypeError('databaseUrl is the address of a PostgreSQL database');
		this.#options = options;
		this.#executorId = works ? executorId : undefined;
		this.#settings = {
			database: { url: databaseUrl, name: works ? `turnlatch ${executorId}` : 'turnlatch client' },
			applicationVersion: options.applicationVersion ?? `turnlatch-${version()}`,
			slots,
			pollMs: options.pollMs ?? 200,
			takeoverAfterMs: options.takeoverAfterMs ?? 5000,
			compact: options.compact ?? false,
		};
	}

	/** Connects, makes the tables that are not there and, as a worker, begins to work. */
	async open(): Promise<void> {
		if (this.#opening || this.#closed) throw new DriverUsageError('DRIVER_CLOSED', 'a driver is opened once');
		this.#opening = true;
		const { processes = NO_PROCESSES, onNotify, onObservation, clock, onError, retry } = this.#options;
		// Slots, timers and the store are DBOS and the database: of a host's own parts only the others are asked.
		const unused = { slots: new LocalSlots(1), timers: new LocalTimers(), store: new MemoryStore() };
		const told = {
			...(clock && { clock }),
			onError: closingAfterPanic(onError, (panic) => this.#closeIfPanicked(panic)),
			...(onObservation && { onObservation }),
			...(retry && { retry }),
		};
		this.#office = await Office.open({ ...unused, processes, ...told }, this.#settings, onNotify);
		try {
			if (this.#executorId !== undefined) await this.#beginToWork(this.#office, this.#executorId);
		} catch (error) {
			await this.close();
			throw error;
		}
	}

	/**
	 * Stops. A worker ends the processes of its turns and hands them over: whoever works next tells the core that they
	 * were lost.
	 */
	async close(): Promise<void> {
		const [office, wasClosed] = [this.#office, this.#closed];
		this.#closed = true;
		if (office === undefined || wasClosed) return;
		await this.#engine?.close();
		await office.attendance?.stop();
		await office.close();
	}

	/** The same as {@link DbosDriver.close}, for `await using`. */
	declare [Symbol.asyncDispose]: () => Promise<void>;

	/**
	 * Makes a run of an admitted plan and enqueues its first turn. Gives its id.
	 *
	 * `beside` is called in the transaction that makes the run, with its connection: what it writes is there if and only if
	 * the run is. If the connection is lost it is called once more; and it is, if the transaction does nothing for 5 seconds.
	 */
	async start(plan: Plan, beside?: Beside): Promise<string> {
		const office = this.#opened();
		const advanced = await office.advance.create(plan, beside);
		advanced.run.free();
		office.took(advanced);
		return advanced.runId;
	}

	/** Takes a user's reply. The receipt is given when the reply is saved; it has a `code` if the reply was refused. */
	async reply(
		runId: string,
		interactionId: number | bigint,
		response: JsonInput,
		options: ReplyOptions = {},
	): Promise<Receipt> {
		return (await this.#change(runId, (run, now) => run.reply(interactionId, response, now, options))).receipt;
	}

	/** Ends a run. {@link DbosDriver.settled} waits until its process is gone and its slot given back. */
	async cancel(runId: string, reason?: string): Promise<Receipt> {
		return (await this.#change(runId, (run, now) => run.cancel(now, reason))).receipt;
	}

	/** Applies any event; a refused request has a receipt with a `code`, what is no event throws `EventRejectedError`. */
	async tell(runId: string, event: RunEvent): Promise<Transition> {
		return this.#change(runId, telling(event));
	}

	/** The same for an event given as JSON text, exact to the last digit. */
	async tellJson(runId: string, event: string): Promise<Transition> {
		return this.#change(runId, (run, now) => run.applyJson(event, now));
	}

	/** The run as it is saved, to be read. Throws `RunNotFoundError` if there is none. */
	async run(runId: string): Promise<Run> {
		const office = this.#opened();
		return Run.restore(await office.read((db) => office.tables.snapshot(db, runId)));
	}

	/** The run as a client sees it. */
	async view(runId: string): Promise<StatusView> {
		const run = await this.run(runId);
		try {
			return run.statusView();
		} finally {
			run.free();
		}
	}

	/**
	 * Waits until the run is seen with one of these statuses or has ended. A status that lasts shorter than a look at the
	 * database may be missed.
	 */
	async wait(runId: string, ...statuses: Status[]): Promise<StatusView> {
		const stirred = new Signal();
		const unwatch = this.#opened().news.watch(runId, stirred.set);
		try {
			while (true) {
				const run = await this.run(runId);
				try {
					if (run.ended || statuses.includes(run.status)) return run.statusView();
				} finally {
					run.free();
				}
				await stirred.wait(LOOK_AGAIN_MS);
			}
		} finally {
			unwatch();
		}
	}

	/** Waits until no turn of the run is carried out by anybody: its processes are gone, its slots given back. */
	async settled(runId: string): Promise<void> {
		while ((await this.#read(({ tables }, db) => tables.slotsOf(db, runId))).length > 0) {
			await sleep(this.#settings.pollMs / 4);
		}
	}

	/** The id of every run that changes from now on, in any process; `null` after a gap, when any may have. */
	async *changes(): AsyncGenerator<string | null, void, void> {
		for await (const runId of this.#opened().news.follow()) {
			this.#opened();
			yield runId;
		}
	}

	/** The run's journal. */
	async journal(runId: string): Promise<Journal> {
		return Journal.fromLines(runId, await this.lines(runId));
	}

	/** The lines of the run's journal after a revision, for somebody who follows it. */
	lines(runId: string, after = 0): Promise<string[]> {
		return this.#read(({ tables }, db) => tables.lines(db, runId, after));
	}

	/** The runs that have not ended, oldest first. */
	unfinished(): Promise<string[]> {
		return this.#read(({ tables }, db) => tables.unfinished(db));
	}

	/** How many runs have not ended, by their status. */
	countUnfinished(): Promise<Partial<Record<Status, number>>> {
		return this.#read(({ tables }, db) => tables.countUnfinished(db));
	}

	async #read<T>(query: (office: Office, db: Connection) => Promise<T>): Promise<T> {
		const office = this.#opened();
		return office.read((db) => query(office, db));
	}

	async #change<T extends Transition>(runId: string, step: Step<T>): Promise<T> {
		const office = this.#opened();
		const advanced = await office.advance.change(runId, step).catch((error) => {
			if (error instanceof EventRejectedError) office.host.observe(error.observation);
			this.#closeIfPanicked(error);
			throw error;
		});
		advanced.run.free();
		office.took(advanced);
		return advanced.applied;
	}

	async #beginToWork(office: Office, executorId: string): Promise<void> {
		this.#engine = new Engine(office, executorId);
		const attendance = new Attendance(office, executorId);
		await attendance.arrive();
		office.attendance = attendance;
		await this.#engine.launch();
	}

	/** A core that panicked carries out nothing any more. Closing hands the worker's turns over to others. */
	#closeIfPanicked(error: unknown): void {
		if (!(error instanceof CorePanickedError) || this.#closed) return;
		this.#panic = error;
		void this.close();
	}

	#opened(): Office {
		if (this.#panic !== undefined) throw this.#panic;
		if (this.#office === undefined || this.#closed) {
			throw new DriverUsageError('DRIVER_CLOSED', 'the driver is closed, or was not opened');
		}
		return this.#office;
	}
}

if (Symbol.asyncDispose) {
	Object.defineProperty(DbosDriver.prototype, Symbol.asyncDispose, { value: DbosDriver.prototype.close });
}

/** A client's: it is never asked. */
const NO_PROCESSES: Processes = {
	start() {},
	inject() {},
	attach() {},
	terminate() {},
	alive: () => [],
};

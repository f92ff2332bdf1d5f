/**
 * What a host supplies to a {@link Driver}: slots, timers, processes and a store.
 *
 * Every method may return its value or a promise of it. The functions that a part is given (`granted`, `fired`,
 * `finished`) never throw and may be called at any time, also twice: the core recognises what comes late or repeated.
 */

import {
	type Effect,
	type InjectReply,
	type Journal,
	type Notify,
	type Observation,
	type Run,
	type RunEvent,
	type StartTurn,
	TurnlatchError,
	type TurnReport,
} from '../public.js';

export type MaybePromise<T> = T | PromiseLike<T>;

/** Milliseconds since the Unix epoch. */
export type Clock = () => number;

/**
 * Takes a turn's report, without `attempt_number` and `slot_id`; `null` says that the process is gone and left no
 * result of a turn (a sticky process that ended while it waited for a reply).
 */
export type Finished = (report: TurnReport | null) => void;

/** A step was saved, a request refused, or an event rejected. It is not awaited; what it throws goes to the console and harms nothing. */
export type OnObservation = (observation: Observation) => void;

/** The run's status changed. */
export type OnNotify = (runId: string, effect: Notify) => MaybePromise<void>;

/**
 * An effect was not performed, or a part's event not applied, at the `attempt`-th try; `what` is `null` if the run could
 * not be recovered after a restart.
 */
export type OnError = (
	runId: string,
	what: Effect | RunEvent | null,
	error: unknown,
	attempt: number,
) => MaybePromise<void>;

/** The store holds another revision than the expected one (`STORE_CONFLICT`), or the id is taken (`RUN_EXISTS`). */
export class StoreConflictError extends TurnlatchError {
	static {
		StoreConflictError.prototype.name = 'StoreConflictError';
	}

	constructor(code: 'STORE_CONFLICT' | 'RUN_EXISTS', message: string) {
		super(code, message);
	}
}

/** There is no run of this id, in the store or in a driver's memory (`RUN_UNKNOWN`). */
export class RunNotFoundError extends TurnlatchError {
	static {
		RunNotFoundError.prototype.name = 'RunNotFoundError';
	}

	constructor(runId: string) {
		super('RUN_UNKNOWN', `there is no run ${runId}`);
	}
}

type Misuse =
	| 'DRIVER_CLOSED'
	| 'INSIDE_CALLBACK'
	| 'RUN_NOT_DONE'
	| 'DRIVER_EXISTS'
	| 'EXECUTOR_ID_IN_USE'
	| 'DATABASE_IN_USE';

/**
 * A driver was asked for something it cannot do now: `DRIVER_CLOSED`, `INSIDE_CALLBACK` or `RUN_NOT_DONE`; or a database
 * has another host: `DATABASE_IN_USE`. Hosts on an engine also say `DRIVER_EXISTS` and `EXECUTOR_ID_IN_USE`.
 */
export class DriverUsageError extends TurnlatchError {
	static {
		DriverUsageError.prototype.name = 'DriverUsageError';
	}

	constructor(code: Misuse, message: string, details?: unknown) {
		super(code, message, { details });
	}
}

/** Permissions to run one turn. */
export interface Slots {
	/** Asks for a slot and returns at once; calls `granted` when there is one, and again for a slot granted before. */
	acquire(runId: string, slotId: string, granted: () => void): MaybePromise<void>;
	/**
	 * Counts a slot as granted without asking: its run had it before the restart. `false` if somebody else has it by
	 * now; then its turn counts as lost.
	 */
	hold(runId: string, slotId: string): MaybePromise<boolean>;
	/** Gives a slot back, or withdraws the request for it; nothing if there is neither. */
	release(slotId: string): MaybePromise<void>;
	/** The slots this host has or has asked for. */
	held(): MaybePromise<Iterable<string>>;
}

/** Alarms at absolute times, one for each question of a run. */
export interface Timers {
	/** Calls `fired` at that time, or soon if it has passed. A second call for the question replaces the first. */
	set(runId: string, interactionId: number, atMs: number, fired: () => void): MaybePromise<void>;
	/** Forgets the question's alarm; nothing if there is none. */
	cancel(runId: string, interactionId: number): MaybePromise<void>;
	/** The run and question of every alarm that is set. */
	pending(): MaybePromise<Iterable<readonly [runId: string, interactionId: number]>>;
}

/**
 * The agent's processes; the slot's id names the process. `run` is a copy, to be read: history, handle, view.
 *
 * A call that failed is made again, and may have done its work: a process that lives in the slot is kept, the same reply
 * (by the effect's id) is given once, and the end of a turn that is over is told again. A turn that cannot be begun fails
 * after some tries, unless the error says that the host is out of resources (`isOutOfResources`): then it waits.
 */
export interface Processes {
	/** Starts a turn in a process of its own and returns; `finished` is called when the turn has ended. */
	start(run: Run, effect: StartTurn, finished: Finished): MaybePromise<void>;
	/** Gives a reply to a sticky process that waits for it; `finished` is called when that turn has ended. */
	inject(run: Run, effect: InjectReply, finished: Finished): MaybePromise<void>;
	/** After a restart, for a process in `alive`: its turn is reported here from now on, also if it has ended already. */
	attach(slotId: string, finished: Finished): MaybePromise<void>;
	/** Ends the process with all its children and returns when they are gone; nothing if there is none. */
	terminate(slotId: string): MaybePromise<void>;
	/** The slots whose process this host still has. */
	alive(): MaybePromise<Iterable<string>>;
}

/** Where runs are kept. What a method has returned from survives a crash. */
export interface Store {
	/** Keeps a new run at revision 1 and its first journal entry as JSON text ({@link encodeChained} makes its line), or throws {@link StoreConflictError} if the id is taken. */
	create(runId: string, snapshot: string, entry: string): MaybePromise<void>;
	/**
	 * Replaces the snapshot and appends the entry, both or neither; throws {@link StoreConflictError} if the stored revision
	 * is not the expected one. The new revision is one more.
	 */
	save(runId: string, expectedRevision: number, snapshot: string, entry: string, ended: boolean): MaybePromise<void>;
	/** The run's snapshot, or throws {@link RunNotFoundError}. */
	load(runId: string): MaybePromise<string>;
	/** The ids of the runs that were not saved as ended, oldest first. */
	unfinished(): MaybePromise<Iterable<string>>;
	/** Notes, durably, that an effect which must not happen twice is about to be performed. */
	markBegun(runId: string, effectId: string): MaybePromise<void>;
	/** Whether that was noted. */
	wasBegun(runId: string, effectId: string): MaybePromise<boolean>;
	/** The run's journal. */
	journal(runId: string): MaybePromise<Journal>;
}

/** The host's parts, and how they are called: with retries and reports. */

import { CorePanickedError, type Effect, LoadError, type Observation, type RunEvent } from '../public.js';
import { Inside } from './inside.js';
import type {
	Clock,
	MaybePromise,
	OnError,
	OnNotify,
	OnObservation,
	Processes,
	Slots,
	Store,
	Timers,
} from './parts.js';

/** How often a failing callback is tried, and how long to wait between tries. */
export interface RetryPolicy {
	/** How often it is tried in a row: 3. */
	readonly attempts: number;
	/** The wait after the first failure: 200. */
	readonly delayMs: number;
	/** What each further wait is multiplied by: 2. */
	readonly factor: number;
	/** What still fails is kept and tried again after this time: 30 000. No wait is longer. */
	readonly pauseMs: number;
}

/** What a driver is made of. */
export interface DriverParts {
	readonly slots: Slots;
	readonly timers: Timers;
	readonly processes: Processes;
	readonly store: Store;
	readonly clock?: Clock;
	readonly onNotify?: OnNotify;
	/** What failed; without it, the console is told. */
	readonly onError?: OnError;
	readonly onObservation?: OnObservation;
	readonly retry?: Partial<RetryPolicy>;
	/** Whether waiting for the next try keeps Node from exiting; `true` unless told. */
	readonly keepAlive?: boolean;
}

const USUAL: RetryPolicy = { attempts: 3, delayMs: 200, factor: 2, pauseMs: 30_000 };

export class Host {
	readonly slots: Slots;
	readonly timers: Timers;
	readonly processes: Processes;
	readonly store: Store;
	readonly clock: Clock;
	readonly onNotify: OnNotify | undefined;
	readonly retry: RetryPolicy;
	readonly inside = new Inside();
	/** Aborted when nothing more is to be performed. */
	readonly stop = new AbortController();
	readonly #onError: OnError;
	readonly #onObservation: OnObservation | undefined;
	readonly #keepAlive: boolean;

	constructor(parts: DriverParts) {
		this.slots = parts.slots;
		this.timers = parts.timers;
		this.processes = parts.processes;
		this.store = parts.store;
		this.clock = parts.clock ?? Date.now;
		this.onNotify = parts.onNotify;
		this.retry = { ...USUAL, ...parts.retry };
		this.#onError = parts.onError ?? tellConsole;
		this.#onObservation = parts.onObservation;
		this.#keepAlive = parts.keepAlive ?? true;
	}

	get stopped(): boolean {
		return this.stop.signal.aborted;
	}

	/** Passes an observation on; an event that was ignored has none. */
	observe(observation: Observation | undefined): void {
		if (observation !== undefined) void this.#observe(observation);
	}

	/** An `async` function is one too, and a rejection that is not caught would end Node. */
	async #observe(observation: Observation): Promise<void> {
		try {
			await this.#onObservation?.(observation);
		} catch (error) {
			console.error('turnlatch: onObservation itself failed:', error);
		}
	}

	/** Calls a part on behalf of a run. */
	call<T>(runId: string, work: () => MaybePromise<T>): Promise<T> {
		return this.inside.call(runId, work);
	}

	/** Calls with retries. Whether it succeeded. */
	async attempt(runId: string, work: () => MaybePromise<unknown>): Promise<boolean> {
		for (let attempt = 1; attempt <= this.retry.attempts && !this.stopped; attempt += 1) {
			try {
				await this.call(runId, work);
				return true;
			} catch (error) {
				await this.report(runId, null, error, attempt);
				// Reading it again would not make it better.
				if (error instanceof LoadError) return false;
			}
			if (attempt < this.retry.attempts) await this.sleepAfter(attempt);
		}
		return false;
	}

	/** Tells what failed; `null` stands for recovery. */
	async report(runId: string, what: Effect | RunEvent | null, error: unknown, attempt: number): Promise<void> {
		try {
			await this.call(runId, () => this.#onError(runId, what, error, attempt));
		} catch (again) {
			console.error('turnlatch: onError itself failed:', again);
		}
	}

	/** Waits after the `attempt`-th failure, at most until the driver stops. */
	sleepAfter(attempt: number): Promise<void> {
		const { delayMs, factor, pauseMs } = this.retry;
		return this.sleep(Math.min(delayMs * factor ** Math.min(attempt - 1, 32), pauseMs));
	}

	sleep(milliseconds: number): Promise<void> {
		const { signal } = this.stop;
		return new Promise((resolve) => {
			if (signal.aborted) return resolve();
			const wake = () => {
				clearTimeout(timer);
				signal.removeEventListener('abort', wake);
				resolve();
			};
			const timer = setTimeout(wake, milliseconds);
			if (!this.#keepAlive) letExit(timer);
			signal.addEventListener('abort', wake);
		});
	}
}

/** A driver's `onError` that also closes it when the core has panicked. */
export function closingAfterPanic(onError: OnError = tellConsole, close: (panic: CorePanickedError) => void): OnError {
	return (runId, what, error, attempt) => {
		if (error instanceof CorePanickedError) close(error);
		return onError(runId, what, error, attempt);
	};
}

/** Lets Node exit although the timer is set. Elsewhere a timer is a number and keeps nothing alive. */
export function letExit(timer: unknown): void {
	(timer as { unref?(): void }).unref?.();
}

function tellConsole(runId: string, what: Effect | RunEvent | null, error: unknown, attempt: number): void {
	console.warn(`turnlatch: run ${runId}: ${what?.type ?? 'recovery'} failed (attempt ${attempt}):`, error);
}

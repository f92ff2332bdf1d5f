/** One workflow's work in this process, until it is done or has to stop. */

import { type DriverParts, Host } from '../driver/host.js';
import { RunNotFoundError } from '../driver/index.js';
import { LoadError } from '../public.js';
import { Displaced } from './tables.js';

/** What is stopped throws {@link Displaced} at the next place where it would wait. */
export class Task {
	readonly #parts: DriverParts;
	readonly #host: Host;
	readonly #runId: string;

	constructor(parts: DriverParts, runId: string) {
		this.#parts = parts;
		this.#host = new Host(parts);
		this.#runId = runId;
	}

	/** A part of it, which can be stopped alone and stops with it. */
	part(): Task {
		const part = new Task(this.#parts, this.#runId);
		if (this.stopped.aborted) part.stop();
		else this.stopped.addEventListener('abort', () => part.stop(), { once: true });
		return part;
	}

	/** Aborted when it has to stop. */
	get stopped(): AbortSignal {
		return this.#host.stop.signal;
	}

	stop(): void {
		this.#host.stop.abort();
	}

	/** Throws if it has to stop. */
	goOn(): void {
		if (this.stopped.aborted) throw new Displaced();
	}

	async sleep(milliseconds: number): Promise<void> {
		await this.#host.sleep(milliseconds);
		this.goOn();
	}

	/** Waits after the `attempt`-th failure. */
	async sleepAfter(attempt: number): Promise<void> {
		await this.#host.sleepAfter(attempt);
		this.goOn();
	}

	/** Reports a failure and waits before the next try. */
	async afterFailure(error: unknown, attempt: number): Promise<void> {
		await this.#host.report(this.#runId, null, error, attempt);
		await this.sleepAfter(attempt);
	}

	/** Does a workflow's work. A fault in it, or in a part, must not end the workflow: the run would wait for ever. */
	async persistently(work: () => Promise<void>): Promise<void> {
		for (let attempt = 1; ; attempt += 1) {
			this.goOn();
			try {
				return await work();
			} catch (error) {
				if (error instanceof Displaced) throw error;
				if (isUnreadable(error)) {
					// There is no run to go on with, and what was held for it is free.
					return this.#host.report(this.#runId, null, error, 1);
				}
				await this.afterFailure(error, attempt);
			}
		}
	}
}

/** Whether it says that there is no run, or none that this package can read. */
export function isUnreadable(error: unknown): boolean {
	return error instanceof LoadError || error instanceof RunNotFoundError;
}

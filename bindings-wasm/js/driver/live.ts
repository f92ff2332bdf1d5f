/** A run in a driver's memory. */

import type { Effect, EventRejectedError, Run, RunEvent, Status, StatusView } from '../public.js';

interface Waiter {
	readonly statuses: readonly Status[];
	resolve(view: StatusView): void;
	reject(error: Error): void;
}

/** What a part reported, and what to apply in its place if the core rejects it. */
export interface Report {
	readonly event: RunEvent;
	readonly instead?: RunEvent;
	/** A turn that was given up: its process is ended before this is told, which gives back the slot; nothing if it is over. */
	readonly ends?: { readonly effect: Effect; readonly slot_id: string };
}

/** What to apply in its place. Nothing for an attempt that was never started: it would be rejected as well. */
export function replacementOf({ instead }: Report, rejected: EventRejectedError): Report | undefined {
	return instead === undefined || rejected.code === 'EVENT_UNKNOWN_ATTEMPT' ? undefined : { event: instead };
}

export class Live {
	readonly runId: string;
	/** Told and saved, to be performed in order. */
	readonly effects: Effect[] = [];
	/** Failed too often; tried again later. */
	owed: Effect[] = [];
	/** What parts reported, to be applied in order. */
	readonly inbox: Report[] = [];
	performer: Promise<void> | undefined;
	courier: Promise<void> | undefined;
	/** Going on with what was found in the store. */
	resuming: Promise<void> | undefined;
	/** Whether what it owed when it was loaded is being performed. */
	resumed: boolean;
	#run: Run;
	#waiters: Waiter[] = [];
	#last: Promise<unknown> = Promise.resolve();

	constructor(run: Run, resumed = true) {
		this.runId = run.runId;
		this.#run = run;
		this.resumed = resumed;
	}

	/** Always what was saved: events are applied to a copy that takes its place. Do not keep it across an `await`. */
	get run(): Run {
		return this.#run;
	}

	/** What is under way for it. */
	get busy(): Promise<void> | undefined {
		return this.performer ?? this.courier ?? this.resuming;
	}

	/** Whether nothing is to be done for it. */
	get idle(): boolean {
		const { owed, effects, inbox, busy } = this;
		return owed.length + effects.length + inbox.length === 0 && busy === undefined;
	}

	/** One after the other. */
	exclusive<T>(work: () => Promise<T>): Promise<T> {
		const turn = this.#last.then(work);
		this.#last = turn.catch(() => {});
		return turn;
	}

	/** Goes on with a state that was saved. */
	take(run: Run): void {
		this.#run.free();
		this.#run = run;
		// Answered here and not when the waiter wakes: the run may have gone on by then.
		const { ended, status } = run;
		const answered = this.#waiters.filter(({ statuses }) => ended || statuses.includes(status));
		this.#waiters = this.#waiters.filter((waiter) => !answered.includes(waiter));
		for (const { resolve } of answered) resolve(run.statusView());
	}

	/** The view when the run has one of these statuses or has ended. */
	reaches(statuses: readonly Status[]): Promise<StatusView> {
		if (this.#run.ended || statuses.includes(this.#run.status)) return Promise.resolve(this.#run.statusView());
		return new Promise((resolve, reject) => this.#waiters.push({ statuses, resolve, reject }));
	}

	/** Lets nobody wait any longer. */
	abandon(error: Error): void {
		for (const { reject } of this.#waiters.splice(0)) reject(error);
	}
}

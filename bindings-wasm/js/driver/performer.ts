/** Performs a run's effects one after the other; the core says which are still due and what becomes of failures. */

import { type Effect, type RunEvent, unreadableReport } from '../public.js';
import type { Host } from './host.js';
import type { Live, Report } from './live.js';
import type { Finished } from './parts.js';
import { isOutOfResources } from './resources.js';

export class Performer {
	readonly #host: Host;
	readonly #post: (runId: string, report: Report) => void;

	/** What parts report later goes to `post`. */
	constructor(host: Host, post: (runId: string, report: Report) => void) {
		this.#host = host;
		this.#post = post;
	}

	/** Performs what is to be performed; what fails too often is in `live.owed` afterwards. */
	async performAll(live: Live): Promise<void> {
		while (!this.#host.stopped) {
			const effect = live.effects.shift();
			if (effect === undefined) return;
			try {
				if (live.run.due(effect, live.owed).perform === 'later') live.owed.push(effect);
				else await this.#performWithRetries(live, effect);
			} catch (error) {
				// The core itself could not be asked.
				live.owed.push(effect);
				await this.#host.report(live.runId, effect, error, 1);
			}
		}
	}

	/** What a process tells when its turn has ended. */
	finished(runId: string, attemptNumber: number, slotId: string): Finished {
		const about = { attempt_number: attemptNumber, slot_id: slotId };
		const unreadable = unreadableReport(attemptNumber, slotId);
		return (report) => {
			if (report === null) {
				this.#post(runId, { event: { type: 'process_lost', ...about } });
				return;
			}
			let event: RunEvent = unreadable;
			try {
				event = { ...report, type: 'turn_finished', ...about };
			} catch {
				// An object that cannot even be copied is no report; the turn must not run for ever because of it.
			}
			this.#post(runId, { event, instead: unreadable });
		};
	}

	async #performWithRetries(live: Live, effect: Effect): Promise<void> {
		const { retry, store } = this.#host;
		let begun = false;
		let attempt = 0;
		let failures = 0;
		while (!this.#host.stopped) {
			// Asked before each try: a cancel may have come meanwhile.
			const due = live.run.due(effect);
			if (due.perform !== 'now') return;
			// An earlier try may have begun the turn before it failed, and the turn may have ended: then it must not begin
			// again. So what was reported until now is taken first.
			if (due.once && live.courier !== undefined) {
				await live.courier;
				continue;
			}
			attempt += 1;
			let scarce = false;
			try {
				if (due.once && !begun) {
					await this.#host.call(live.runId, () => store.markBegun(live.runId, effect.id));
					begun = true;
				}
				if (this.#host.stopped) return;
				await this.#host.call(live.runId, () => this.#perform(live, effect));
				return;
			} catch (error) {
				scarce = isOutOfResources(error);
				if (!scarce) failures += 1;
				await this.#host.report(live.runId, effect, error, attempt);
			}
			if (failures >= retry.attempts || (scarce && attempt >= retry.attempts)) {
				// Without resources nothing was begun, whatever the note says, and a turn is kept until there are some.
				return this.#giveUp(live, effect, begun && !scarce);
			}
			await this.#host.sleepAfter(attempt);
		}
	}

	#giveUp(live: Live, effect: Effect, begun: boolean): void {
		const verdict = live.run.givenUp(effect, begun);
		if (verdict.then === 'keep') live.owed.push(effect);
		if (verdict.then === 'tell') this.#post(live.runId, { event: verdict.event, ends: { effect, ...verdict } });
	}

	#perform(live: Live, effect: Effect): void | PromiseLike<void> {
		const { runId } = live;
		const { slots, timers, processes, onNotify } = this.#host;
		switch (effect.type) {
			case 'acquire_slot': {
				const { slot_id } = effect;
				return slots.acquire(runId, slot_id, () => this.#post(runId, { event: { type: 'slot_granted', slot_id } }));
			}
			case 'release_slot':
				return slots.release(effect.slot_id);
			case 'set_timer': {
				const { interaction_id } = effect;
				const fired = () => this.#post(runId, { event: { type: 'timer_fired', interaction_id } });
				return timers.set(runId, interaction_id, effect.at, fired);
			}
			case 'cancel_timer':
				return timers.cancel(runId, effect.interaction_id);
			case 'terminate_process':
				return processes.terminate(effect.slot_id);
			case 'notify':
				return onNotify?.(runId, effect);
			case 'start_turn':
				return processes.start(live.run.copy(), effect, this.#finishedOf(runId, effect));
			case 'inject_reply':
				return processes.inject(live.run.copy(), effect, this.#finishedOf(runId, effect));
		}
	}

	#finishedOf(runId: string, effect: { attempt_number: number; slot_id: string }): Finished {
		return this.finished(runId, effect.attempt_number, effect.slot_id);
	}
}

/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Hosts runs: saves what the core decides, performs its effects, and tells it what happened.
 *
 * No decision about a run is made here. The driver keeps four promises: a state is saved before its effects are
 * performed; the effects of one run are performed in order; what a part reports is not lost when the store fails; and
 * after a crash {@link Driver.recover} goes on from what the core says is owed.
 */

import {
	CorePanickedError,
	type Effect,
	EventRejectedError,
	type JsonInput,
	type Plan,
	type Receipt,
	type ReplyOptions,
	Run,
	type RunEvent,
	type Status,
	type StatusView,
	type Transition,
} from '../public.js';
import { closingAfterPanic, type DriverParts, Host } from './host.js';
import { Live, type Report, replacementOf } from './live.js';
import { DriverUsageError, RunNotFoundError, StoreConflictError } from './parts.js';
import { Performer } from './performer.js';
import { Belongings, holdSlots } from './recovery.js';

/** How long `close` waits until the reports that have arrived are saved. */
const LAST_REPORTS_MS = 2000;

/**
 * Drives runs with the host's parts.
 *
 * Callbacks may call back: `start`, `reply`, `cancel` and `tell` return when the event is saved, and its effects are
 * performed after those that are under way. Only waiting for a run inside of its own callback is refused
 * (`INSIDE_CALLBACK`); in browsers that is recognised only before the callback's first `await`, so do not do it.
 */
export class Driver {
	readonly #host: Host;
	readonly #performer: Performer;
	readonly #runs = new Map<string, Live>();
	readonly #loading = new Map<string, Promise<Live>>();
	readonly #saves = new Set<Promise<unknown>>();
	#closed = false;
	#panic: CorePanickedError | undefined;

	constructor(parts: DriverParts) {
		const onError = closingAfterPanic(parts.onError, (panic) => this.#closeIfPanicked(panic));
		this.#host = new Host({ ...parts, onError });
		this.#performer = new Performer(this.#host, (runId, report) => this.#receive(runId, report));
	}

	/** Makes a run of an admitted plan, saves it and lets its effects be performed. Gives its id. */
	async start(plan: Plan): Promise<string> {
		this.#open();
		return this.#saving(this.#create(plan));
	}

	/** Takes a user's reply. The receipt is given when the reply is saved; it has a `code` if the reply was refused. */
	async reply(
		runId: string,
		interactionId: number | bigint,
		response: JsonInput,
		options: ReplyOptions = {},
	): Promise<Receipt> {
		return (await this.#request(runId, (run, now) => run.reply(interactionId, response, now, options))).receipt;
	}

	/** Ends a run. {@link Driver.settled} waits until its process is gone and its slot given back. */
	async cancel(runId: string, reason?: string): Promise<Receipt> {
		return (await this.#request(runId, (run, now) => run.cancel(now, reason))).receipt;
	}

	/**
	 * Applies any event; a refused request has a receipt with a `code`, what is no event throws {@link EventRejectedError}.
	 * The effects are performed by the driver.
	 */
	async tell(runId: string, event: RunEvent): Promise<Transition> {
		return this.#request(runId, (run, now) => run.apply(event, now));
	}

	/** The same for an event given as JSON text, exact to the last digit. */
	async tellJson(runId: string, event: string): Promise<Transition> {
		return this.#request(runId, (run, now) => run.applyJson(event, now));
	}

	/** The run as it was saved last. Throws {@link RunNotFoundError} for a run that is not in memory. */
	view(runId: string): StatusView {
		return this.#inMemory(runId).run.statusView();
	}

	/** A copy of the run, to be read: its question, history, explanation. */
	run(runId: string): Run {
		return this.#inMemory(runId).run.copy();
	}

	/** The effects that failed too often and wait to be tried again. */
	owed(runId: string): Effect[] {
		return [...this.#inMemory(runId).owed];
	}

	/** How many runs have not ended, by their status, of those in memory: after {@link Driver.recover} that is all. */
	countUnfinished(): Partial<Record<Status, number>> {
		const counts: Partial<Record<Status, number>> = {};
		for (const { run } of this.#runs.values()) {
			if (!run.ended) counts[run.status] = (counts[run.status] ?? 0) + 1;
		}
		return counts;
	}

	/** Waits until the run has one of these statuses or has ended, and gives its view at that moment. */
	async wait(runId: string, ...statuses: Status[]): Promise<StatusView> {
		this.#notInside(runId, 'wait');
		this.#open();
		return (await this.#known(runId)).reaches(statuses);
	}

	/** Waits until every effect told so far was performed (or is kept as owed) and every report applied. */
	async settled(runId: string): Promise<void> {
		this.#notInside(runId, 'settled');
		const live = await this.#known(runId);
		for (let { busy } = live; busy !== undefined; { busy } = live) await busy;
	}

	/** Tries what is owed again now, for one run or for all. */
	async retryOwed(runId?: string): Promise<void> {
		this.#open();
		const lives = runId === undefined ? [...this.#runs.values()] : [await this.#known(runId)];
		for (const live of lives) this.#performSoon(live, []);
	}

	/** Takes an ended run out of memory; the store still has it. */
	forget(runId: string): void {
		const live = this.#runs.get(runId);
		if (live === undefined) return;
		if (!live.run.ended || !live.idle) throw new DriverUsageError('RUN_NOT_DONE', `run ${runId} is not done yet`);
		this.#runs.delete(runId);
		// After the requests that are on their way.
		void live.exclusive(async () => live.run.free());
	}

	/**
	 * Goes on after a restart. Gives the ids of the runs that had not ended.
	 *
	 * What no run may keep is given back or ended first; then what is owed is performed. A turn that was begun, but
	 * whose process is gone, is told to the core as lost. What fails is reported (`onError` with `null` for the effect)
	 * and does not keep the other runs from going on; calling this again tries it again.
	 */
	async recover(): Promise<string[]> {
		this.#open();
		const host = this.#host;
		const belongings = await Belongings.of(host);
		const runIds = [...(await host.store.unfinished())];
		for (const runId of runIds) await host.attempt(runId, () => this.#known(runId));
		const lives = runIds.flatMap((runId) => this.#runs.get(runId) ?? []);
		for (const live of lives) belongings.leaveTo(live.run);
		const lost = await holdSlots(host, lives);
		await belongings.giveBack(host, new Set(runIds.filter((runId) => !this.#runs.has(runId))));
		for (const live of lives) {
			if (!live.resumed && live.resuming === undefined) {
				live.resumed = await host.attempt(live.runId, () => this.#resume(live, lost.has(live.runId)));
			}
		}
		return runIds;
	}

	/**
	 * Stops driving. Parts are not closed and processes not ended: {@link Driver.recover} can go on from here. A part
	 * that is in the middle of an effect is not waited for.
	 */
	async close(): Promise<void> {
		this.#closed = true;
		const lives = [...this.#runs.values()];
		// A turn's result that has arrived is saved if that is possible; it would have to be run again.
		const couriers = lives.flatMap((live) => live.courier ?? []);
		if (couriers.length > 0) await Promise.race([Promise.all(couriers), this.#host.sleep(LAST_REPORTS_MS)]);
		this.#host.stop.abort();
		// Saving is never broken off: it is short, and half of it would be a lie. A store that closes the driver would
		// wait for itself.
		if (this.#host.inside.runId === undefined) await Promise.allSettled(this.#saves);
		for (const live of lives) live.abandon(new DriverUsageError('DRIVER_CLOSED', 'the driver was closed'));
	}

	/** The same as {@link Driver.close}, for `await using`. */
	declare [Symbol.asyncDispose]: () => Promise<void>;

	// Changing a run: apply to a copy, save, take the copy.

	async #create(plan: Plan): Promise<string> {
		const [run, { effects, entry, observation }] = Run.create(plan, this.#host.clock());
		const { runId } = run;
		const snapshot = run.snapshot();
		if (entry === undefined) throw new TypeError('creation is always journaled');
		try {
			await this.#host.call(runId, () => this.#host.store.create(runId, snapshot, entry));
		} catch (error) {
			// The error may have come after the commit; then the run exists and must not be left alone.
			if (error instanceof StoreConflictError || !(await this.#wasSaved(runId, snapshot))) {
				run.free();
				throw error;
			}
		}
		const live = new Live(run);
		this.#runs.set(runId, live);
		this.#performSoon(live, effects);
		this.#host.observe(observation);
		return runId;
	}

	async #request<T extends Transition>(runId: string, step: (run: Run, now: number) => T): Promise<T> {
		this.#open();
		try {
			let live = await this.#known(runId);
			// It may have been forgotten, and its memory given back, while this was waiting.
			while (this.#runs.get(runId) !== live) live = await this.#known(runId);
			return await this.#saving(this.#change(live, step));
		} catch (error) {
			this.#closeIfPanicked(error);
			throw error;
		}
	}

	#change<T extends Transition>(live: Live, step: (run: Run, now: number) => T): Promise<T> {
		return live.exclusive(async () => {
			let run: Run | undefined;
			let taken = false;
			try {
				run = live.run.copy();
				const transition = step(run, this.#host.clock());
				const { effects, entry, observation } = transition;
				taken = entry !== undefined && (await this.#save(live, run, entry));
				if (taken) {
					live.take(run);
					this.#performSoon(live, effects);
				}
				this.#host.observe(observation);
				return transition;
			} catch (error) {
				if (error instanceof EventRejectedError) this.#host.observe(error.observation);
				throw error;
			} finally {
				if (!taken) run?.free();
			}
		});
	}

	async #save(live: Live, run: Run, entry: NonNullable<Transition['entry']>): Promise<true> {
		const { runId } = live;
		const [snapshot, expected, ended] = [run.snapshot(), live.run.revision, run.ended];
		try {
			await this.#host.call(runId, () => this.#host.store.save(runId, expected, snapshot, entry, ended));
		} catch (error) {
			if (error instanceof StoreConflictError || !(await this.#wasSaved(runId, snapshot))) {
				await this.#reload(live);
				throw error;
			}
		}
		return true;
	}

	/** Whether a save that threw had been committed nevertheless. */
	async #wasSaved(runId: string, snapshot: string): Promise<boolean> {
		try {
			const stored = await this.#load(runId);
			const same = stored.snapshot() === snapshot;
			stored.free();
			return same;
		} catch {
			return false;
		}
	}

	/** After a failed save the store is right. If it cannot be read, the state that was saved last still stands. */
	async #reload(live: Live): Promise<void> {
		let stored: Run;
		try {
			stored = await this.#load(live.runId);
		} catch (error) {
			await this.#host.report(live.runId, null, error, 1);
			return;
		}
		if (stored.revision === live.run.revision) {
			stored.free();
			return;
		}
		live.take(stored);
		live.resumed = false;
		live.resuming ??= this.#goOn(live).finally(() => {
			live.resuming = undefined;
		});
	}

	/** Goes on with a state whose effects were never told here, as after a restart, until that works. */
	async #goOn(live: Live): Promise<void> {
		const host = this.#host;
		for (let attempt = 1; !live.resumed && !host.stopped; attempt += 1) {
			try {
				// What was told before is performed first.
				while (live.performer !== undefined) await live.performer;
				const belongings = (await Belongings.of(host)).onlyOf(live.runId);
				belongings.leaveTo(live.run);
				await belongings.giveBack(host, new Set());
				await this.#resume(live, false);
				live.resumed = true;
			} catch (error) {
				await host.report(live.runId, null, error, attempt);
				await host.sleepAfter(attempt);
			}
		}
	}

	/** Goes on with a loaded run as the core says, from what there is of it. */
	async #resume(live: Live, slotLost: boolean): Promise<void> {
		const { processes, store } = this.#host;
		const run = live.run.copy();
		try {
			const { keep, turn_effect_id: begins } = run.outstanding();
			const alive = keep.process !== undefined && [...(await processes.alive())].includes(keep.process);
			const begun = begins !== undefined && (await store.wasBegun(live.runId, begins));
			const found = run.afterRestart({ process_alive: alive, begun, slot_lost: slotLost });
			if (found.attach !== undefined) {
				const { slot_id, attempt_number } = found.attach;
				await processes.attach(slot_id, this.#performer.finished(live.runId, attempt_number, slot_id));
			}
			this.#performSoon(live, found.effects);
			if (found.event !== undefined) this.#receive(live.runId, { event: found.event });
		} finally {
			run.free();
		}
	}

	async #load(runId: string): Promise<Run> {
		return Run.restore(await this.#host.call(runId, () => this.#host.store.load(runId)));
	}

	#inMemory(runId: string): Live {
		const live = this.#runs.get(runId);
		if (live === undefined) throw new RunNotFoundError(runId);
		return live;
	}

	async #known(runId: string): Promise<Live> {
		const live = this.#runs.get(runId) ?? this.#loading.get(runId);
		if (live !== undefined) return live;
		const loading = this.#load(runId).then((run) => {
			// It may have been made meanwhile.
			const known = this.#runs.get(runId) ?? new Live(run, false);
			this.#runs.set(runId, known);
			return known;
		});
		this.#loading.set(runId, loading);
		try {
			return await loading;
		} finally {
			this.#loading.delete(runId);
		}
	}

	// What parts report.

	/** Takes a report. Those to a closed driver are dropped: recovery finds out. */
	#receive(runId: string, report: Report): void {
		const live = this.#runs.get(runId);
		// A run that was forgotten has ended: the core would absorb it.
		if (this.#closed || live === undefined) return;
		live.inbox.push(report);
		this.#deliverSoon(live);
	}

	#deliverSoon(live: Live): void {
		live.courier ??= Promise.resolve()
			.then(() => this.#deliver(live))
			.finally(() => {
				live.courier = undefined;
				if (live.inbox.length > 0 && !this.#host.stopped) this.#deliverSoon(live);
			});
	}

	async #deliver(live: Live): Promise<void> {
		for (let attempt = 1; !this.#host.stopped; attempt += 1) {
			const report = live.inbox[0];
			if (report === undefined) return;
			try {
				await this.#tell(live, report);
			} catch (error) {
				await this.#host.report(live.runId, report.event, error, attempt);
				if (!(error instanceof EventRejectedError)) {
					await this.#host.sleepAfter(attempt);
					continue;
				}
				const replacement = replacementOf(report, error);
				if (replacement !== undefined) {
					live.inbox[0] = replacement;
					continue;
				}
			}
			live.inbox.shift();
			attempt = 0;
		}
	}

	async #tell(live: Live, { event, ends }: Report): Promise<void> {
		if (ends !== undefined) {
			// The turn has ended by itself.
			if (live.run.due(ends.effect).perform !== 'now') return;
			await this.#host.call(live.runId, () => this.#host.processes.terminate(ends.slot_id));
		}
		await this.#saving(this.#change(live, (run, now) => run.apply(event, now)));
	}

	// Performing effects.

	#performSoon(live: Live, effects: readonly Effect[]): void {
		live.effects.push(...live.owed, ...effects);
		live.owed = [];
		if (live.effects.length === 0 || this.#closed) return;
		live.performer ??= Promise.resolve()
			.then(() => this.#performer.performAll(live))
			.finally(() => {
				live.performer = undefined;
				if (live.effects.length > 0) this.#performSoon(live, []);
				else if (live.owed.length > 0) void this.#performLater(live);
			});
	}

	async #performLater(live: Live): Promise<void> {
		await this.#host.sleep(this.#host.retry.pauseMs);
		if (!this.#closed) this.#performSoon(live, []);
	}

	/** A core that panicked has lost every run in memory. What was saved is loaded by the next driver, after `reset()`. */
	#closeIfPanicked(error: unknown): void {
		if (!(error instanceof CorePanickedError) || this.#closed) return;
		this.#panic = error;
		this.#closed = true;
		this.#host.stop.abort();
		for (const live of this.#runs.values()) live.abandon(error);
	}

	#open(): void {
		if (this.#panic !== undefined) throw this.#panic;
		if (this.#closed) throw new DriverUsageError('DRIVER_CLOSED', 'the driver is closed');
	}

	#notInside(runId: string, method: string): void {
		if (this.#host.inside.runId !== runId) return;
		throw new DriverUsageError(
			'INSIDE_CALLBACK',
			`${method}() was called inside of a callback of run ${runId}, which cannot go on before the callback returns; ` +
				'call it after that',
		);
	}

	#saving<T>(work: Promise<T>): Promise<T> {
		this.#saves.add(work);
		const done = () => this.#saves.delete(work);
		work.then(done, done);
		return work;
	}
}

if (Symbol.asyncDispose) {
	Object.defineProperty(Driver.prototype, Symbol.asyncDispose, { value: Driver.prototype.close });
}

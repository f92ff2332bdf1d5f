/**
 * Carries out turns: a workflow on the queue is a slot, from its grant until nothing of its process is left.
 *
 * No decision about a run is made here. What is to be done follows from the run as it is saved: as long as it keeps this
 * slot's process, what it owes to that process is performed and what the process reports is told; then the process is
 * ended, and the slot is free.
 */

import { randomUUID } from 'node:crypto';
import { Host } from '../driver/host.js';
import { MemoryStore } from '../driver/index.js';
import { Live, type Report, replacementOf } from '../driver/live.js';
import { Performer } from '../driver/performer.js';
import { EventRejectedError, Run, TurnlatchError } from '../public.js';
import { type Advance, type Granted, telling } from './advance.js';
import { Signal } from './changes.js';
import type { Office } from './office.js';
import { Displaced, type Hold } from './tables.js';
import { isUnreadable, type Task } from './task.js';

/** One slot's turn, or, of a sticky run, its turns. */
export class Turn {
	readonly #office: Office;
	readonly #task: Task;
	readonly #runId: string;
	readonly #hold: Hold;
	readonly #host: Host;
	readonly #performer: Performer;
	readonly #inbox: Report[] = [];
	readonly #stirred = new Signal();
	readonly #performed = new Set<string>();

	constructor(office: Office, task: Task, runId: string, slotId: string, executorId: string) {
		this.#office = office;
		this.#task = task;
		this.#runId = runId;
		this.#hold = { slotId, executorId, holder: randomUUID() };
		this.#host = new Host({ ...office.parts, store: new BegunNotes(office.advance, this.#hold, task) });
		task.stopped.addEventListener('abort', () => {
			this.#host.stop.abort();
			this.#stirred.set();
		});
		this.#performer = new Performer(this.#host, (_runId, report) => {
			this.#inbox.push(report);
			this.#stirred.set();
		});
	}

	/** Answers when the slot is free again. Throws {@link Displaced} if somebody else goes on with it. */
	async carryOut(): Promise<void> {
		const unwatch = this.#office.news.watch(this.#runId, this.#stirred.set);
		try {
			await this.#useSlot(await this.#granted());
			await this.#certainly(() => this.#office.advance.release(this.#hold));
		} catch (error) {
			// There is no run that could say what becomes of its slot.
			if (isUnreadable(error)) await this.#certainly(() => this.#office.advance.abandon(this.#runId, this.#hold));
			throw error;
		} finally {
			unwatch();
		}
	}

	/** Carries out what the run wants of the slot's process, until the run does not keep it and it is gone. */
	async #useSlot({ advanced, begun }: Granted): Promise<void> {
		const live = new Live(advanced.run);
		try {
			if (this.#isKeptBy(live.run)) await this.#resume(live.run, begun);
			while (this.#isKeptBy(live.run)) {
				await this.#perform(live);
				await this.#listen(live);
			}
		} finally {
			// Also if it is not this worker's any more, or the worker closes: no process outlives its slot.
			await this.#endProcess();
			live.run.free();
		}
	}

	async #granted(): Promise<Granted> {
		const { slots, pollMs } = this.#office.settings;
		while (true) {
			const granted = await this.#office.granting(async () =>
				this.#office.mayBegin()
					? this.#certainly(() => this.#office.advance.grant(this.#runId, this.#hold, slots))
					: undefined,
			);
			if (granted !== undefined) {
				this.#office.took(granted.advanced);
				return granted;
			}
			await this.#task.sleep(pollMs);
		}
	}

	#isKeptBy(run: Run): boolean {
		return run.outstanding().keep.process === this.#hold.slotId;
	}

	/** Goes on as the core says; for a turn that nobody has begun, that is at its beginning. */
	async #resume(run: Run, begun: boolean): Promise<void> {
		const { slotId } = this.#hold;
		const { processes } = this.#host;
		const alive = [...(await processes.alive())].includes(slotId);
		const found = run.afterRestart({ process_alive: alive, begun });
		const { turn_effect_id: begins } = run.outstanding();
		if (begins !== undefined && found.effects.length === 0) this.#performed.add(begins);
		if (found.attach !== undefined) {
			const { attempt_number: attempt } = found.attach;
			await processes.attach(slotId, this.#performer.finished(this.#runId, attempt, slotId));
		}
		if (found.event !== undefined) this.#inbox.push({ event: found.event });
	}

	/** Begins the run's turn in this slot's process, if that has not been done. */
	async #perform(live: Live): Promise<void> {
		const { turn_effect_id: begins } = live.run.outstanding();
		if (begins !== undefined && !this.#performed.has(begins)) {
			this.#performed.add(begins);
			// This worker holds the slot, so no other can have begun the turn, and it has the process.
			live.effects.push(...live.run.afterRestart({ process_alive: true, begun: false }).effects);
		}
		await this.#performer.performAll(live);
		this.#task.goOn();
		if (live.owed.length === 0) return;
		for (const { id } of live.owed) this.#performed.delete(id);
		live.owed = [];
		await this.#task.sleepAfter(this.#host.retry.attempts);
	}

	/** Tells what the process has reported, or waits until it reports or the run has changed. */
	async #listen(live: Live): Promise<void> {
		if (this.#inbox.length === 0) await this.#stirred.wait(this.#office.settings.pollMs);
		this.#task.goOn();
		const [report] = this.#inbox;
		if (report === undefined) await this.#look(live);
		else await this.#tell(live, report);
	}

	async #tell(live: Live, report: Report): Promise<void> {
		const { event } = report;
		try {
			const advanced = await this.#certainly(() =>
				this.#office.advance.change(this.#runId, telling(event), this.#hold),
			);
			live.take(advanced.run);
			this.#office.took(advanced);
		} catch (error) {
			if (!(error instanceof EventRejectedError)) throw error;
			this.#host.observe(error.observation);
			await this.#host.report(this.#runId, event, error, 1);
			const replacement = replacementOf(report, error);
			if (replacement !== undefined) {
				this.#inbox[0] = replacement;
				return;
			}
		}
		this.#inbox.shift();
	}

	async #look(live: Live): Promise<void> {
		const { revision } = live.run;
		const { tables } = this.#office;
		const [isMine, snapshot] = await this.#certainly(() =>
			this.#office.read(async (db) => {
				const changed = (await tables.revision(db, this.#runId)) !== revision;
				const stored = changed ? await tables.snapshot(db, this.#runId) : undefined;
				return [await tables.holds(db, this.#hold), stored] as const;
			}),
		);
		if (!isMine) throw new Displaced();
		if (snapshot !== undefined) live.take(Run.restore(snapshot));
	}

	async #endProcess(): Promise<void> {
		const { host } = this.#office;
		// The slot is kept until the process is gone (LIFE-7), however often that has to be tried.
		while (!(await host.attempt(this.#runId, () => host.processes.terminate(this.#hold.slotId)))) {
			await host.sleepAfter(host.retry.attempts);
		}
	}

	/** Tries until the database answers: a report that has arrived must not be lost. */
	async #certainly<T>(work: () => Promise<T>): Promise<T> {
		for (let attempt = 1; ; attempt += 1) {
			this.#task.goOn();
			try {
				return await work();
			} catch (error) {
				if (error instanceof Displaced || error instanceof TurnlatchError) throw error;
				await this.#task.afterFailure(error, attempt);
			}
		}
	}
}

/** The one thing that a performer asks of a store: to note what is about to be begun. */
class BegunNotes extends MemoryStore {
	readonly #advance: Advance;
	readonly #hold: Hold;
	readonly #task: Task;

	constructor(advance: Advance, hold: Hold, task: Task) {
		super();
		this.#advance = advance;
		this.#hold = hold;
		this.#task = task;
	}

	override async markBegun(runId: string, effectId: string): Promise<void> {
		try {
			await this.#advance.markBegun(runId, effectId, this.#hold);
		} catch (error) {
			if (!(error instanceof Displaced)) throw error;
			// The performer would take it for a passing fault; a stopped one begins nothing.
			this.#task.stop();
		}
	}
}

/** One transaction takes an event: it locks the run's row, asks the core, saves, and enqueues what follows. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../driver/index.js';
import { type Effect, LoadError, type Plan, Run, type RunEvent, type Transition } from '../public.js';
import { type Connection, type Database, isPassing } from './database.js';
import type { Beside } from './driver.js';
import { Displaced, type Held, type Hold, type Kept, NOBODY, type Tables } from './tables.js';
import type { Enqueuer } from './workflows.js';

/** How long a database that does not answer is waited for. */
const PATIENCE_MS = 30_000;
const LOOK_AGAIN_MS = 200;

/** What is to be done with a run at a time. */
export type Step<T extends Transition = Transition> = (run: Run, now: number) => T;

/** A run after an event, as it was saved; `withdrawn` are effects for queues that are not wanted any more. */
export interface Advanced<T extends Transition = Transition> {
	readonly runId: string;
	readonly run: Run;
	readonly applied: T;
	readonly withdrawn: readonly Effect[];
}

/** A run whose slot was granted; `begun` says that what it owes was begun before, by somebody who is gone. */
export interface Granted {
	readonly advanced: Advanced;
	readonly begun: boolean;
}

/** What a transaction meant to commit: the line is chained to all before it, so it cannot be another's. */
interface Saved {
	readonly runId: string;
	readonly revision: number;
	readonly line: string;
}

type Save = (saved: Saved) => void;

/**
 * Changes runs. Every method answers when the change is durable.
 *
 * A database that is away for a moment is waited for. A commit whose answer was lost is looked up before anything is
 * done again, so that nobody is told that his reply came too late because it came twice.
 */
export class Advance {
	readonly #database: Database;
	readonly #tables: Tables;
	readonly #enqueuer: Enqueuer;
	readonly #clock: Clock;

	constructor(database: Database, tables: Tables, enqueuer: Enqueuer, clock: Clock) {
		this.#database = database;
		this.#tables = tables;
		this.#enqueuer = enqueuer;
		this.#clock = clock;
	}

	/** Makes a run, or throws `RUN_EXISTS`; and in the same transaction what a host keeps beside it. */
	create(plan: Plan, beside?: Beside): Promise<Advanced> {
		const now = this.#clock();
		const [run, applied] = Run.create(plan, now);
		const { entry } = applied;
		if (entry === undefined) throw new TypeError('creation is always journaled');
		const kept = keptOf(run);
		return this.#certainly(async (db, save) => {
			const line = await this.#tables.insert(db, kept, entry);
			await beside?.(db);
			save({ runId: kept.runId, revision: kept.revision, line });
			return { runId: kept.runId, run, applied, withdrawn: await this.#enqueue(db, kept.runId, applied, now) };
		});
	}

	/** Applies a step. With `hold`, only if the turn is still carried out under it. */
	change<T extends Transition>(runId: string, step: Step<T>, hold?: Hold): Promise<Advanced<T>> {
		return this.#certainly(async (db, save) => {
			const snapshot = await this.#tables.locked(db, runId);
			if (hold !== undefined) await this.#tables.check(db, hold);
			return this.#apply(db, Run.restore(snapshot), step, save);
		});
	}

	/**
	 * Tells the run that it has its slot, and holds the slot if the run wants it; `undefined` if none is free. Throws
	 * {@link Displaced} if the workflow is another worker's by now.
	 */
	grant(runId: string, hold: Hold, slots: number): Promise<Granted | undefined> {
		const event: RunEvent = { type: 'slot_granted', slot_id: hold.slotId };
		return this.#certainly(async (db, save) => {
			const before = Run.restore(await this.#tables.locked(db, runId));
			// Asked under the run's lock: who takes the workflow over from here on is granted the slot after this.
			if ((await this.#enqueuer.carrier(hold.slotId)) !== hold.executorId) throw new Displaced();
			if (wants(before, event, this.#clock())) {
				// The slot is taken first: the run must not be granted one that there is not.
				if (!(await this.#tables.takeSlot(db, runId, hold, slots))) return undefined;
			} else {
				// An earlier execution may have held it until it died. This one gives it back in its place.
				await this.#tables.adoptSlot(db, hold);
			}
			const advanced = await this.#apply(db, before, (run, now) => run.apply(event, now), save);
			const { turn_effect_id: begins } = advanced.run.outstanding();
			// A slot that the run does not want ends with this workflow, which need not be withdrawn.
			const kept = { ...advanced, withdrawn: [] };
			const begun = begins !== undefined && (await this.#tables.wasBegun(db, runId, [begins]));
			return { advanced: kept, begun };
		});
	}

	/** Notes that an effect is about to be performed. Whoever has lost the turn cannot begin anything. */
	markBegun(runId: string, effectId: string, hold: Hold): Promise<void> {
		return this.#certainly(async (db) => {
			await this.#tables.check(db, hold);
			await this.#tables.markBegun(db, runId, effectId);
		});
	}

	/** Gives the slot back. */
	release(hold: Hold): Promise<void> {
		return this.#certainly((db) => this.#tables.releaseSlot(db, hold));
	}

	/**
	 * Gives the slot of a run back that cannot be read, whichever execution held it. Throws {@link Displaced} if the
	 * workflow is another worker's by now.
	 */
	abandon(runId: string, hold: Hold): Promise<void> {
		return this.#certainly(async (db) => {
			await this.#tables.lock(db, runId);
			if ((await this.#enqueuer.carrier(hold.slotId)) !== hold.executorId) throw new Displaced();
			await this.#tables.freeSlot(db, hold.slotId);
		});
	}

	/**
	 * Frees the slots that are held for no run, and gives their ids.
	 *
	 * A slot whose run is done with it is normally given back by the execution that holds it, as soon as the process is
	 * gone. It is freed here if no execution can do that: the slot was taken away from its worker, or its workflow is over.
	 */
	async freeUnwanted(): Promise<string[]> {
		const held = await this.read((db) => this.#tables.holders(db));
		const active = await this.#enqueuer.active(held.map(({ slotId }) => slotId));
		const freed: string[] = [];
		for (const slot of held) {
			const isUnattended = slot.holder === NOBODY || !active.has(slot.slotId);
			if (isUnattended && (await this.#freeIfUnwanted(slot))) freed.push(slot.slotId);
		}
		return freed;
	}

	/** Takes every turn away from a worker. */
	displace(executorId: string): Promise<void> {
		return this.#database.transaction((db) => this.#tables.displace(db, executorId));
	}

	/** The answer to a query. */
	read<T>(query: (db: Connection) => Promise<T>): Promise<T> {
		return patiently(() => this.#database.reading(query));
	}

	#freeIfUnwanted({ slotId, runId, holder }: Held): Promise<boolean> {
		return this.#certainly(async (db) => {
			// Under the run's lock the slot cannot be granted, and what the run wants stays as it is read here.
			const snapshot = await this.#tables.lock(db, runId);
			// If it is another's, it was given back, or an execution has it by now.
			if ((await this.#tables.holder(db, slotId)) !== holder) return false;
			if (holder !== NOBODY && (await this.#enqueuer.active([slotId])).size > 0) return false;
			if (snapshot !== undefined && keepsSlot(snapshot, slotId)) return false;
			await this.#tables.freeSlot(db, slotId);
			return true;
		}).catch((error) => {
			// A newer package may be able to read the run, and to say what it wants.
			if (error instanceof LoadError) return false;
			throw error;
		});
	}

	async #apply<T extends Transition>(db: Connection, run: Run, step: Step<T>, save: Save): Promise<Advanced<T>> {
		const now = this.#clock();
		const applied = step(run, now);
		const { runId } = run;
		const { entry } = applied;
		if (entry === undefined) return { runId, run, applied, withdrawn: [] };
		const kept = keptOf(run);
		const line = await this.#tables.update(db, kept, entry);
		save({ runId, revision: kept.revision, line });
		return { runId, run, applied, withdrawn: await this.#enqueue(db, runId, applied, now) };
	}

	/** Enqueues the effects for queues. Gives those that withdraw something from a queue. */
	async #enqueue(db: Connection, runId: string, { effects }: Transition, now: number): Promise<Effect[]> {
		const withdrawn: Effect[] = [];
		for (const effect of effects) {
			await this.#enqueuer.enqueue(db, runId, effect, now);
			// The workflow of a slot that is held ends by itself, when its process is gone.
			const isUnheard = effect.type === 'release_slot' && !(await this.#tables.isHeld(db, effect.slot_id));
			if (effect.type === 'cancel_timer' || isUnheard) withdrawn.push(effect);
		}
		await db.query("SELECT pg_notify('turnlatch', $1)", [runId]);
		return withdrawn;
	}

	/** Does it in one transaction, again if the connection was lost, and once even if the answer was lost. */
	#certainly<T>(work: (db: Connection, save: Save) => Promise<T>): Promise<T> {
		let earlier: { readonly saved: Saved; readonly answer: T } | undefined;
		return patiently(() =>
			this.#database.transaction(async (db) => {
				if (earlier !== undefined && (await this.#wasSaved(db, earlier.saved))) return earlier.answer;
				let meant: Saved | undefined;
				const answer = await work(db, (saved) => {
					meant = saved;
				});
				if (meant !== undefined) earlier = { saved: meant, answer };
				return answer;
			}),
		);
	}

	#wasSaved(db: Connection, { runId, revision, line }: Saved): Promise<boolean> {
		return this.#tables.hasLine(db, runId, revision, line);
	}
}

/** Whether a slot that is granted now is the run's to keep, as the core says. */
function wants(run: Run, grant: RunEvent & { slot_id: string }, now: number): boolean {
	const copy = run.copy();
	try {
		copy.apply(grant, now);
		return copy.outstanding().keep.process === grant.slot_id;
	} finally {
		copy.free();
	}
}

/** Whether the run has the slot, or has asked for it, as the core says. */
function keepsSlot(snapshot: string, slotId: string): boolean {
	const run = Run.restore(snapshot);
	try {
		return run.outstanding().keep.slot_id === slotId;
	} finally {
		run.free();
	}
}

/** The step that applies an event. */
export function telling(event: RunEvent): Step {
	return (run, now) => run.apply(event, now);
}

function keptOf(run: Run): Kept {
	const { runId, revision, status, ended } = run;
	return { runId, revision, snapshot: run.snapshot(), status, ended };
}

async function patiently<T>(work: () => Promise<T>): Promise<T> {
	const end = performance.now() + PATIENCE_MS;
	while (true) {
		try {
			return await work();
		} catch (error) {
			if (!isPassing(error) || performance.now() > end) throw error;
			await sleep(LOOK_AGAIN_MS);
		}
	}
}

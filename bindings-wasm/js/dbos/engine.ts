/** DBOS in this process, from launch to shutdown, and the work it hands over. */

import { AsyncResource } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { DBOS } from '@dbos-inc/dbos-sdk';
import type { Pool } from 'pg';
import { DriverUsageError } from '../driver/index.js';
import { telling } from './advance.js';
import { openPool } from './database.js';
import type { Office } from './office.js';
import { Displaced } from './tables.js';
import { Task } from './task.js';
import { Turn } from './turns.js';
import { APPLICATION, dismiss, employ, QUIET, type Worker } from './workflows.js';

/** Takes workflows from the queues and carries them out. */
export class Engine implements Worker {
	readonly #office: Office;
	readonly #executorId: string;
	/** Work is done outside of DBOS's context: what is asked of its client there is no step of the workflow. */
	readonly #outside = new AsyncResource('turnlatch');
	readonly #tasks = new Map<Task, Promise<void>>();
	/** By slot: who carries it out here. */
	readonly #slots = new Map<string, Promise<void>>();
	readonly #stop = new AbortController();
	#pool: Pool | undefined;
	#launched = false;
	#closing = false;

	constructor(office: Office, executorId: string) {
		if (!employ(this)) {
			const message = 'there is one DBOS for a process, and somebody else has it; a client (works: false) needs none';
			throw new DriverUsageError('DRIVER_EXISTS', message);
		}
		this.#office = office;
		this.#executorId = executorId;
	}

	/** Begins to take workflows. What this worker left unfinished in an earlier life comes first. */
	async launch(): Promise<void> {
		const { database, applicationVersion, slots, pollMs } = this.#office.settings;
		await this.#office.enqueuer.makeQueues(slots, pollMs);
		this.#pool = openPool(database, DBOS_CONNECTIONS);
		DBOS.setConfig({
			name: APPLICATION,
			systemDatabaseUrl: database.url,
			systemDatabasePool: this.#pool,
			applicationVersion,
			executorID: this.#executorId,
			logger: QUIET,
		});
		this.#launched = true;
		await DBOS.launch();
		void this.#freeSlots();
	}

	turn(runId: string, slotId: string): Promise<void> {
		return this.#carryOut(runId, async (task) => {
			// Should this worker take over from itself, the earlier one ends its process first.
			const earlier = this.#slots.get(slotId) ?? Promise.resolve();
			const turn = earlier.then(() => task.persistently(() => this.#carryOutTurn(task, runId, slotId)));
			const over = turn.catch(() => {});
			this.#slots.set(slotId, over);
			try {
				await turn;
			} finally {
				if (this.#slots.get(slotId) === over) this.#slots.delete(slotId);
			}
		});
	}

	timer(runId: string, interactionId: number, at: number): Promise<void> {
		return this.#carryOut(runId, async (task) => {
			// The database has released it by its own clock; what counts is this one.
			for (let left = at - this.#office.host.clock(); left > 0; left = at - this.#office.host.clock()) {
				await task.sleep(Math.min(left, LOOK_AGAIN_MS));
			}
			const step = telling({ type: 'timer_fired', interaction_id: interactionId });
			await task.persistently(async () => {
				const advanced = await this.#office.advance.change(runId, step);
				advanced.run.free();
				this.#office.took(advanced);
			});
		});
	}

	/** Stops, ends the processes of all turns, and lets others go on with what was under way. */
	async close(): Promise<void> {
		this.#closing = true;
		this.#stop.abort();
		for (const task of this.#tasks.keys()) task.stop();
		await Promise.allSettled(this.#tasks.values());
		if (this.#launched) {
			await DBOS.shutdown();
			await this.#pool?.end();
			await this.#handOver();
		}
		dismiss();
	}

	async #carryOutTurn(task: Task, runId: string, slotId: string): Promise<void> {
		while (true) {
			try {
				return await new Turn(this.#office, task.part(), runId, slotId, this.#executorId).carryOut();
			} catch (error) {
				// Whoever took it away may have died before he handed it over: then nobody else goes on with it.
				const isOver = !(error instanceof Displaced) || task.stopped.aborted;
				if (isOver || (await this.#office.enqueuer.carrier(slotId)) !== this.#executorId) throw error;
			}
		}
	}

	/** Frees slots that are held for no run, now and then: one that is lost would be missing for ever. */
	async #freeSlots(): Promise<void> {
		const { signal } = this.#stop;
		while (!signal.aborted) {
			try {
				for (const slotId of await this.#office.advance.freeUnwanted()) {
					console.warn(`turnlatch: worker ${this.#executorId} frees slot ${slotId}, which no run keeps`);
				}
			} catch (error) {
				if (signal.aborted) return;
				console.warn(`turnlatch: worker ${this.#executorId} could not look for slots to free:`, error);
			}
			await sleep(FREE_SLOTS_MS, undefined, { signal }).catch(() => {});
		}
	}

	async #handOver(): Promise<void> {
		// If it fails, the others find out by themselves.
		try {
			await this.#office.advance.displace(this.#executorId);
			await this.#office.enqueuer.handOver(this.#executorId);
		} catch (error) {
			console.warn(`turnlatch: worker ${this.#executorId} could not hand over:`, error);
		}
	}

	/**
	 * Does a workflow's work. One that is not this worker's any more never comes to an end here: DBOS would note
	 * whatever it answers as the workflow's result, which is for the worker that goes on with it to give.
	 */
	async #carryOut(runId: string, work: (task: Task) => Promise<void>): Promise<void> {
		if (this.#closing) return NEVER;
		const task = new Task(this.#office.parts, runId);
		const working = this.#outside.runInAsyncScope(() => work(task));
		this.#tasks.set(task, working);
		try {
			await working;
		} catch (error) {
			if (!(error instanceof Displaced)) throw error;
			return NEVER;
		} finally {
			this.#tasks.delete(task);
		}
	}
}

/** At most; DBOS uses about three. */
const DBOS_CONNECTIONS = 20;
const LOOK_AGAIN_MS = 1000;
/** How often slots are looked for that are held for no run. */
const FREE_SLOTS_MS = 5000;
const NEVER = new Promise<never>(() => {});

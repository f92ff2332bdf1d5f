/**
 * The two workflows of DBOS: a turn on the queue of slots, and a timer that is delayed to its deadline.
 *
 * DBOS is one for a process, and finds workflows by name in any process. So they are registered once, and hand over to
 * the worker that this process has opened.
 */

import { DBOS, DBOSClient, type DLogger } from '@dbos-inc/dbos-sdk';
import { ensureSystemDatabase } from '@dbos-inc/dbos-sdk/internal/system_database';
import { GlobalLogger } from '@dbos-inc/dbos-sdk/internal/telemetry/logs';
import type { ClientBase, Pool } from 'pg';
import type { Effect } from '../public.js';
import { type Address, type Connection, openPool } from './database.js';

export const APPLICATION = 'turnlatch';
const TURNS = 'turns';
const TIMERS = 'timers';
const TURN = 'turnlatch.turn';
const TIMER = 'turnlatch.timer';
const TIMERS_AT_A_TIME = 8;
/** Connections of the client that asks DBOS; transactions have a pool of their own, so that none waits for another. */
const CONNECTIONS = 4;

/** What carries workflows out. Both answer at the workflow's end, and never if it is not this worker's any more. */
export interface Worker {
	turn(runId: string, slotId: string): Promise<void>;
	timer(runId: string, interactionId: number, at: number): Promise<void>;
}

/** A workflow under way. */
interface Pending {
	readonly workflowId: string;
	readonly queue: string;
	readonly executorId: string;
}

let worker: Worker | undefined;
let registered = false;

/** Makes this the worker that workflows are handed to; `false` if there is one. */
export function employ(candidate: Worker): boolean {
	if (worker !== undefined || DBOS.isInitialized()) return false;
	worker = candidate;
	if (!registered) {
		// Taking over a workflow is no sign of a fault in it, so there is no limit to how often that may happen.
		const always = { maxRecoveryAttempts: Number.MAX_SAFE_INTEGER };
		DBOS.registerWorkflow((runId: string, slotId: string) => theWorker().turn(runId, slotId), {
			name: TURN,
			...always,
		});
		DBOS.registerWorkflow((runId: string, id: number, at: number) => theWorker().timer(runId, id, at), {
			name: TIMER,
			...always,
		});
		registered = true;
	}
	return true;
}

/** Lets another worker come. */
export function dismiss(): void {
	worker = undefined;
}

function theWorker(): Worker {
	if (worker === undefined) throw new Error('workflows are only taken from the queue while a worker is open');
	return worker;
}

/** Errors are for the operator to see. That workers compete for a queue, or that a connection was lost, is everyday life. */
export const QUIET: DLogger = {
	info: () => {},
	debug: () => {},
	warn: () => {},
	error: (what) => console.error('turnlatch: DBOS:', what),
};

/** Makes DBOS's own tables. As `DBOS.migrate` does it, which would talk on the standard output of whoever uses this. */
export function migrate(url: string): Promise<void> {
	return ensureSystemDatabase(url, new GlobalLogger(undefined, { logger: QUIET }));
}

/** Puts workflows into the queues, in the transaction that decided on them. */
export class Enqueuer {
	readonly #client: DBOSClient;
	readonly #pool: Pool;
	readonly #version: string;

	private constructor(client: DBOSClient, pool: Pool, applicationVersion: string) {
		this.#client = client;
		this.#pool = pool;
		this.#version = applicationVersion;
	}

	static async connect(address: Address, applicationVersion: string): Promise<Enqueuer> {
		const pool = openPool(address, CONNECTIONS);
		try {
			const client = await DBOSClient.create({
				systemDatabaseUrl: address.url,
				systemDatabasePool: pool,
				applicationName: APPLICATION,
				logger: QUIET,
			});
			return new Enqueuer(client, pool, applicationVersion);
		} catch (error) {
			await pool.end();
			throw error;
		}
	}

	/** Makes the queues, or gives them these limits. Before the launch, which looks for queues once a second. */
	async makeQueues(slots: number, pollMs: number): Promise<void> {
		const shared = { minPollingIntervalMs: pollMs / 2, onConflict: 'always_update' } as const;
		await this.#client.registerQueue(TURNS, { globalConcurrency: slots, ...shared });
		await this.#client.registerQueue(TIMERS, { workerConcurrency: TIMERS_AT_A_TIME, ...shared });
	}

	/** Enqueues what an effect asks for, if it is one for a queue. */
	async enqueue(db: Connection, runId: string, effect: Effect, now: number): Promise<void> {
		const transaction = db as ClientBase;
		if (effect.type === 'acquire_slot') {
			const options = this.#options(TURN, TURNS, effect.slot_id);
			await this.#client.enqueueInTransaction(transaction, options, runId, effect.slot_id);
		} else if (effect.type === 'set_timer') {
			const { interaction_id: question, at } = effect;
			// Set twice for the same deadline, it is the same workflow: the first one is still on its way.
			const options = this.#options(TIMER, TIMERS, `${timersOf(runId, question)}${at}`);
			const delay = at > now ? { delaySeconds: (at - now) / 1000 } : {};
			await this.#client.enqueueInTransaction(transaction, { ...options, ...delay }, runId, question, at);
		}
	}

	/** Cancels what is not wanted any more. Nothing depends on it: the core absorbs whatever comes late. */
	async withdraw(runId: string, effects: readonly Effect[]): Promise<void> {
		const ids: string[] = [];
		for (const effect of effects) {
			if (effect.type === 'release_slot') ids.push(effect.slot_id);
			if (effect.type !== 'cancel_timer') continue;
			const prefix = timersOf(runId, effect.interaction_id);
			const found = await this.#client.listWorkflows({
				workflow_id_prefix: prefix,
				status: 'DELAYED',
				loadInput: false,
				loadOutput: false,
			});
			ids.push(...found.map(({ workflowID }) => workflowID));
		}
		if (ids.length > 0) await this.#client.cancelWorkflows(ids);
	}

	/** The workflows under way, of one worker or of all. */
	async pending(executorId?: string): Promise<Pending[]> {
		const found = await this.#client.listWorkflows({
			status: 'PENDING',
			applicationVersion: this.#version,
			queueName: [TURNS, TIMERS],
			loadInput: false,
			loadOutput: false,
			...(executorId === undefined ? {} : { executorId }),
		});
		return found.map((one) => ({
			workflowId: one.workflowID,
			queue: one.queueName ?? TURNS,
			executorId: one.executorId ?? '',
		}));
	}

	/** The worker that carries out the workflow; `undefined` if nobody does. */
	async carrier(workflowId: string): Promise<string | undefined> {
		const [found] = await this.#client.listWorkflows({
			workflowIDs: [workflowId],
			status: 'PENDING',
			loadInput: false,
			loadOutput: false,
		});
		return found?.executorId;
	}

	/** Those of the workflows that are carried out, or wait for a worker. */
	async active(workflowIDs: string[]): Promise<Set<string>> {
		if (workflowIDs.length === 0) return new Set();
		const found = await this.#client.listWorkflows({
			workflowIDs,
			status: ['PENDING', 'ENQUEUED', 'DELAYED'],
			loadInput: false,
			loadOutput: false,
		});
		return new Set(found.map(({ workflowID }) => workflowID));
	}

	/** Puts the workflows of a worker that does not carry them out any more back into their queues. */
	async handOver(executorId: string): Promise<number> {
		const pending = await this.pending(executorId);
		for (const queueName of [TURNS, TIMERS]) {
			const ids = pending.filter(({ queue }) => queue === queueName).map(({ workflowId }) => workflowId);
			if (ids.length > 0) await this.#client.resumeWorkflows(ids, { queueName });
		}
		return pending.length;
	}

	/** Ends the client. */
	async close(): Promise<void> {
		await this.#client.destroy();
		await this.#pool.end();
	}

	#options(workflowName: string, queueName: string, workflowID: string) {
		return { workflowName, queueName, workflowID, appVersion: this.#version };
	}
}

function timersOf(runId: string, interactionId: number): string {
	// No run's id has a slash in it, so this is no beginning of another run's.
	return `${runId}/i${interactionId}/`;
}

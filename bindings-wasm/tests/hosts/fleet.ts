/** Workers as processes, to be killed, stopped and continued, and a client that asks. */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { replay } from 'turnlatch';
import { DbosDriver } from 'turnlatch/dbos';
import { PACKAGE } from '../files.js';
import { processesMarked, until } from '../hosting.js';
import { turns } from './agents.js';
import { asked, exitCode, Postgres } from './postgres.js';
import type { WorkerConfig } from './worker.js';

const WORKER = join(PACKAGE, 'build/tests-hosts/worker.mjs');
const SLOWEST_END_MS = 120_000;
const LONGEST_SCENARIO_MS = 300_000;
export const QUICK_TAKEOVER = { takeoverAfterMs: 3000 };

export class Worker {
	readonly process: ChildProcess;
	readonly #errors: string;

	/** `launcher` is the command that starts the worker's, if it is not to be started as it is. */
	constructor(config: WorkerConfig, launcher: readonly string[] = []) {
		this.#errors = join(config.folder, `${config.executorId}.err`);
		const errors = openSync(this.#errors, 'a');
		const node = [process.execPath, '--enable-source-maps', '--liftoff-only', WORKER, JSON.stringify(config)];
		const [program = '', ...options] = [...launcher, ...node];
		this.process = spawn(program, options, { stdio: ['pipe', 'pipe', errors] });
	}

	get errors(): string {
		return readFileSync(this.#errors, 'utf8');
	}

	async opened(): Promise<Worker> {
		const line = await new Promise<string>((resolve) => {
			this.process.stdout?.once('data', (data: Buffer) => resolve(data.toString()));
			this.process.once('exit', () => resolve('nothing'));
		});
		assert.equal(line, 'open\n', this.errors);
		return this;
	}

	/** The process's exit code, when it has ended; `null` after a signal. */
	ended(): Promise<number | null> {
		return exitCode(this.process);
	}

	async send(signal: NodeJS.Signals): Promise<void> {
		this.process.kill(signal);
		if (signal === 'SIGKILL') await this.ended();
	}

	/** Ends it properly, if it is there. */
	async close(): Promise<number | null> {
		this.process.kill('SIGCONT');
		this.process.stdin?.end();
		const hangs = setTimeout(() => this.process.kill('SIGKILL'), SLOWEST_END_MS);
		const code = await this.ended();
		clearTimeout(hangs);
		return code;
	}
}

/** Workers that share a database and a folder. */
export class Fleet {
	readonly url: string;
	readonly folder = mkdtempSync(join(tmpdir(), 'turnlatch-fleet-'));
	readonly mark = randomUUID();
	readonly #workers: Worker[] = [];

	constructor(url: string) {
		this.url = url;
	}

	worker(executorId: string, options: Partial<WorkerConfig> = {}): Promise<Worker> {
		return this.begin(executorId, options).opened();
	}

	begin(executorId: string, options: Partial<WorkerConfig> = {}, launcher: readonly string[] = []): Worker {
		const config = {
			executorId,
			databaseUrl: this.url,
			folder: this.folder,
			mark: this.mark,
			slots: 4,
			pollMs: 100,
			// Longer than a busy machine lets a worker wait for its turn; QUICK_TAKEOVER where failover is the subject.
			takeoverAfterMs: 10_000,
			dies: '' as const,
			stuck: {},
			...options,
		};
		const worker = new Worker(config, launcher);
		this.#workers.push(worker);
		return worker;
	}

	client(): DbosDriver {
		return new DbosDriver({ works: false, databaseUrl: this.url, pollMs: 100 });
	}

	/** The attempts that the run's agents have begun, in order. */
	started(runId: string): number[] {
		const begun = turns(this.folder).filter(({ what, slot }) => what === 'start' && slot.startsWith(`${runId}/`));
		return begun.map(({ attempt }) => attempt);
	}

	/** Lets an agent that holds go on. */
	letGo(runId: string): void {
		writeFileSync(join(this.folder, `go-${runId}`), '');
	}

	/** The living processes of agents, whoever started them. */
	agents(): string[] {
		return processesMarked(`TURNLATCH_TEST=${this.mark}`);
	}

	async close(): Promise<void> {
		await Promise.all(this.#workers.map((worker) => worker.close()));
		rmSync(this.folder, { recursive: true, force: true });
	}
}

let postgres: Postgres | undefined;

/** The server of this file's tests. */
export function server(): Postgres {
	assert.ok(postgres);
	return postgres;
}

before(async () => {
	postgres = await Postgres.start(process.env.TURNLATCH_OTHER_ADDRESS);
});
after(() => postgres?.close());

/** A test with a database and a folder of its own, workers when it asks for them, and a client. */
export function scenario(name: string, work: (fleet: Fleet, client: DbosDriver) => Promise<void>): void {
	test(name, { timeout: LONGEST_SCENARIO_MS }, async () => {
		const fleet = new Fleet(await server().database());
		const client = fleet.client();
		try {
			await client.open();
			await work(fleet, client);
		} finally {
			await client.close();
			await fleet.close();
		}
	});
}

/** Whether the worker has its lease. */
export async function isPresent(fleet: Fleet, executorId: string): Promise<boolean> {
	const key = createHash('sha256').update(`turnlatch executor ${executorId}`).digest().readBigUInt64BE() >> 1n;
	const found = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = $1 AND objid = $2";
	return (await asked(fleet.url, found, String(key >> 32n), String(key & 0xffffffffn))).length > 0;
}

/** Two workers, by their names. */
export async function two(fleet: Fleet, options: Partial<WorkerConfig> = {}): Promise<Map<string, Worker>> {
	const names = ['w1', 'w2'];
	const workers = await Promise.all(names.map((name) => fleet.worker(name, options)));
	return new Map(workers.map((worker, place) => [names[place] ?? '', worker]));
}

export function untilStarted(fleet: Fleet, runId: string, attempts = 1): Promise<void> {
	return until(() => fleet.started(runId).length >= attempts);
}

/** The worker that carries out the run's turn. */
export async function carrier(fleet: Fleet, workers: Map<string, Worker>, runId: string): Promise<Worker> {
	const query = 'SELECT executor_id FROM turnlatch_slots WHERE run_id = $1';
	const [row] = await asked<{ executor_id: string }>(fleet.url, query, runId);
	const worker = workers.get(row?.executor_id ?? '');
	assert.ok(worker);
	return worker;
}

/** The run as text; its journal tells the same, and no question was resolved twice. */
export async function checked(client: DbosDriver, runId: string): Promise<string> {
	const run = await client.run(runId);
	const [again] = replay(run.plan, await client.journal(runId));
	assert.equal(again.snapshot(), run.snapshot());
	const questions = run.history().map(({ interaction_id }) => interaction_id);
	assert.equal(new Set(questions).size, questions.length);
	return run.snapshot();
}

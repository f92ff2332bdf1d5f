/** What the tests of hosts share: plans, agents, and a driver with real parts. */

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import {
	admit,
	type InteractiveProfile,
	type Limits,
	type Plan,
	Run,
	type RunRequest,
	type Skill,
	type StartTurn,
	type StatusView,
} from 'turnlatch';
import { Driver, type DriverParts, LocalSlots, LocalTimers, type Store } from 'turnlatch/driver';
import { type Command, SqliteStore, SubprocessRunner } from 'turnlatch/node';

export const SCHEMA = { type: 'object', required: ['file'], properties: { file: { type: 'string' } } };
export const DONE = '{"file": "b.txt", "__SKILL_DONE__": true}';
export const STICKY: InteractiveProfile = { kind: 'sticky_process' };
export const QUICK = { attempts: 3, delayMs: 10, pauseMs: 50 };

export function plan(runId = 'r1', options: Partial<RunRequest> = {}, limits: Limits = {}): Plan {
	const skill: Skill = { runner: { execution_modes: ['auto', 'interactive'] }, output_schema: SCHEMA };
	const request: RunRequest = { run_id: runId, engine: 'test', execution_mode: 'interactive', ...options };
	return admit(skill, request, { engines: ['test'], limits });
}

/** Ends a test that hangs; on a busy machine everything takes its time. */
const LONGEST_WAIT_MS = 120_000;

export async function until(condition: () => boolean | Promise<boolean>, mostMs = LONGEST_WAIT_MS): Promise<void> {
	const end = performance.now() + mostMs;
	while (!(await condition())) {
		assert.ok(performance.now() < end, 'it did not happen in time');
		await sleep(5);
	}
}

/** Until the work is over, agents' reports are of an attempt that was never started. */
export async function reportingAttempt(attempt: number, work: () => Promise<void>): Promise<void> {
	const { apply } = Run.prototype;
	Run.prototype.apply = function (event, now) {
		const isTheAgents = event.type === 'turn_finished' && event.text !== DONE;
		return apply.call(this, isTheAgents ? { ...event, attempt_number: attempt } : event, now);
	};
	try {
		await work();
	} finally {
		Run.prototype.apply = apply;
	}
}

/** The living processes whose environment contains the mark, as their command lines. */
export function processesMarked(mark: string): string[] {
	const found: string[] = [];
	for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)) {
		try {
			if (!readFileSync(`/proc/${name}/environ`, 'utf8').includes(mark)) continue;
			found.push(`${name} ${readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')}`);
		} catch {
			// It is gone by now.
		}
	}
	return found;
}

export type MakeCommand = (run: Run, effect: StartTurn) => Command | Promise<Command>;

export function echo(text: string): Command {
	return { argv: ['echo', text] };
}

export function shell(script: string, options: Partial<Command> = {}): Command {
	return { argv: ['sh', '-c', script], ...options };
}

export const asksThenFinishes: MakeCommand = (_run, effect) => echo(effect.resume === undefined ? 'Which file?' : DONE);

/** A driver with its parts and a record of what was notified and what failed. */
export class Host {
	readonly statuses: string[] = [];
	readonly errors: { runId: string; what: string; error: string; attempt: number }[] = [];
	readonly slots: LocalSlots;
	readonly timers = new LocalTimers();
	readonly processes: SubprocessRunner;
	readonly driver: Driver;

	constructor(store: Store, command: MakeCommand, changed: Partial<DriverParts> & { slots?: LocalSlots } = {}) {
		this.slots = changed.slots ?? new LocalSlots(2);
		this.processes = new SubprocessRunner((run, effect) => command(run, effect), { graceMs: 500 });
		this.driver = new Driver({
			timers: this.timers,
			processes: this.processes,
			store,
			onNotify: (_runId, effect) => void this.statuses.push(effect.status),
			onError: (runId, what, error, attempt) => {
				this.errors.push({ runId, what: what?.type ?? 'recovery', error: String(error), attempt });
			},
			retry: QUICK,
			...changed,
			slots: this.slots,
		});
	}

	async ended(runId: string): Promise<StatusView> {
		const view = await this.driver.wait(runId);
		await this.driver.settled(runId);
		return view;
	}

	async nothingLeft(): Promise<void> {
		assert.deepEqual([...this.slots.held()], []);
		assert.deepEqual(await this.processes.alive(), []);
		assert.deepEqual(this.timers.pending(), []);
	}

	async close(): Promise<void> {
		await this.driver.close();
		await this.processes.close();
	}
}

/** A host that lives as long as the work. */
export async function hosted(
	store: Store,
	command: MakeCommand,
	work: (host: Host) => Promise<void>,
	changed: Partial<DriverParts> & { slots?: LocalSlots } = {},
): Promise<void> {
	const host = new Host(store, command, changed);
	try {
		await work(host);
	} finally {
		await host.close();
	}
}

/** A test with a folder of its own and a SQLite store in it. */
export function scenario(name: string, work: (store: SqliteStore, folder: string) => Promise<void>): void {
	test(name, { timeout: 60_000 }, async () => {
		const folder = mkdtempSync(join(tmpdir(), 'turnlatch-'));
		const store = openStore(join(folder, 'runs.db'));
		try {
			await work(store, folder);
		} finally {
			store.close();
			rmSync(folder, { recursive: true, force: true });
		}
	});
}

export function openStore(path: string): SqliteStore {
	return new SqliteStore(new DatabaseSync(path));
}

/** A host without descriptors, processes or memory: it survives, its runs wait for their start, and none of them fails. */

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { build } from 'esbuild';
import { Run } from 'turnlatch';
import {
	Driver,
	type DriverParts,
	type Finished,
	isOutOfResources,
	LocalSlots,
	LocalTimers,
	MemoryStore,
} from 'turnlatch/driver';
import { SubprocessRunner } from 'turnlatch/node';
import { PACKAGE } from './files.js';
import { DONE, plan, QUICK, until } from './hosting.js';
import type { Mode, Outcome } from './scarce-host.js';

const HOST = join(PACKAGE, 'build/scarce-host/scarce-host.mjs');
const SCARCE = ['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'];
const failed = (code: string) => Object.assign(new Error(`start ${code}`), { code });

/** Turns that are over when they begin, after their start has failed in these ways. */
class Agents {
	readonly started: string[] = [];

	constructor(readonly failures: unknown[]) {}

	start(_run: unknown, { id }: { id: string }, finished: Finished): void {
		if (this.failures.length > 0) throw this.failures.shift();
		this.started.push(id);
		finished({ text: DONE });
	}

	inject(): void {}
	attach(): void {}
	terminate(): void {}
	alive(): string[] {
		return [];
	}
}

async function driven<T>(
	agents: Agents,
	work: (driver: Driver) => Promise<T>,
	changed: Partial<DriverParts> = {},
): Promise<T> {
	const parts = { slots: new LocalSlots(1), timers: new LocalTimers(), store: new MemoryStore(), retry: QUICK };
	const driver = new Driver({ ...parts, processes: agents, onError: () => {}, ...changed });
	try {
		return await work(driver);
	} finally {
		await driver.close();
	}
}

test('what is out of resources', () => {
	for (const code of SCARCE) assert.ok(isOutOfResources(failed(code)));
	for (const other of [failed('ENOENT'), new Error('EMFILE'), 'EMFILE', { code: 'EMFILE' }, null, undefined]) {
		assert.ok(!isOutOfResources(other));
	}
});

for (const code of SCARCE) {
	test(`a turn waits for its start as long as the host says ${code}`, async () => {
		const agents = new Agents(Array.from({ length: 10 }, () => failed(code)));
		const told: unknown[] = [];
		const onError: DriverParts['onError'] = (_runId, what, error) => void told.push(`${what?.type}: ${error}`);
		await driven(
			agents,
			async (driver) => {
				await driver.start(plan());
				assert.equal((await driver.wait('r1')).status, 'succeeded');
			},
			{ onError },
		);
		assert.deepEqual(told, Array(10).fill(`start_turn: Error: start ${code}`));
		assert.deepEqual(agents.started, ['r1/2/1']);
	});
}

test('other failures count, and these do not', async () => {
	const [scarce, broken] = [failed('EMFILE'), new Error('no such engine')];
	const outcome = async (...failures: unknown[]) => {
		const agents = new Agents(failures);
		const { status, error } = await driven(agents, async (driver) => {
			await driver.start(plan());
			return driver.wait('r1');
		});
		return [status, error?.code, agents.failures.length];
	};
	assert.deepEqual(await outcome(scarce, broken, broken, scarce, scarce), ['succeeded', undefined, 0]);
	assert.deepEqual(await outcome(scarce, broken, scarce, broken, scarce, broken), ['succeeded', undefined, 0]);
	assert.deepEqual(await outcome(scarce, broken, broken, broken, broken), ['failed', 'HOST_FAILED', 1]);
});

test('a run that waits for its start can be canceled', async () => {
	const agents = new Agents(Array(1000).fill(failed('EMFILE')));
	const slots = new LocalSlots(1);
	await driven(
		agents,
		async (driver) => {
			await driver.start(plan());
			await until(() => driver.owed('r1').length > 0);
			assert.deepEqual(
				[driver.owed('r1').map(({ type }) => type), driver.view('r1').status, [...slots.granted()]],
				[['start_turn'], 'running', ['r1/s1']],
			);
			assert.equal((await driver.cancel('r1')).kind, 'canceled');
			await driver.settled('r1');
			assert.deepEqual([driver.owed('r1'), [...slots.held()], agents.failures.length], [[], [], 997]);
		},
		{ slots, retry: { ...QUICK, pauseMs: 600_000 } },
	);
});

/** That it was begun was noted, so that the turn counts as lost, and is neither started twice nor forgotten. */
for (const [policy, status, code] of [
	['fail', 'failed', 'ORCHESTRATOR_RESTART_INTERRUPTED'],
	['retry', 'succeeded', undefined],
] as const) {
	test(`a host that dies while a turn waits for its start: ${policy}`, async () => {
		const store = new MemoryStore();
		await driven(
			new Agents(Array(1000).fill(failed('EMFILE'))),
			async (driver) => {
				await driver.start(plan('r1', { interrupted_turn: policy }));
				await until(() => driver.owed('r1').length > 0);
			},
			{ store },
		);
		const [agents, slots] = [new Agents([]), new LocalSlots(1)];
		await driven(
			agents,
			async (driver) => {
				assert.deepEqual(await driver.recover(), ['r1']);
				const view = await driver.wait('r1');
				await driver.settled('r1');
				assert.deepEqual([view.status, view.error?.code], [status, code]);
			},
			{ store, slots },
		);
		assert.equal(agents.started.length, policy === 'retry' ? 1 : 0);
		assert.deepEqual([...slots.held()], []);
	});
}

before(async () => {
	await build({
		absWorkingDir: PACKAGE,
		entryPoints: ['tests/scarce-host.ts'],
		bundle: true,
		packages: 'external',
		format: 'esm',
		platform: 'node',
		target: 'node20',
		outdir: 'build/scarce-host',
		outExtension: { '.js': '.mjs' },
		logLevel: 'warning',
		tsconfigRaw: {},
	});
});

for (const marks of [false, true]) {
	test(`a host without descriptors survives${marks ? ', with marks' : ''}`, { timeout: 300_000 }, () => {
		const folder = mkdtempSync(join(tmpdir(), 'turnlatch-'));
		try {
			const script = 'ulimit -n 64 && exec "$@"';
			const host = [process.execPath, HOST, folder, ...(marks ? [join(folder, 'marks')] : [])];
			const { status, stdout, stderr } = spawnSync('sh', ['-c', script, 'sh', ...host], { encoding: 'utf8' });
			assert.equal(status, 0, stderr);
			const outcomes = JSON.parse(stdout) as Outcome[];
			assert.deepEqual(new Set(outcomes.map((outcome) => outcome.status)), new Set(['succeeded']));
			const waited = outcomes.filter((outcome) => outcome.waited && outcome.meanwhile === 'running');
			assert.ok(waited.length >= 6, stdout);
			for (const { errors } of waited) assert.deepEqual(errors, ['start_turn: EMFILE']);
			assert.equal(new Set(outcomes.map(({ open }) => open)).size, 1, `descriptors are lost: ${stdout}`);
		} finally {
			rmSync(folder, { recursive: true, force: true });
		}
	});
}

test('a host that may have no process more survives', () => {
	const mode: Mode = 'runner without processes';
	const { status, stdout, stderr } = spawnSync(process.execPath, [HOST, mode], { encoding: 'utf8' });
	assert.equal(status, 0, stderr);
	assert.deepEqual(JSON.parse(stdout), ['EAGAIN', 'EAGAIN', 'EAGAIN']);
});

test('a supervisor waits until it may have a process', async () => {
	const mode: Mode = 'supervisor without processes';
	const folder = mkdtempSync(join(tmpdir(), 'turnlatch-'));
	chmodSync(folder, 0o777);
	try {
		const allowed = join(folder, 'allowed');
		const supervisor = spawn(process.execPath, [HOST, mode, allowed], {
			stdio: ['ignore', 'ignore', 'inherit', 'pipe', 'ignore', 'pipe', 'pipe'],
		});
		// It exits without reading everything, so that a pipe may be reset.
		for (const pipe of supervisor.stdio) pipe?.on('error', () => {});
		const argv = ['sh', '-c', `test -e ${allowed} && exit 7`];
		const order = { argv, env: process.env, input: false, graceMs: 100 };
		(supervisor.stdio[3] as Socket).write(`${JSON.stringify(order)}\n`);
		assert.deepEqual(await once(supervisor, 'exit'), [7, null]);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
});

test('a supervisor that cannot be started is an error of the start', async () => {
	const runner = new SubprocessRunner(() => ({ argv: ['true'] }));
	const effect = { type: 'start_turn', id: 'r1/2/1', attempt_number: 1, slot_id: 'r1/s1' } as const;
	const [run] = Run.create(plan(), 1);
	const { execPath } = process;
	process.execPath = '/no/such/node';
	try {
		await assert.rejects(
			runner.start(run, effect, () => assert.fail()),
			{ code: 'ENOENT' },
		);
		assert.deepEqual(await runner.alive(), []);
	} finally {
		process.execPath = execPath;
		run.free();
	}
});

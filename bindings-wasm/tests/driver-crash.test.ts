/** A host that is killed at every boundary, and goes on: nothing is lost, nothing happens twice, nothing is left. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { build } from 'esbuild';
import { Run, replay } from 'turnlatch';
import { AGENT_LIVES, MODES } from './crash-host.js';
import { PACKAGE } from './files.js';
import { report } from './gates.js';
import { openStore, plan, processesMarked, until } from './hosting.js';

const kills = new Map<string, number>();
const LOST = ['ORCHESTRATOR_RESTART_INTERRUPTED', 'INTERACTION_PROCESS_LOST'];
const HOST = join(PACKAGE, 'build/crash-host/crash-host.mjs');

type DieAt = number | typeof AGENT_LIVES;

/** How many boundaries there were, or undefined if the host was killed at one. */
async function runHost(folder: string, mode: string, dieAt: DieAt, mark: string): Promise<number | undefined> {
	const env = { ...process.env, TURNLATCH_TEST: mark };
	// It lives for a second, half of which would go into optimising the core's code.
	const host = spawn(process.execPath, ['--liftoff-only', HOST, folder, mode, String(dieAt)], {
		env,
		stdio: ['ignore', 'inherit', 'inherit'],
	});
	const hangs = setTimeout(() => host.kill('SIGABRT'), 60_000);
	const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
		host.once('exit', (...how) => resolve(how)),
	);
	clearTimeout(hangs);
	if (signal === 'SIGKILL') return undefined;
	assert.deepEqual([code, signal], [0, null]);
	return Number(lines(join(folder, 'boundaries.log')).at(-1));
}

async function crashAndGoOn(folder: string, mode: string, crashes: readonly DieAt[]): Promise<number> {
	mkdirSync(folder);
	const mark = randomUUID();
	let crashed = 0;
	for (const dieAt of [...crashes, 0]) {
		if ((await runHost(folder, mode, dieAt, mark)) !== undefined) break;
		crashed += 1;
	}
	await check(folder, mode, crashed, mark);
	return crashed;
}

async function check(folder: string, mode: string, crashed: number, mark: string): Promise<void> {
	await until(() => processesMarked(mark).length === 0);
	assert.deepEqual(readdirSync(join(folder, 'slots')), [], 'a slot leaked');
	assert.deepEqual(readdirSync(join(folder, 'marks')), [], 'a mark was left');
	const beside = lines(join(folder, 'beside.log'));
	assert.deepEqual(beside, [], 'a turn started while an agent of an earlier host was alive');
	const store = openStore(join(folder, 'runs.db'));
	const run = Run.restore(store.load('r1'));
	assert.deepEqual(store.unfinished(), []);
	assert.equal(replay(plan('r1', MODES[mode]), store.journal('r1'))[0].snapshot(), run.snapshot());
	store.close();

	const code = run.statusView().error?.code ?? '';
	const maybeLost = crashed > 0 && LOST.includes(code);
	if (mode === 'cancel') assert.ok(code === 'CANCELED_BY_USER' || maybeLost, code);
	else assert.ok(run.status === 'succeeded' || (['strict', 'sticky'].includes(mode) && maybeLost), code);

	const answered = run
		.history()
		.flatMap(({ response, resolution_mode }) => (resolution_mode === 'user_reply' ? (response ?? []) : []));
	assert.equal(new Set(answered).size, answered.length, 'each question was answered once');
	for (const reply of lines(join(folder, 'accepted.log'))) assert.ok(answered.includes(reply), `${reply} was lost`);
	const turns = lines(join(folder, 'turns.log'));
	assert.equal(new Set(turns).size, turns.length, `a turn ran twice: ${turns}`);
	const attempts = turns.map((turn) => turn.split(' ')[0]);
	if (MODES[mode]?.interrupted_turn !== 'retry') {
		assert.equal(new Set(attempts).size, attempts.length, `an attempt ran twice without retry: ${turns}`);
	}
	if (run.status === 'succeeded') assert.equal(new Set(attempts).size, run.attemptNumber);
}

const lines = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : []);

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
	const folder = mkdtempSync(join(tmpdir(), 'turnlatch-'));
	await work(folder);
	rmSync(folder, { recursive: true, force: true });
}

/** Two at a time. */
async function forEach<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
	const queue = [...items][Symbol.iterator]();
	const worker = async () => {
		for (const item of queue) await work(item);
	};
	await Promise.all([worker(), worker()]);
}

test.before(() =>
	build({
		absWorkingDir: PACKAGE,
		entryPoints: ['tests/crash-host.ts'],
		bundle: true,
		packages: 'external',
		format: 'esm',
		platform: 'node',
		outfile: HOST,
		tsconfigRaw: {},
	}),
);

for (const mode of Object.keys(MODES)) {
	test(`a crash at any boundary: ${mode}`, () =>
		inFolder(async (folder) => {
			mkdirSync(join(folder, 'whole'));
			const boundaries = (await runHost(join(folder, 'whole'), mode, 0, 'whole')) ?? 0;
			assert.ok(boundaries >= 14, String(boundaries));
			await forEach(Array(boundaries).keys(), async (n) => {
				assert.equal(await crashAndGoOn(join(folder, String(n + 1)), mode, [n + 1]), 1);
			});
			kills.set(mode, boundaries);
			if (kills.size < Object.keys(MODES).length) return;
			const all = [...kills.values()].reduce((sum, each) => sum + each);
			report('killed-host', 'node', { kills: all, scenarios: kills.size });
		}));
}

for (const mode of Object.keys(MODES).filter((name) => name !== 'cancel')) {
	test(`an agent that lives when the next host starts: ${mode}`, () =>
		inFolder(async (folder) => {
			assert.equal(await crashAndGoOn(join(folder, 'run'), mode, [AGENT_LIVES]), 1);
			assert.ok(lines(join(folder, 'run/met.log')).length > 0, 'it was gone by then');
		}));
}

for (const mode of ['resumable', 'sticky']) {
	test(`crashes while recovering from crashes: ${mode}`, () =>
		inFolder(async (folder) => {
			const crashes = [7, 15].flatMap((first) => [1, 3].map((second) => [first, second, second + 1]));
			let crashed = 0;
			await forEach(crashes, async (each) => {
				crashed += await crashAndGoOn(join(folder, each.join('-')), mode, each);
			});
			assert.ok(crashed > crashes.length);
		}));
}

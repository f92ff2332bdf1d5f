/** Agents as real processes. */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Limits, Run, type TurnMessage, type TurnReport } from 'turnlatch';
import { Driver, LocalSlots, LocalTimers, MemoryStore } from 'turnlatch/driver';
import { type Command, SubprocessRunner } from 'turnlatch/node';
import { PACKAGE } from './files.js';
import { plan, processesMarked, shell, until } from './hosting.js';

const EFFECT = { type: 'start_turn', id: 'r1/2/1', attempt_number: 1, slot_id: 'r1/s1' } as const;
/** Children in the group, in a session of their own, and orphaned in a session of their own; none heeds SIGTERM. */
const TREE = `trap '' TERM; sleep 100 & setsid sleep 100 & sh -c 'setsid sleep 100 &'; echo up; wait`;
const aRun = (limits: Partial<Limits> = {}) => Run.create(plan('r1', {}, limits), 1)[0];
const said = (text: string): TurnMessage[] => [{ role: 'assistant', text }];
const sleepers = (mark: string) => processesMarked(mark).filter((line) => /^\d+ sleep 100/.test(line)).length;

async function withRunner(
	command: Command,
	work: (runner: SubprocessRunner, reports: (TurnReport | null)[]) => Promise<void>,
	limits: Partial<Limits> = {},
): Promise<void> {
	const runner = new SubprocessRunner(() => command, { graceMs: 500 });
	const reports: (TurnReport | null)[] = [];
	try {
		await runner.start(aRun(limits), EFFECT, (report) => void reports.push(report));
		await work(runner, reports);
	} finally {
		await runner.close();
	}
}

async function reportOf(command: Command, limits: Partial<Limits> = {}): Promise<TurnReport & { stderr: string }> {
	let told: (TurnReport & { stderr: string }) | undefined;
	await withRunner(
		command,
		async (runner, reports) => {
			await until(() => reports.length > 0);
			assert.deepEqual(await runner.alive(), []);
			assert.equal(reports.length, 1);
			told = { ...reports[0], stderr: runner.stderr('r1/s1') };
		},
		limits,
	);
	assert.ok(told);
	return told;
}

test('output, errors and exit code', async () => {
	assert.deepEqual(await reportOf(shell('echo hello; echo why >&2')), {
		messages: said('hello\n'),
		exit_code: 0,
		stderr: 'why\n',
	});
	assert.deepEqual(await reportOf(shell('echo half; exit 3')), { messages: said('half\n'), exit_code: 3, stderr: '' });
	const missing = await reportOf({ argv: ['/no/such/agent'] });
	assert.equal(missing.exit_code, 127);
	assert.match(missing.stderr, /\/no\/such\/agent: .*ENOENT/);
});

test('a signal is reported as shells do', async () => {
	for (const [signal, code] of [
		[9, 137],
		[15, 143],
	]) {
		// The command itself, and its supervisor.
		for (const whom of ['$$', '$PPID']) {
			const report = await reportOf(shell(`kill -${signal} ${whom}`));
			assert.deepEqual(report, { messages: [], exit_code: code, stderr: '' }, `${signal} to ${whom}`);
		}
	}
});

test('input, environment and directory', async () => {
	const env = { WORD: 'w', PATH: '/usr/bin:/bin' };
	const { messages } = await reportOf(shell('cat; echo $WORD; pwd', { stdin: 'in\n', env, cwd: '/usr' }));
	assert.deepEqual(messages, said('in\nw\n/usr\n'));
	assert.deepEqual((await reportOf({ argv: ['cat'] })).messages, [], 'without stdin the input is empty');
	const unread = await reportOf(shell('echo ok', { stdin: 'x'.repeat(5_000_000) }));
	assert.deepEqual(unread.messages, said('ok\n'), 'nobody has to read it');
});

test('a command whose output cannot be read is not started', async () => {
	for (const wrong of [{ endOfTurn: 'a\n' }, { sticky: true }, { stream: 'xml' as never }]) {
		await assert.rejects(reportOf(shell('cat', wrong)), { name: 'EventRejectedError', code: 'EVENT_MALFORMED' });
	}
});

for (const octal of ['\\377', 'ok \\342\\202', '\\355\\240\\200']) {
	test(`output that is not UTF-8 is a failure: ${octal}`, async () => {
		const sleeps = octal === '\\377' ? 'sleep 100' : ':';
		const { failure_reason, exit_code } = await reportOf(shell(`printf '${octal}'; ${sleeps}`));
		assert.equal(failure_reason, 'OUTPUT_NOT_UTF8');
		if (octal === '\\377') assert.equal(exit_code, undefined, 'the runner itself has ended it');
	});
}

test('a process that says more than the limit is ended', async () => {
	const { messages = [], exit_code } = await reportOf(shell('while :; do printf 😀😀😀😀; done'), {
		turn_text_bytes: 10_000,
	});
	assert.equal(exit_code, undefined);
	const run = aRun({ turn_text_bytes: 10_000 });
	run.apply({ type: 'slot_granted', slot_id: 'r1/s1' }, 2);
	run.apply({ type: 'turn_finished', attempt_number: 1, messages }, 3);
	assert.match(JSON.stringify(run.explain()), /OUTPUT_TOO_LARGE/);
});

test('a turn that takes too long is ended with its children', async () => {
	const mark = randomUUID();
	const env = { ...process.env, TURNLATCH_TEST: mark };
	const report = await reportOf(shell('echo begin; sleep 100 & sleep 100', { env, timeoutMs: 300 }));
	assert.deepEqual(report, { messages: said('begin\n'), failure_reason: 'TIMEOUT', stderr: '' });
	assert.deepEqual(processesMarked(mark), []);
});

test('children left behind by a finished agent are ended', async () => {
	const mark = randomUUID();
	const env = { ...process.env, TURNLATCH_TEST: mark };
	assert.deepEqual((await reportOf(shell('sleep 100 & echo ok', { env }))).messages, said('ok\n'));
	assert.deepEqual(processesMarked(mark), []);
});

test('terminate ends the whole tree, also what left the group or ignores the signal', async () => {
	const mark = randomUUID();
	const env = { ...process.env, TURNLATCH_TEST: mark };
	await withRunner(shell(TREE, { env }), async (runner, reports) => {
		await until(() => sleepers(mark) === 3);
		await runner.terminate('r1/s1');
		assert.deepEqual(processesMarked(mark), []);
		assert.deepEqual(await runner.alive(), []);
		assert.deepEqual(reports, [], 'nobody asked for the result of a terminated turn');
		await runner.terminate('r1/s1');
	});
});

test('a gentle end lets the agent clean up', async () => {
	const folder = mkdtempSync(join(tmpdir(), 'turnlatch-'));
	const script = `trap 'echo bye > bye.txt; exit 0' TERM; echo up > up.txt; while :; do sleep 0.05; done`;
	await withRunner(shell(script, { cwd: folder }), async (runner) => {
		await until(() => existsSync(join(folder, 'up.txt')));
		await runner.terminate('r1/s1');
		assert.ok(existsSync(join(folder, 'bye.txt')));
	});
	rmSync(folder, { recursive: true });
});

/** Another host with a tree of processes in its slot. */
async function hostWithTree(mark: string, folder: string): Promise<ChildProcess> {
	const script = `const { SubprocessRunner } = require('turnlatch/node'); const { Run, admit } = require('turnlatch');
		const plan = admit({ runner: {} }, { run_id: 'r1', engine: 'test' }, { engines: ['test'] });
		const runner = new SubprocessRunner(() => ({ argv: ['sh', '-c', process.argv[1]] }), { marks: process.argv[2] });
		runner.start(Run.create(plan, 1)[0], ${JSON.stringify(EFFECT)}, console.log);`;
	const env = { ...process.env, TURNLATCH_TEST: mark };
	const host = spawn(process.execPath, ['-e', script, TREE, folder], { cwd: PACKAGE, env, stdio: 'inherit' });
	await until(() => sleepers(mark) === 3);
	return host;
}

function driverOf(processes: SubprocessRunner): Driver {
	return new Driver({ slots: new LocalSlots(1), timers: new LocalTimers(), processes, store: new MemoryStore() });
}

for (const asked of ['alive', 'recover'] as const) {
	test(`everything dies with the host, and the next host waits for that: ${asked}`, async () => {
		const mark = randomUUID();
		const folder = mkdtempSync(join(tmpdir(), 'turnlatch-'));
		const host = await hostWithTree(mark, folder);
		host.kill('SIGKILL');
		const next = new SubprocessRunner(() => shell('true'), { marks: folder });
		assert.deepEqual(await (asked === 'alive' ? next.alive() : driverOf(next).recover()), []);
		assert.deepEqual(processesMarked(mark), []);
		assert.deepEqual(readdirSync(folder), []);
		rmSync(folder, { recursive: true });
	});
}

test('a host that is not dead is not waited for for ever', async () => {
	const mark = randomUUID();
	const folder = mkdtempSync(join(tmpdir(), 'turnlatch-'));
	const host = await hostWithTree(mark, folder);
	// Nothing is started here: the grace only counts for how long the other host is waited for, which is 12 seconds more.
	const next = new SubprocessRunner(() => shell('true'), { marks: folder, graceMs: -11_900 });
	const driver = driverOf(next);
	const start = () => next.start(aRun(), EFFECT, () => {});
	for (const ask of [() => next.alive(), () => next.terminate('r1/s1'), start, () => driver.recover()]) {
		await assert.rejects(ask(), /another host with this folder is running/);
	}
	assert.equal(sleepers(mark), 3, 'its agent was left alone');
	host.kill('SIGKILL');
	await until(() => processesMarked(mark).length === 0);
	assert.deepEqual(await driver.recover(), []);
	rmSync(folder, { recursive: true });
});

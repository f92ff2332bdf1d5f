/** Several workers on one database, with one of them dying, stopping or losing the database in the middle. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { replay } from 'turnlatch';
import type { DbosDriver } from 'turnlatch/dbos';
import { plan, STICKY, until } from '../hosting.js';
import { mostAtATime, turns } from './agents.js';
import { type Fleet, scenario, server, type Worker } from './fleet.js';
import { asked } from './postgres.js';

const LOST = 'ORCHESTRATOR_RESTART_INTERRUPTED';

async function two(fleet: Fleet, options = {}): Promise<Map<string, Worker>> {
	const names = ['w1', 'w2'];
	const workers = await Promise.all(names.map((name) => fleet.worker(name, options)));
	return new Map(workers.map((worker, place) => [names[place] ?? '', worker]));
}

function untilStarted(fleet: Fleet, runId: string, attempts = 1): Promise<void> {
	return until(() => fleet.started(runId).length >= attempts);
}

/** The worker that carries out the run's turn. */
async function carrier(fleet: Fleet, workers: Map<string, Worker>, runId: string): Promise<Worker> {
	const query = 'SELECT executor_id FROM turnlatch_slots WHERE run_id = $1';
	const [row] = await asked<{ executor_id: string }>(fleet.url, query, runId);
	const worker = workers.get(row?.executor_id ?? '');
	assert.ok(worker);
	return worker;
}

/** The run as text; its journal tells the same, and no question was resolved twice. */
async function checked(client: DbosDriver, runId: string): Promise<string> {
	const run = await client.run(runId);
	const [again] = replay(run.plan, await client.journal(runId));
	assert.equal(again.toJson(), run.toJson());
	const questions = run.history().map(({ interaction_id }) => interaction_id);
	assert.equal(new Set(questions).size, questions.length);
	return run.toJson();
}

scenario('the limit of slots holds for all workers together', async (fleet, client) => {
	// All at once: they make the tables together.
	await Promise.all(['w1', 'w2', 'w3'].map((name) => fleet.worker(name)));
	const held = Array.from({ length: 6 }, (_, n) => `hold-${n}`);
	for (const runId of held) await client.start(plan(runId));
	// All slots are in use, and the others have to wait.
	await until(() => turns(fleet.folder).length === 4);
	for (const runId of held) fleet.letGo(runId);
	for (const runId of held) await client.wait(runId, 'waiting_user');
	const runs = Array.from({ length: 100 }, (_, n) => `nap-${n}`);
	await Promise.all(
		runs.map(async (runId) => {
			await client.start(plan(runId));
			await client.wait(runId, 'waiting_user');
			assert.equal((await client.reply(runId, 1, `${runId}.txt`)).receipt, 'accepted');
			assert.deepEqual((await client.wait(runId)).data, { file: `${runId}.txt` });
		}),
	);
	assert.equal((await client.unfinished()).length, held.length);
	assert.equal(turns(fleet.folder).length, 2 * (held.length + 2 * runs.length), 'every turn began and ended once');
	assert.equal(mostAtATime(fleet.folder), 4);
});

for (const [policy, attempts] of [
	['fail', [1]],
	['retry', [1, 1, 2]],
] as const) {
	scenario(`a worker is killed in the middle of a turn: ${policy}`, async (fleet, client) => {
		const workers = await two(fleet);
		await client.start(plan('hold-1', { interrupted_turn: policy }));
		await untilStarted(fleet, 'hold-1');
		await (await carrier(fleet, workers, 'hold-1')).send('SIGKILL');
		// Its supervisor ends it at once, and nobody has begun another one.
		await until(() => fleet.agents().length === 0);
		assert.deepEqual(fleet.started('hold-1'), [1]);
		fleet.letGo('hold-1');
		const view = await client.wait('hold-1', 'waiting_user');
		if (policy === 'fail') {
			assert.equal(view.error?.code, LOST);
		} else {
			await client.reply('hold-1', 1, 'c.txt');
			assert.deepEqual((await client.wait('hold-1')).data, { file: 'c.txt' });
		}
		await client.settled('hold-1');
		await checked(client, 'hold-1');
		assert.deepEqual(fleet.started('hold-1'), attempts);
		assert.deepEqual(fleet.agents(), []);
	});
}

for (const [moment, policy, status, attempts] of [
	// Nobody had begun the turn, so it is begun, whatever the policy is.
	['granted', 'fail', 'succeeded', [1]],
	// It may have begun, and nobody can know how far it came.
	['begun', 'fail', 'failed', []],
	['begun', 'retry', 'succeeded', [1]],
] as const) {
	scenario(`a worker is killed between a transaction and its effect: ${moment}, ${policy}`, async (fleet, client) => {
		const dying = await fleet.worker('w1', { dies: moment });
		await client.start(plan('done-1', { interrupted_turn: policy }));
		await dying.ended();
		await fleet.worker('w2');
		const view = await client.wait('done-1');
		assert.equal(view.status, status);
		assert.equal(view.error?.code, status === 'failed' ? LOST : undefined);
		await client.settled('done-1');
		await checked(client, 'done-1');
		assert.deepEqual(fleet.started('done-1'), attempts);
	});
}

scenario('no reply is lost while no worker lives', async (fleet, client) => {
	const worker = await fleet.worker('w1');
	const timed = { interactive_require_user_reply: false, session_timeout_sec: 2 };
	for (const [runId, options] of [['ask-1', {}] as const, ['ask-2', timed] as const, ['ask-3', {}] as const]) {
		await client.start(plan(runId, options));
		await client.wait(runId, 'waiting_user');
	}
	await worker.send('SIGKILL');
	const receipts = [await client.reply('ask-1', 1, '0.txt'), await client.reply('ask-1', 1, '1.txt')];
	assert.deepEqual(
		receipts.map(({ receipt }) => receipt),
		['accepted', 'stale'],
	);
	await client.cancel('ask-3');
	// The same id again: its lock is free.
	await fleet.worker('w1');
	assert.deepEqual((await client.wait('ask-1')).data, { file: '0.txt' });
	assert.equal((await client.wait('ask-2')).auto_decision_count, 1);
	const [record] = (await client.run('ask-2')).history();
	assert.ok(record && record.resolved_at - record.asked_at >= 2000, 'the deadline is the one from before the restart');
	assert.equal((await client.view('ask-3')).status, 'canceled');
	for (const runId of ['ask-1', 'ask-2', 'ask-3']) {
		await checked(client, runId);
		assert.deepEqual(fleet.started(runId), runId === 'ask-3' ? [1] : [1, 2]);
	}
});

scenario('a sticky run ends with its worker', async (fleet, client) => {
	const workers = await two(fleet);
	await client.start(plan('talk-1', { interactive_profile: STICKY }));
	await client.wait('talk-1', 'waiting_user');
	await (await carrier(fleet, workers, 'talk-1')).send('SIGKILL');
	assert.equal((await client.wait('talk-1')).error?.code, 'INTERACTION_PROCESS_LOST');
	await client.settled('talk-1');
	await checked(client, 'talk-1');
	assert.deepEqual(fleet.agents(), []);
});

for (const policy of ['fail', 'retry'] as const) {
	scenario(`a stopped worker that goes on cannot advance the run: ${policy}`, async (fleet, client) => {
		const workers = await two(fleet);
		await client.start(plan('hold-1', { interrupted_turn: policy }));
		await untilStarted(fleet, 'hold-1');
		const zombie = await carrier(fleet, workers, 'hold-1');
		await zombie.send('SIGSTOP');
		// Its agent lives on and finishes the turn; the report waits in the pipe until the worker goes on.
		if (policy === 'fail') {
			assert.equal((await client.wait('hold-1')).error?.code, LOST);
			fleet.letGo('hold-1');
		} else {
			await untilStarted(fleet, 'hold-1', 2);
			fleet.letGo('hold-1');
			await client.wait('hold-1', 'waiting_user');
		}
		await until(() => turns(fleet.folder).some(({ what, slot }) => what === 'end' && slot === 'hold-1/s1'));
		const before = await checked(client, 'hold-1');
		await zombie.send('SIGCONT');
		// It works again: runs for more than the slots there are, so that both workers have some.
		const others = Array.from({ length: 8 }, (_, n) => `done-${n}`);
		for (const runId of others) await client.start(plan(runId));
		for (const runId of others) assert.equal((await client.wait(runId)).status, 'succeeded');
		await client.settled('hold-1');
		assert.equal((await client.run('hold-1')).toJson(), before, 'nothing has come of the late report');
		if (policy === 'retry') {
			assert.equal((await client.reply('hold-1', 1, 'c.txt')).receipt, 'accepted');
			assert.deepEqual((await client.wait('hold-1')).data, { file: 'c.txt' });
		}
		assert.equal(await zombie.close(), 0, zombie.errors);
		assert.deepEqual(fleet.agents(), []);
	});
}

scenario('two workers with one id are refused', async (fleet, client) => {
	const first = await fleet.worker('w1');
	const second = fleet.begin('w1');
	assert.equal(await second.ended(), 1);
	assert.match(second.errors, /EXECUTOR_ID_IN_USE/);
	await client.start(plan('done-1'));
	assert.equal((await client.wait('done-1')).status, 'succeeded');
	assert.equal(first.process.exitCode, null);
});

scenario('the database restarts in the middle', async (fleet, client) => {
	await two(fleet);
	await client.start(plan('hold-1'));
	await untilStarted(fleet, 'hold-1');
	await client.start(plan('ask-2'));
	await client.wait('ask-2', 'waiting_user');
	const restarted = server().restart();
	// Asked while it is away, the driver waits for it; a reply is taken once.
	assert.equal((await client.reply('ask-2', 1, 'c.txt')).receipt, 'accepted');
	await restarted;
	assert.deepEqual((await client.wait('ask-2')).data, { file: 'c.txt' });
	// Twice the time after which a worker that is not heard of is taken for dead.
	await sleep(6000);
	fleet.letGo('hold-1');
	await client.wait('hold-1', 'waiting_user');
	await client.reply('hold-1', 1, 'd.txt');
	assert.deepEqual((await client.wait('hold-1')).data, { file: 'd.txt' });
	for (const runId of ['hold-1', 'ask-2']) {
		await checked(client, runId);
		assert.deepEqual(fleet.started(runId), [1, 2], 'every turn was carried out once');
	}
});

scenario('a worker that closes hands over at once', async (fleet, client) => {
	const workers = await two(fleet, { takeoverAfterMs: 60_000 });
	await client.start(plan('hold-1', { interrupted_turn: 'retry' }));
	await untilStarted(fleet, 'hold-1');
	const closed = await carrier(fleet, workers, 'hold-1');
	assert.equal(await closed.close(), 0, closed.errors);
	await untilStarted(fleet, 'hold-1', 2);
	fleet.letGo('hold-1');
	await client.wait('hold-1', 'waiting_user');
	await until(() => turns(fleet.folder).length === 3);
	assert.deepEqual(
		turns(fleet.folder).map(({ what, slot }) => `${what} ${slot}`),
		['start hold-1/s1', 'start hold-1/s2', 'end hold-1/s2'],
	);
});

scenario('clients change runs and carry out nothing', async (fleet, client) => {
	const hostile = 'a\0b \x1b[31m \u202e é€😀';
	await client.start(plan('ask-1'));
	assert.equal((await client.view('ask-1')).status, 'queued');
	await client.tell('ask-1', { type: 'slot_granted', slot_id: 'ask-1/s1' });
	await client.tell('ask-1', { type: 'turn_finished', attempt_number: 1, text: hostile });
	assert.equal((await client.reply('ask-1', 1, hostile)).receipt, 'accepted');
	await checked(client, 'ask-1');
	const [record] = (await client.run('ask-1')).history();
	assert.equal(record?.response, hostile);
	const another = fleet.client();
	await another.open();
	assert.equal((await another.cancel('ask-1')).receipt, 'canceled');
	await another.close();
	assert.equal((await client.wait('ask-1')).status, 'canceled');
	assert.ok(!existsSync(join(fleet.folder, 'turns.log')));
});

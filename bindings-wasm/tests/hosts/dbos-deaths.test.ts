/** Several workers on one database, with one of them dying, or stopping and going on, in the middle. */

import assert from 'node:assert/strict';
import { plan, STICKY, until } from '../hosting.js';
import { turns } from './agents.js';
import { carrier, checked, QUICK_TAKEOVER, scenario, two, untilStarted } from './fleet.js';
import { asked } from './postgres.js';

const LOST = 'ORCHESTRATOR_RESTART_INTERRUPTED';

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
		const dying = await fleet.worker('w1', { dies: moment, ...QUICK_TAKEOVER });
		await client.start(plan('done-1', { interrupted_turn: policy }));
		await dying.ended();
		await fleet.worker('w2', QUICK_TAKEOVER);
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
		receipts.map(({ kind }) => kind),
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
		assert.equal((await client.run('hold-1')).snapshot(), before, 'nothing has come of the late report');
		if (policy === 'retry') {
			assert.equal((await client.reply('hold-1', 1, 'c.txt')).kind, 'accepted');
			assert.deepEqual((await client.wait('hold-1')).data, { file: 'c.txt' });
		}
		assert.equal(await zombie.close(), 0, zombie.errors);
		assert.deepEqual(fleet.agents(), []);
	});
}

for (const [policy, attempts] of [['fail', [1]] as const, ['retry', [1, 1]] as const]) {
	scenario(`whoever takes over dies before he has handed over: ${policy}`, async (fleet, client) => {
		await fleet.worker('w1');
		await client.start(plan('hold-1', { interrupted_turn: policy }));
		await untilStarted(fleet, 'hold-1');
		// The first half of a takeover: the turn is taken away from a worker that lives, and nobody else gets it.
		await asked(fleet.url, "UPDATE turnlatch_slots SET holder = '' WHERE run_id = $1", 'hold-1');
		await untilStarted(fleet, 'hold-1', attempts.length);
		fleet.letGo('hold-1');
		const { error } = await client.wait('hold-1', 'waiting_user');
		assert.equal(error?.code, policy === 'fail' ? LOST : undefined);
		await client.settled('hold-1');
		await checked(client, 'hold-1');
		assert.deepEqual(fleet.started('hold-1'), attempts);
		assert.deepEqual(fleet.agents(), []);
	});
}

/** Several workers on one database: they share its slots, come, go, and wait for it. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { plan, until } from '../hosting.js';
import { mostAtATime, turns } from './agents.js';
import { carrier, checked, isPresent, scenario, server, two, untilStarted } from './fleet.js';

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
			assert.equal((await client.reply(runId, 1, `${runId}.txt`)).kind, 'accepted');
			assert.deepEqual((await client.wait(runId)).data, { file: `${runId}.txt` });
		}),
	);
	assert.equal((await client.unfinished()).length, held.length);
	assert.equal(turns(fleet.folder).length, 2 * (held.length + 2 * runs.length), 'every turn began and ended once');
	assert.equal(mostAtATime(fleet.folder), 4);
});

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
	const workers = await two(fleet);
	await client.start(plan('hold-1'));
	await untilStarted(fleet, 'hold-1');
	await client.start(plan('ask-2'));
	await client.wait('ask-2', 'waiting_user');
	const restarted = server().restart();
	// Asked while it is away, the driver waits for it; a reply is taken once.
	assert.equal((await client.reply('ask-2', 1, 'c.txt')).kind, 'accepted');
	await restarted;
	assert.deepEqual((await client.wait('ask-2')).data, { file: 'c.txt' });
	// Both leases ended with the server. Once both are back, no worker can be taken for dead any more.
	await until(async () => (await isPresent(fleet, 'w1')) && (await isPresent(fleet, 'w2')));
	fleet.letGo('hold-1');
	await client.wait('hold-1', 'waiting_user');
	await client.reply('hold-1', 1, 'd.txt');
	assert.deepEqual((await client.wait('hold-1')).data, { file: 'd.txt' });
	for (const runId of ['hold-1', 'ask-2']) {
		await checked(client, runId);
		assert.deepEqual(fleet.started(runId), [1, 2], 'every turn was carried out once');
	}
	for (const worker of workers.values()) assert.doesNotMatch(worker.errors, /takes over/);
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
	assert.equal((await client.reply('ask-1', 1, hostile)).kind, 'accepted');
	await checked(client, 'ask-1');
	const [record] = (await client.run('ask-1')).history();
	assert.equal(record?.response, hostile);
	const another = fleet.client();
	await another.open();
	assert.equal((await another.cancel('ask-1')).kind, 'canceled');
	await another.close();
	assert.equal((await client.wait('ask-1')).status, 'canceled');
	assert.ok(!existsSync(join(fleet.folder, 'turns.log')));
});

/** No slot is held that no run keeps, in whatever order workers die, stop and finish and runs are canceled. */

import assert from 'node:assert/strict';
import type { DbosDriver } from 'turnlatch/dbos';
import { plan, until } from '../hosting.js';
import { type Fleet, isPresent, QUICK_TAKEOVER, scenario, untilStarted } from './fleet.js';
import { asked } from './postgres.js';

/** Where each run is when its worker is gone: its turn begun and not started, under way, or over with its slot held. */
const BEGUN = ['ask-begun'];
const FINISHED = ['ask-finished', 'ask-finished-and-canceled'];
const RUNNING = ['hold-lost', 'hold-again', 'hold-canceled'];
const CANCELED = ['ask-begun', 'ask-finished-and-canceled', 'hold-canceled', 'ask-released'];
const HELD = [...BEGUN, ...FINISHED, ...RUNNING];
const SLOTS = HELD.length;

async function held(fleet: Fleet): Promise<string[]> {
	const rows = await asked<{ slot_id: string }>(fleet.url, 'SELECT slot_id FROM turnlatch_slots ORDER BY slot_id');
	return rows.map(({ slot_id }) => slot_id);
}

/** As many runs as there are slots hold one each, at the same time. */
async function useAll(fleet: Fleet, client: DbosDriver, slots: number): Promise<void> {
	const runs = Array.from({ length: slots }, (_, n) => `hold-${n}`);
	for (const runId of runs) await client.start(plan(runId));
	await until(async () => (await held(fleet)).length === slots);
	for (const runId of runs) {
		fleet.letGo(runId);
		await client.wait(runId, 'waiting_user');
		await client.settled(runId);
	}
}

for (const [way, follower] of [
	['kill', 'w1'],
	['kill', 'w2'],
	['stop', 'w1'],
	['stop', 'w2'],
	['pause', 'w2'],
] as const) {
	scenario(`no slot is lost with a worker: ${way}, then ${follower}`, async (fleet, client) => {
		const stuck = {
			...Object.fromEntries(BEGUN.map((runId) => [runId, 'begun' as const])),
			...Object.fromEntries(FINISHED.map((runId) => [runId, 'finished' as const])),
		};
		const worker = await fleet.worker('w1', { slots: SLOTS, stuck, ...QUICK_TAKEOVER });
		await client.start(plan('ask-released'));
		await client.wait('ask-released', 'waiting_user');
		await client.settled('ask-released');
		for (const runId of HELD) {
			await client.start(plan(runId, { interrupted_turn: runId === 'hold-again' ? 'retry' : 'fail' }));
		}
		for (const runId of FINISHED) await client.wait(runId, 'waiting_user');
		for (const runId of RUNNING) await untilStarted(fleet, runId);
		const begun = 'SELECT run_id FROM turnlatch_begun WHERE run_id = ANY($1)';
		await until(async () => (await asked(fleet.url, begun, BEGUN)).length === BEGUN.length);
		assert.equal((await held(fleet)).length, SLOTS, 'all of them');

		const agents = new Set(fleet.agents());
		if (way === 'stop') assert.equal(await worker.close(), 0, worker.errors);
		else await worker.send(way === 'kill' ? 'SIGKILL' : 'SIGSTOP');
		for (const runId of CANCELED) assert.equal((await client.cancel(runId)).kind, 'canceled');
		await fleet.worker(follower, { slots: SLOTS, ...QUICK_TAKEOVER });

		assert.equal((await client.wait('hold-lost')).status, 'failed');
		fleet.letGo('hold-again');
		await client.wait('hold-again', 'waiting_user');
		for (const runId of HELD) await client.settled(runId);
		assert.deepEqual(await held(fleet), []);

		// And they are there for others.
		await useAll(fleet, client, SLOTS);
		await worker.send('SIGCONT');
		if (way === 'pause') {
			// It is back, and has ended the processes of turns that are not its own any more.
			await until(() => isPresent(fleet, 'w1'));
			await until(() => !fleet.agents().some((agent) => agents.has(agent)));
		}
		assert.deepEqual(await held(fleet), []);
	});
}

scenario('slots that were lost are found', async (fleet, client) => {
	const worker = await fleet.worker('w1');
	await client.start(plan('done-ended'));
	assert.equal((await client.wait('done-ended')).status, 'succeeded');
	await client.start(plan('ask-waiting'));
	await client.wait('ask-waiting', 'waiting_user');
	await client.start(plan('hold-kept'));
	await untilStarted(fleet, 'hold-kept');
	for (const runId of ['done-ended', 'ask-waiting']) await client.settled(runId);
	// Whichever worker held them: it is gone, and so are their workflows.
	const lost = `INSERT INTO turnlatch_slots VALUES ('done-ended/s1', 'done-ended', 'w0', 'gone'),
		('ask-waiting/s1', 'ask-waiting', 'w0', ''), ('nothing/s1', 'nothing', 'w0', 'gone')`;
	await asked(fleet.url, lost);
	await until(async () => (await held(fleet)).join() === 'hold-kept/s1');
	for (const slot of ['done-ended/s1', 'ask-waiting/s1', 'nothing/s1']) {
		await until(() => worker.errors.includes(`worker w1 frees slot ${slot}`));
	}
	fleet.letGo('hold-kept');
	await client.wait('hold-kept', 'waiting_user');
	await client.settled('hold-kept');
});

scenario('the slot of a run that is gone is given back', async (fleet, client) => {
	await fleet.worker('w1');
	await client.start(plan('hold-1'));
	await untilStarted(fleet, 'hold-1');
	await asked(fleet.url, 'DELETE FROM turnlatch_runs');
	await client.settled('hold-1');
	await until(() => fleet.agents().length === 0);
});

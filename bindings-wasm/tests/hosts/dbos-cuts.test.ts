/** A worker that is stopped or cut off, at any moment, does not keep others waiting, and comes back by itself. */

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { DbosDriver } from 'turnlatch/dbos';
import { PACKAGE } from '../files.js';
import { plan, until } from '../hosting.js';
import { type Fleet, isPresent, QUICK_TAKEOVER, scenario, server } from './fleet.js';
import { asked, exitCode } from './postgres.js';
import { Unreliable } from './unreliable.js';

/** Said under the lock of the slots, in the transaction of a grant. */
const HOLDS_THE_LOCK = 'INSERT INTO turnlatch_slots';
const IS_THE_LEASE = 'SET idle_session_timeout';
const LISTENS = 'LISTEN turnlatch';
const CUT_MS = process.env.TURNLATCH_LONG === undefined ? 0 : 120_000;
/** A worker tries again at once, and each try has 3 seconds. */
const BACK_MS = 30_000;
const DROPPED = join(PACKAGE, 'build/tests-hosts/dropped-packets.mjs');
/** This side's address in {@link DROPPED}. */
const SERVER = '10.77.0.1';

/** A scenario with a way to the database that can be cut. */
function cutting(name: string, work: (fleet: Fleet, client: DbosDriver, way: Unreliable) => Promise<void>): void {
	scenario(name, async (fleet, client) => {
		const way = await Unreliable.start(server().port);
		try {
			await work(fleet, client, way);
			await fleet.close();
		} finally {
			await way.close();
		}
	});
}

async function allSucceed(client: DbosDriver, ...runs: string[]): Promise<void> {
	for (const runId of runs) await client.start(plan(runId));
	for (const runId of runs) assert.equal((await client.wait(runId)).status, 'succeeded');
}

async function noSlotIsHeld(fleet: Fleet): Promise<void> {
	await until(async () => (await asked(fleet.url, 'SELECT slot_id FROM turnlatch_slots')).length === 0);
}

for (const how of ['stopped', 'cut off'] as const) {
	cutting(`a worker is ${how} in the middle of a grant`, async (fleet, client, way) => {
		const one = await fleet.worker('w1', { databaseUrl: way.url(fleet.url), ...QUICK_TAKEOVER });
		const lost = new Promise<void>((resolve) =>
			way.when(HOLDS_THE_LOCK, () => {
				if (how === 'stopped') one.process.kill('SIGSTOP');
				else way.cut();
				resolve();
			}),
		);
		await client.start(plan('done-1'));
		await lost;
		const two = await fleet.worker('w2', QUICK_TAKEOVER);
		// They need the lock that the lost one has, and the last one is what that one was about to begin.
		await allSucceed(client, 'done-2', 'done-3', 'done-4', 'done-5', 'done-6', 'done-7');
		assert.equal((await client.wait('done-1')).status, 'succeeded');
		assert.deepEqual(fleet.started('done-1'), [1]);

		await one.send('SIGCONT');
		way.mend();
		await until(() => isPresent(fleet, 'w1'));
		assert.equal(await two.close(), 0, two.errors);
		await allSucceed(client, 'done-8', 'done-9');
		await noSlotIsHeld(fleet);
	});
}

cutting('a worker that was cut off for long is back at once', async (fleet, client, way) => {
	await fleet.worker('w1', { databaseUrl: way.url(fleet.url), ...QUICK_TAKEOVER });
	await client.start(plan('hold-1', { interrupted_turn: 'retry' }));
	await until(() => fleet.started('hold-1').length === 1);
	const agents = new Set(fleet.agents());
	const two = await fleet.worker('w2', QUICK_TAKEOVER);
	way.cut();
	const cutAt = performance.now();
	// The other one has taken over.
	await until(() => fleet.started('hold-1').length === 2);
	// Longer than any time after which a connection is given up: it has tried again and again to make another.
	const { arrivals } = way;
	await until(() => way.arrivals >= arrivals + 3 && performance.now() - cutAt >= CUT_MS, CUT_MS + 120_000);
	assert.equal(await isPresent(fleet, 'w1'), false);
	way.mend();
	await until(() => isPresent(fleet, 'w1'), BACK_MS);
	// It has ended those that are not its own any more.
	await until(() => !fleet.agents().some((agent) => agents.has(agent)));
	fleet.letGo('hold-1');
	await client.wait('hold-1', 'waiting_user');
	await client.settled('hold-1');
	assert.equal(await two.close(), 0, two.errors);
	await allSucceed(client, 'done-1');
	await noSlotIsHeld(fleet);
});

cutting('a lease without answers is renewed on another connection', async (fleet, client, way) => {
	await fleet.worker('w1', { databaseUrl: way.url(fleet.url), ...QUICK_TAKEOVER });
	assert.equal(way.lose(IS_THE_LEASE), 1);
	await until(async () => !(await isPresent(fleet, 'w1')));
	await until(() => isPresent(fleet, 'w1'));
	await allSucceed(client, 'done-1');
});

cutting('a worker works on when all its connections lead nowhere', async (fleet, client, way) => {
	await fleet.worker('w1', { databaseUrl: way.url(fleet.url), ...QUICK_TAKEOVER });
	await allSucceed(client, 'done-1');
	assert.ok(way.lose('') > 4);
	await allSucceed(client, 'done-2', 'done-3');
	await noSlotIsHeld(fleet);
});

cutting('a listener that hears nothing listens anew', async (fleet, client, way) => {
	const deaf = new DbosDriver({ works: false, databaseUrl: way.url(fleet.url) });
	await deaf.open();
	try {
		const changes = deaf.changes();
		const first = changes.next();
		await until(() => listens(fleet));
		await client.start(plan('ask-first'));
		await first;
		assert.equal(way.lose(LISTENS), 1);
		await client.start(plan('ask-unheard'));
		// Any run may have changed meanwhile.
		for await (const runId of changes) if (runId === null) break;
	} finally {
		await deaf.close();
	}
});

/** Whether a session of a client listens. */
async function listens(fleet: Fleet): Promise<boolean> {
	const found = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'turnlatch client' AND query ~ '^LISTEN turnlatch'
		AND datname = current_database()`;
	return (await asked(fleet.url, found)).length > 0;
}

test('connections whose packets are dropped are given up', { timeout: 300_000 }, async (t) => {
	const network = [
		'ip link set lo up',
		'ip link add here type veth peer name there',
		`ip address add ${SERVER}/24 dev here`,
		'ip link set here up',
	].join(' && ');
	const tried = spawnSync('unshare', ['--net', 'sh', '-c', network], { encoding: 'utf8' });
	if (tried.status !== 0) {
		const missing = String(tried.error ?? tried.stderr);
		// CI may make network namespaces. A test that is left out there would not be missed.
		assert.equal(process.env.CI, undefined, missing);
		t.skip(`no network namespace can be made: ${missing}`);
		return;
	}
	// Of a test run by a test nothing would be heard otherwise.
	const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
	const env = { ...environment, TURNLATCH_OTHER_ADDRESS: SERVER };
	const played = spawn(
		'unshare',
		['--net', 'sh', '-c', `${network} && exec "$0" --test "$1"`, process.execPath, DROPPED],
		{
			env,
		},
	);
	let said = '';
	for (const output of [played.stdout, played.stderr]) output.on('data', (data) => (said += data));
	assert.equal(await exitCode(played), 0, said);
	assert.match(said, /pass 1/);
});

scenario('every connection has a name and its limits', async (fleet, client) => {
	await fleet.worker('w1');
	const names = 'SELECT DISTINCT application_name AS name FROM pg_stat_activity WHERE datname = current_database()';
	const found = (await asked<{ name: string }>(fleet.url, names)).map(({ name }) => name);
	assert.deepEqual(
		found.filter((name) => name !== ''),
		['turnlatch client', 'turnlatch w1'],
	);
	const limits: unknown[] = [];
	await client.start(plan('ask-1'), async (db) => {
		for (const name of ['idle_in_transaction_session_timeout', 'tcp_user_timeout']) {
			const { rows } = (await db.query(`SHOW ${name}`)) as { rows: Record<string, string>[] };
			limits.push(rows[0]?.[name]);
		}
	});
	assert.deepEqual(limits, ['5s', '15000']);
});

scenario('what a host keeps beside a run is there if and only if the run is', async (fleet, client) => {
	await asked(fleet.url, 'CREATE TABLE mine (run_id TEXT)');
	const note = (runId: string) => client.start(plan(runId), (db) => db.query('INSERT INTO mine VALUES ($1)', [runId]));
	await note('ask-1');
	await assert.rejects(note('ask-1'), { code: 'RUN_EXISTS' });
	await assert.rejects(
		client.start(plan('ask-2'), async (db) => {
			await db.query('INSERT INTO mine VALUES ($1)', ['ask-2']);
			throw new Error('no');
		}),
		/^Error: no$/,
	);
	await assert.rejects(client.view('ask-2'), { code: 'RUN_UNKNOWN' });
	assert.deepEqual(await asked(fleet.url, 'SELECT run_id FROM mine'), [{ run_id: 'ask-1' }]);
});

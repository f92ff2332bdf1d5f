/**
 * A worker whose packets are dropped. It is started in a network namespace where `here` and `there` are a pair of virtual
 * interfaces, with the database behind `here`; the worker goes to another namespace, with `there`.
 *
 * While `here` is down nothing is acknowledged, and no proxy and no kernel of the other side closes a connection: what ends
 * them are the worker's own limits.
 */

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { plan, until } from '../hosting.js';
import { type Fleet, isPresent, QUICK_TAKEOVER, scenario, server, type Worker } from './fleet.js';
import { asked } from './postgres.js';

const [SERVER, CLIENT] = ['10.77.0.1', '10.77.0.2'];
/** The pool waits longest, 15 seconds, and packets that are not acknowledged are sent again for a quarter of an hour. */
const GIVEN_UP_MS = 60_000;
const BACK_MS = 60_000;
const ESTABLISHED = '01';

function ip(...options: string[]): void {
	execFileSync('ip', options);
}

/** Moves `there` to a namespace of its own. Gives the command that runs another one in it, and what ends it. */
async function otherNamespace(): Promise<[string[], () => Promise<unknown>]> {
	const holder = spawn('unshare', ['--net', 'sh', '-c', 'echo there; exec cat'], {
		stdio: ['pipe', 'pipe', 'inherit'],
	});
	await once(holder.stdout, 'data');
	const inside = ['nsenter', `--target=${holder.pid}`, '--net', '--'];
	ip('link', 'set', 'there', 'netns', String(holder.pid));
	for (const command of ['link set lo up', `address add ${CLIENT}/24 dev there`, 'link set there up']) {
		execFileSync('nsenter', [...inside.slice(1), 'ip', ...command.split(' ')]);
	}
	const end = () => {
		holder.stdin.end();
		return once(holder, 'exit');
	};
	return [inside, end];
}

/** The local ports of the connections to the database in the worker's namespace that are not given up. */
function connections(worker: Worker): Set<string> {
	const remote = `:${server().port.toString(16).toUpperCase().padStart(4, '0')}`;
	const rows = readFileSync(`/proc/${worker.process.pid}/net/tcp`, 'utf8').trim().split('\n').slice(1);
	const fields = rows.map((row) => row.trim().split(/\s+/));
	const open = fields.filter(([, , other, state]) => state === ESTABLISHED && other?.endsWith(remote));
	return new Set(open.map(([, local = '']) => local));
}

/** The sessions of the worker that listen. */
async function listeners(fleet: Fleet): Promise<number[]> {
	const found = `SELECT pid FROM pg_stat_activity WHERE application_name = 'turnlatch w1' AND client_addr = $1
		AND query IN ('LISTEN turnlatch', 'SELECT 1') AND backend_start > $2`;
	return (await asked<{ pid: number }>(fleet.url, found, CLIENT, since)).map(({ pid }) => pid);
}

let since = new Date(0);

scenario('connections whose packets are dropped are given up', async (fleet, client) => {
	const [inside, end] = await otherNamespace();
	try {
		const databaseUrl = fleet.url.replace('@127.0.0.1:', `@${SERVER}:`);
		const one = await fleet.begin('w1', { databaseUrl, ...QUICK_TAKEOVER }, inside).opened();
		await client.start(plan('hold-1', { interrupted_turn: 'retry' }));
		await until(() => fleet.started('hold-1').length === 1);
		await until(async () => (await listeners(fleet)).length > 0);
		const [agents, before] = [new Set(fleet.agents()), connections(one)];
		assert.ok(before.size >= 3, 'the lease, the listener and the pool');
		const two = await fleet.worker('w2', QUICK_TAKEOVER);

		ip('link', 'set', 'here', 'down');
		// The other one has taken over.
		await until(() => fleet.started('hold-1').length === 2);
		await until(() => ![...connections(one)].some((port) => before.has(port)), GIVEN_UP_MS);
		assert.equal(await isPresent(fleet, 'w1'), false);

		since = new Date();
		ip('link', 'set', 'here', 'up');
		await until(() => isPresent(fleet, 'w1'), BACK_MS);
		await until(async () => (await listeners(fleet)).length > 0, BACK_MS);
		// It has ended those that are not its own any more.
		await until(() => !fleet.agents().some((agent) => agents.has(agent)));
		fleet.letGo('hold-1');
		await client.wait('hold-1', 'waiting_user');
		await client.settled('hold-1');
		assert.equal(await two.close(), 0, two.errors);
		await client.start(plan('done-1'));
		assert.equal((await client.wait('done-1')).status, 'succeeded');
		await until(async () => (await asked(fleet.url, 'SELECT slot_id FROM turnlatch_slots')).length === 0);
		assert.equal(await one.close(), 0, one.errors);
	} finally {
		await end();
	}
});

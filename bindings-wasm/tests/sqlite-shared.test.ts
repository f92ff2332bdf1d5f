/** One SQLite file, two languages: what a host in Python has left, one in Node goes on with, and the other way round. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { replay, type StatusView } from 'turnlatch';
import { StoreConflict } from 'turnlatch/driver';
import { PYTHON, ROOT } from './files.js';
import { asksThenFinishes, hosted, plan, scenario } from './hosting.js';

/** What the host in Python prints. */
async function inPython(what: 'ask' | 'answer' | 'journal', folder: string): Promise<unknown> {
	const host = join(ROOT, 'bindings-python/tests/sqlite_host.py');
	const { stdout } = await promisify(execFile)(PYTHON, [host, what, join(folder, 'runs.db')]);
	return JSON.parse(stdout);
}

scenario('a run that Python has left with its question goes on in Node', async (store, folder) => {
	const asked = await inPython('ask', folder);
	await hosted(store, asksThenFinishes, async (host) => {
		assert.deepEqual(await host.driver.recover(), ['r1']);
		assert.deepEqual(host.driver.view('r1'), asked);
		assert.equal((await host.driver.reply('r1', 1, 'the second')).receipt, 'accepted');
		assert.deepEqual((await host.ended('r1')).data, { file: 'b.txt' });
		assert.deepEqual(host.errors, []);
		await host.nothingLeft();
	});
	assert.deepEqual(store.unfinished(), []);
	assert.equal(replay(plan(), store.journal('r1'))[0].toJson(), store.load('r1'));
	assert.deepEqual(await inPython('journal', folder), { unfinished: [], same: true });
});

scenario('a run that Node has left with its question goes on in Python', async (store, folder) => {
	await hosted(store, asksThenFinishes, async (host) => {
		await host.driver.start(plan());
		await host.driver.wait('r1', 'waiting_user');
	});
	assert.deepEqual(await inPython('journal', folder), { unfinished: ['r1'], same: true });
	const { status, data } = (await inPython('answer', folder)) as StatusView;
	assert.deepEqual([status, data], ['succeeded', { file: 'b.txt' }]);
	assert.deepEqual(store.unfinished(), []);
	assert.equal(replay(plan(), store.journal('r1'))[0].toJson(), store.load('r1'));
});

scenario('two hosts with one file notice each other', (store, folder) =>
	hosted(store, asksThenFinishes, async ({ driver }) => {
		await driver.start(plan());
		await driver.wait('r1', 'waiting_user');
		assert.equal(((await inPython('answer', folder)) as StatusView).status, 'succeeded');
		const late = () => driver.reply('r1', 1, 'the first');
		await assert.rejects(late(), (error) => error instanceof StoreConflict && error.code === 'STORE_CONFLICT');
		assert.equal((await late()).receipt, 'stale', 'the driver has read the run again');
	}),
);

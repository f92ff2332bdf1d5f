/** One SQLite file, two languages: what a host in Python has left, one in Node goes on with, and the other way round. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { replay, type StatusView } from 'turnlatch';
import type { SqliteStore } from 'turnlatch/node';
import { PYTHON, ROOT } from './files.js';
import { asksThenFinishes, hosted, openStore, plan } from './hosting.js';

/** What the host in Python prints. */
async function inPython(what: 'ask' | 'answer' | 'journal', path: string): Promise<unknown> {
	const host = join(ROOT, 'bindings-python/tests/sqlite_host.py');
	const { stdout } = await promisify(execFile)(PYTHON, [host, what, path]);
	return JSON.parse(stdout);
}

/** A test with a folder of its own; the file in it has one owner at a time. */
function sharing(name: string, work: (path: string) => Promise<void>): void {
	test(name, { timeout: 60_000 }, async () => {
		const folder = mkdtempSync(join(tmpdir(), 'turnlatch-'));
		try {
			await work(join(folder, 'runs.db'));
		} finally {
			rmSync(folder, { recursive: true, force: true });
		}
	});
}

/** A store that is open as long as the work. */
async function inNode(path: string, work: (store: SqliteStore) => Promise<void> | void): Promise<void> {
	const store = openStore(path);
	try {
		await work(store);
	} finally {
		store.close();
	}
}

function isWhole(store: SqliteStore): void {
	assert.deepEqual(store.unfinished(), []);
	assert.equal(replay(plan(), store.journal('r1'))[0].snapshot(), store.load('r1'));
}

sharing('a run that Python has left with its question goes on in Node', async (path) => {
	const asked = await inPython('ask', path);
	await inNode(path, async (store) => {
		await hosted(store, asksThenFinishes, async (host) => {
			assert.deepEqual(await host.driver.recover(), ['r1']);
			assert.deepEqual(host.driver.view('r1'), asked);
			assert.equal((await host.driver.reply('r1', 1, 'the second')).kind, 'accepted');
			assert.deepEqual((await host.ended('r1')).data, { file: 'b.txt' });
			assert.deepEqual(host.errors, []);
			await host.nothingLeft();
		});
		isWhole(store);
	});
	assert.deepEqual(await inPython('journal', path), { unfinished: [], same: true });
});

sharing('a run that Node has left with its question goes on in Python', async (path) => {
	await inNode(path, (store) =>
		hosted(store, asksThenFinishes, async (host) => {
			await host.driver.start(plan());
			await host.driver.wait('r1', 'waiting_user');
		}),
	);
	assert.deepEqual(await inPython('journal', path), { unfinished: ['r1'], same: true });
	const { status, data } = (await inPython('answer', path)) as StatusView;
	assert.deepEqual([status, data], ['succeeded', { file: 'b.txt' }]);
	await inNode(path, isWhole);
});

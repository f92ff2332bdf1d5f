/** The ready parts by themselves: stores, slots and timers; the browser's store in Chromium. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DatabaseSync } from '@photostructure/sqlite';
import { Run, replay } from 'turnlatch';
import {
	LocalSlots,
	LocalTimers,
	MemoryStore,
	RunNotFoundError,
	type Store,
	StoreConflictError,
} from 'turnlatch/driver';
import { type SqliteDatabase, SqliteStore } from 'turnlatch/node';
import { browse, resultOf, serve } from './browser.js';
import { PACKAGE, ROOT } from './files.js';
import { plan, scenario, until } from './hosting.js';

async function keepsWhatItPromises(store: Store): Promise<void> {
	const [run, created] = Run.create(plan(), 1);
	assert.ok(created.entry);
	await store.create('r1', run.snapshot(), created.entry);
	const again = async () => store.create('r1', run.snapshot(), created.entry as never);
	await assert.rejects(again(), (error) => error instanceof StoreConflictError && error.code === 'RUN_EXISTS');
	await assert.rejects(async () => store.load('nobody'), RunNotFoundError);
	await assert.rejects(async () => store.journal('nobody'), RunNotFoundError);
	assert.deepEqual([...(await store.unfinished())], ['r1']);
	assert.equal(await store.wasBegun('r1', 'e'), false);
	await store.markBegun('r1', 'e');
	await store.markBegun('r1', 'e');
	assert.equal(await store.wasBegun('r1', 'e'), true);
	const { entry } = run.cancel(2);
	assert.ok(entry);
	const save = async (expected: number) => store.save('r1', expected, run.snapshot(), entry, true);
	await assert.rejects(save(7), (error) => error instanceof StoreConflictError && error.code === 'STORE_CONFLICT');
	assert.equal((await store.journal('r1')).length, 1, 'nothing was saved');
	await save(1);
	assert.equal(await store.load('r1'), run.snapshot());
	assert.deepEqual([...(await store.unfinished())], []);
	assert.equal(replay(plan(), await store.journal('r1'))[0].snapshot(), run.snapshot());
}

test('the store in memory keeps what it promises', () => keepsWhatItPromises(new MemoryStore()));

scenario('the SQLite store keeps what it promises, also for a second connection', async (store, folder) => {
	await keepsWhatItPromises(store);
	const lines = store.lines('r1');
	assert.deepEqual(lines, store.journal('r1').lines());
	assert.deepEqual([store.lines('r1', 1), store.lines('r1', 99)], [lines.slice(1), []]);
	const db = new DatabaseSync(join(folder, 'runs.db'));
	assert.equal((db.prepare('SELECT snapshot FROM runs').get() as { snapshot: string }).snapshot, store.load('r1'));
	assert.equal((db.prepare('PRAGMA journal_mode').get() as { journal_mode: string }).journal_mode, 'wal');
	db.close();
});

test('the tables are those of the Python package', () => {
	const schema = /_SCHEMA = """\n(.*?)"""/s.exec(
		readFileSync(join(ROOT, 'bindings-python/python/turnlatch/sqlite_store.py'), 'utf8'),
	)?.[1];
	assert.ok(schema);
	const tables = (make: (db: SqliteDatabase) => unknown) => {
		const db = new DatabaseSync(':memory:');
		make(db);
		return db.prepare('SELECT name, sql FROM sqlite_schema ORDER BY name').all();
	};
	assert.deepEqual(
		tables((db) => new SqliteStore(db)),
		tables((db) => db.exec(schema)),
	);
});

test('slots are granted first come, first served', () => {
	const slots = new LocalSlots(1);
	const granted: string[] = [];
	for (const id of ['a', 'b', 'c', 'b']) slots.acquire('r', id, () => granted.push(id));
	slots.release('c');
	slots.release('a');
	slots.acquire('r', 'b', () => granted.push('b again'));
	assert.deepEqual(granted, ['a', 'b', 'b again']);
	assert.throws(() => new LocalSlots(0), RangeError);
});

test('an alarm far away does not fire at once, and one that has passed fires soon', async () => {
	let now = 0;
	const timers = new LocalTimers({ clock: () => now, keepAlive: false });
	const fired: string[] = [];
	timers.set('far', 1, 2 ** 40, () => fired.push('far'));
	timers.set('near', 1, 2 ** 40, () => fired.push('replaced'));
	now = 5;
	timers.set('near', 1, 4, () => fired.push('near'));
	await until(() => fired.length > 0);
	assert.deepEqual(fired, ['near']);
	assert.deepEqual(timers.pending(), [['far', 1]]);
	timers.cancel('far', 1);
	assert.deepEqual(timers.pending(), []);
});

test('the driver and the IndexedDB store work in Chromium, and go on after a reload of the store', async () => {
	const script = `import { admit, init } from '/dist/web.js';
		import { Driver, LocalSlots, LocalTimers } from '/dist/driver.js'; import { IndexedDbStore } from '/dist/indexeddb.js';
		await init();
		let finished; const alive = new Set();
		const processes = {
			start(run, effect, done) { alive.add(effect.slot_id); setTimeout(() => { alive.delete(effect.slot_id);
				done({ text: effect.resume ? '{"file":"b","__SKILL_DONE__":true}' : 'Which file?' }); }, 1); },
			inject() {}, attach() {}, terminate(slot) { alive.delete(slot); }, alive: () => alive };
		const parts = (store) => ({ slots: new LocalSlots(1), timers: new LocalTimers(), processes, store });
		const plan = admit({ runner: { execution_modes: ['interactive'] } },
			{ run_id: 'r1', engine: 'e', execution_mode: 'interactive' }, { engines: ['e'] });
		const first = await IndexedDbStore.open(); const driver = new Driver(parts(first));
		await driver.start(plan);
		let conflict; try { await driver.start(plan); } catch (error) { conflict = error.code; }
		await driver.wait('r1', 'waiting_user'); await driver.settled('r1'); await driver.close(); first.close();
		const second = await IndexedDbStore.open(); const next = new Driver(parts(second));
		const recovered = await next.recover();
		let unknown; try { await next.cancel('nobody'); } catch (error) { unknown = error.code; }
		const { kind } = await next.reply('r1', 1, 'b');
		const { status } = await next.wait('r1'); await next.settled('r1');
		const journal = await second.journal('r1');
		globalThis.done = { conflict, recovered, unknown, kind, status, left: await second.unfinished(),
			whole: journal.length === next.view('r1').revision };`;
	const page = '<!doctype html><script type="module" src="/page.js"></script>';
	const site = await serve(PACKAGE, { '/': page, '/page.js': script });
	const browser = await browse();
	try {
		assert.deepEqual(await resultOf(browser.context, `${site.url}/`), {
			conflict: 'RUN_EXISTS',
			recovered: ['r1'],
			unknown: 'RUN_UNKNOWN',
			kind: 'accepted',
			status: 'succeeded',
			left: [],
			whole: true,
		});
	} finally {
		await browser.close();
		await site.close();
	}
});

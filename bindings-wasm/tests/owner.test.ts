/** A SQLite file has one host at a time (HOST-11), in real processes of both languages. */

import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DatabaseSync } from '@photostructure/sqlite';
import { DriverUsageError } from 'turnlatch/driver';
import { type SqliteDatabase, SqliteStore } from 'turnlatch/node';
import { PACKAGE, PYTHON, ROOT } from './files.js';
import { DONE, hosted, openStore, plan } from './hosting.js';

const PYTHON_HOST = join(ROOT, 'bindings-python/tests/sqlite_host.py');
const NODE_HOST = `const { DatabaseSync } = require('@photostructure/sqlite'); const { SqliteStore } = require('turnlatch/node');
	const store = new SqliteStore(new DatabaseSync(process.argv[1]));
	console.log('held');
	process.stdin.on('end', () => store.close()).resume();`;
const HOSTS = {
	Node: (path: string) => [process.execPath, '-e', NODE_HOST, path] as const,
	Python: (path: string) => [PYTHON, PYTHON_HOST, 'hold', path] as const,
};

function scenario(name: string, work: (path: string, folder: string) => Promise<void> | void): void {
	test(name, { timeout: 60_000 }, async () => {
		const folder = mkdtempSync(join(tmpdir(), 'turnlatch-'));
		try {
			await work(join(folder, 'runs.db'), folder);
		} finally {
			rmSync(folder, { recursive: true, force: true });
		}
	});
}

/** Another process that has the file open until its input ends, or this work. */
async function withHolder(
	[program, ...rest]: readonly [string, ...string[]],
	work: (host: ChildProcess, ended: Promise<unknown[]>) => Promise<void>,
): Promise<void> {
	const host = spawn(program, rest, { cwd: PACKAGE, stdio: ['pipe', 'pipe', 'inherit'] });
	const ended = once(host, 'exit');
	try {
		assert.equal(String((await once(host.stdout, 'data'))[0]).trim(), 'held');
		await work(host, ended);
	} finally {
		host.kill('SIGKILL');
	}
}

function assertInUse(path: string, pid: number | undefined): void {
	assert.throws(
		() => openStore(path),
		(error) =>
			error instanceof DriverUsageError &&
			error.code === 'DATABASE_IN_USE' &&
			error.message.startsWith(`process ${pid} uses `) &&
			(error.details as { pid: number }).pid === pid,
	);
}

for (const [language, command] of Object.entries(HOSTS)) {
	scenario(`a file that a host in ${language} has is refused to one in Node, until it is closed`, (path) =>
		withHolder(command(path), async (host, ended) => {
			assertInUse(path, host.pid);
			host.stdin?.end();
			assert.deepEqual(await ended, [0, null]);
			openStore(path).close();
		}),
	);

	scenario(`a file is free when its host in ${language} is killed`, (path) =>
		withHolder(command(path), async (host, ended) => {
			assertInUse(path, host.pid);
			host.kill('SIGKILL');
			await ended;
			assert.equal(readFileSync(`${path}.owner.pid`, 'utf8'), `${host.pid}\n`);
			const store = openStore(path);
			assertInUse(path, process.pid);
			store.close();
		}),
	);
}

scenario('a host in Python cannot fail the turns of a host in Node', async (path, folder) => {
	const turn = `while ! test -e go; do sleep 0.01; done; echo '${DONE}'`;
	const store = openStore(path);
	await hosted(
		store,
		() => ({ argv: ['sh', '-c', turn], cwd: folder }),
		async ({ driver }) => {
			await driver.start(plan());
			await driver.wait('r1', 'running');
			const said = await new Promise<string>((resolve) => {
				execFile(PYTHON, [PYTHON_HOST, 'recover', path], (error, _stdout, stderr) => resolve(error ? stderr : ''));
			});
			assert.ok(said.includes(`DATABASE_IN_USE: process ${process.pid} uses ${path}`), said);
			assert.equal(driver.view('r1').status, 'running');
			writeFileSync(join(folder, 'go'), '');
			assert.equal((await driver.wait('r1')).status, 'succeeded');
			await driver.settled('r1');
		},
	);
	store.close();
});

scenario('a second store of this process is refused until the first is closed', (path, folder) => {
	const link = join(folder, 'link.db');
	symlinkSync(path, link);
	const first = openStore(path);
	for (const again of [path, path, link]) assertInUse(again, process.pid);
	first.close();
	openStore(link).close();
	const owners = readdirSync(folder).filter((name) => name.includes('.owner'));
	assert.deepEqual(owners, ['runs.db.owner'], 'no owner is named any more');
});

scenario('a file that is no database is left without an owner', (path) => {
	writeFileSync(path, 'no database at all, and long enough to be looked at'.repeat(50));
	for (const _ of [1, 2]) assert.throws(() => openStore(path), /not a database/);
});

test('a database in memory has no owner', () => {
	const stores = [openStore(':memory:'), openStore(':memory:')];
	for (const store of stores) store.close();
});

scenario('a database whose class opens no file needs `open`', (path) => {
	const db = new DatabaseSync(path);
	const wrapped: SqliteDatabase = {
		exec: (sql) => db.exec(sql),
		prepare: (sql) => db.prepare(sql) as ReturnType<SqliteDatabase['prepare']>,
		close: () => db.close(),
	};
	assert.throws(() => new SqliteStore(wrapped), { name: 'TypeError', message: /give the store `open`/ });
	const store = new SqliteStore(wrapped, { open: (file) => new DatabaseSync(file) });
	assertInUse(path, process.pid);
	store.close();
});

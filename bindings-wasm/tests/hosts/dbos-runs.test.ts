/** Runs through the host on DBOS, in one process. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DBOS, DBOSClient } from '@dbos-inc/dbos-sdk';
import { replay } from 'turnlatch';
import * as imported from 'turnlatch/dbos';
import { DbosDriver, type DbosOptions } from 'turnlatch/dbos';
import { SubprocessRunner } from 'turnlatch/node';
import { PACKAGE, ROOT } from '../files.js';
import { DONE, plan, QUICK, reportingAttempt, STICKY, until } from '../hosting.js';
import { agents, turns } from './agents.js';
import { server } from './fleet.js';
import { asked, exitCode } from './postgres.js';
import { Unreliable } from './unreliable.js';

/** Said under the lock of the slots, when a turn wants one. */
const COUNTS_THE_SLOTS = 'SELECT COUNT(*) FROM turnlatch_slots';

interface Place {
	readonly url: string;
	readonly folder: string;
}

type Play = (driver: DbosDriver, place: Place) => Promise<void>;

/** Plays with a worker. What its parts complain of fails the test. */
async function drive(place: Place, play: Play, options: Partial<DbosOptions> = {}): Promise<void> {
	const errors: unknown[] = [];
	const processes = new SubprocessRunner(agents(place.folder), { graceMs: 300 });
	const usual = { slots: 2, pollMs: 100, takeoverAfterMs: 1500, databaseUrl: place.url };
	const driver = new DbosDriver({ processes, onError: (...what) => void errors.push(what), ...usual, ...options });
	await driver.open();
	try {
		await play(driver, place);
	} finally {
		await driver.close();
	}
	assert.deepEqual(await processes.alive(), []);
	assert.deepEqual(errors, []);
}

/** A test with a database and a folder of its own. */
function placed(name: string, work: (place: Place) => Promise<void>): void {
	test(name, { timeout: 300_000 }, async () => {
		const folder = mkdtempSync(join(tmpdir(), 'turnlatch-dbos-'));
		try {
			await work({ url: await server().database(), folder });
		} finally {
			rmSync(folder, { recursive: true, force: true });
		}
	});
}

function played(name: string, play: Play, options: Partial<DbosOptions> = {}): void {
	placed(name, (place) => drive(place, play, options));
}

const notices: string[] = [];
const onNotify: DbosOptions['onNotify'] = (_runId, { status }) => void notices.push(status);

played(
	'a run asks, waits, is answered and finishes',
	async (driver, { folder }) => {
		assert.equal(await driver.start(plan('ask-1')), 'ask-1');
		assert.equal((await driver.wait('ask-1', 'waiting_user')).pending_interaction_id, 1);
		assert.deepEqual(await driver.unfinished(), ['ask-1']);
		assert.equal((await driver.reply('ask-1', 1, 'c.txt')).kind, 'accepted');
		const view = await driver.wait('ask-1');
		assert.deepEqual([view.status, view.data], ['succeeded', { file: 'c.txt' }]);
		await driver.settled('ask-1');
		assert.deepEqual(await driver.unfinished(), []);
		const run = await driver.run('ask-1');
		assert.equal(replay(run.plan, await driver.journal('ask-1'))[0].snapshot(), run.snapshot());
		assert.deepEqual(await driver.lines('ask-1', run.revision - 1), (await driver.lines('ask-1')).slice(-1));
		assert.deepEqual(notices, ['queued', 'running', 'waiting_user', 'queued', 'running', 'succeeded']);
		assert.deepEqual(
			turns(folder).map(({ what, attempt }) => `${what} ${attempt}`),
			['start 1', 'end 1', 'start 2', 'end 2'],
		);
	},
	{ onNotify },
);

played('every reply gets its receipt', async (driver) => {
	await driver.start(plan('ask-1'));
	const { revision } = await driver.wait('ask-1', 'waiting_user');
	assert.equal((await driver.reply('ask-1', 7, 'x')).code, 'UNKNOWN_INTERACTION');
	const conflict = await driver.reply('ask-1', 1, 'x', { expected_revision: revision - 1 });
	assert.equal(conflict.code, 'REVISION_CONFLICT');
	const reply = (n: number, text = `${n}.txt`) => driver.reply('ask-1', 1, text, { idempotency_key: `key ${n}` });
	const all = (await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map((n) => reply(n)))).map(({ kind }) => kind);
	assert.deepEqual(all.toSorted(), ['accepted', ...Array(7).fill('stale')]);
	const winner = all.indexOf('accepted');
	assert.equal((await reply(winner)).kind, 'duplicate');
	assert.equal((await reply(winner, 'other')).code, 'IDEMPOTENCY_CONFLICT');
	assert.deepEqual((await driver.wait('ask-1')).data, { file: `${winner}.txt` });
	assert.equal((await driver.run('ask-1')).history().length, 1);
});

placed('a sticky run keeps its process and slot', async ({ url, folder }) => {
	const way = await Unreliable.start(server().port);
	const play = async (driver: DbosDriver) => {
		await driver.start(plan('talk-1', { interactive_profile: STICKY }));
		await driver.wait('talk-1', 'waiting_user');
		// The queue lets another turn through, so that only the exact count of the slots is left to refuse it.
		await setLimitOfTurns(url, 2);
		await driver.start(plan('done-2'));
		const claimed = "SELECT FROM dbos.workflow_status WHERE workflow_uuid = 'done-2/s1' AND status = 'PENDING'";
		await until(async () => (await asked(url, claimed)).length === 1);
		// It is counted again because there was none the first time.
		for (let count = 0; count < 3; count += 1) {
			await new Promise<void>((resolve) => way.when(COUNTS_THE_SLOTS, resolve));
		}
		assert.equal((await driver.view('done-2')).status, 'queued', 'there is one slot, and it is kept');
		await driver.reply('talk-1', 1, 'again');
		await until(async () => (await driver.view('talk-1')).pending_interaction_id === 2);
		await driver.reply('talk-1', 2, 'c.txt');
		assert.deepEqual((await driver.wait('talk-1')).data, { file: 'c.txt' });
		assert.equal((await driver.wait('done-2')).status, 'succeeded');
		const slots = turns(folder).map(({ slot }) => slot);
		assert.deepEqual([...new Set(slots.filter((slot) => slot.startsWith('talk')))], ['talk-1/s1']);
	};
	try {
		await drive({ url: way.url(url), folder }, play, { slots: 1 });
	} finally {
		await way.close();
	}
});

/** Lets DBOS claim as many turns at a time. Workers count slots by their own setting. */
async function setLimitOfTurns(url: string, globalConcurrency: number): Promise<void> {
	const client = await DBOSClient.create({ systemDatabaseUrl: url, applicationName: 'turnlatch' });
	await client.registerQueue('turns', { globalConcurrency, minPollingIntervalMs: 50, onConflict: 'always_update' });
	await client.destroy();
}

for (const moment of ['queued', 'running', 'waiting', 'sticky'] as const) {
	played(
		`a run is canceled: ${moment}`,
		async (driver, { folder }) => {
			if (moment === 'queued') {
				await driver.start(plan('hold-0'));
				await driver.wait('hold-0', 'running');
			}
			const runId = { running: 'deaf-1', sticky: 'talk-1', queued: 'ask-1', waiting: 'ask-1' }[moment];
			await driver.start(plan(runId, moment === 'sticky' ? { interactive_profile: STICKY } : {}));
			if (moment === 'running') await until(() => turns(folder).length > 0);
			else if (moment !== 'queued') await driver.wait(runId, 'waiting_user');
			assert.equal((await driver.cancel(runId, 'enough')).kind, 'canceled');
			assert.equal((await driver.cancel(runId)).kind, 'already_ended');
			await driver.settled(runId);
			if (moment === 'queued') {
				await driver.cancel('hold-0');
				await driver.settled('hold-0');
				assert.ok(!turns(folder).some(({ slot }) => slot.startsWith('ask-1')), 'it never had a turn');
			}
			// The slots are free again.
			await driver.start(plan('done-9'));
			assert.equal((await driver.wait('done-9')).status, 'succeeded');
			assert.deepEqual((await driver.view(runId)).error, { code: 'CANCELED_BY_USER', message: 'enough' });
		},
		{ slots: 1 },
	);
}

placed('a deadline decides, also over a restart', async (place) => {
	await drive(place, async (driver) => {
		await driver.start(plan('talk-2', { interactive_profile: STICKY, session_timeout_sec: 1 }));
		assert.equal((await driver.wait('talk-2')).error?.code, 'INTERACTION_WAIT_TIMEOUT');
		await driver.settled('talk-2');
		await driver.start(plan('ask-1', { interactive_require_user_reply: false, session_timeout_sec: 2 }));
		await driver.wait('ask-1', 'waiting_user');
	});
	await drive(place, async (driver) => {
		const view = await driver.wait('ask-1');
		assert.deepEqual([view.status, view.auto_decision_count], ['succeeded', 1]);
		const [record] = (await driver.run('ask-1')).history();
		assert.ok(record && record.resolved_at - record.asked_at >= 2000);
	});
});

for (const [policy, status, attempts] of [
	['fail', 'failed', [1]],
	['retry', 'waiting_user', [1, 1]],
] as const) {
	placed(`a turn that a closed driver left is lost: ${policy}`, async (place) => {
		await drive(place, async (driver) => {
			await driver.start(plan('hold-1', { interrupted_turn: policy }));
			await until(() => turns(place.folder).length > 0);
		});
		await drive(place, async (driver) => {
			writeFileSync(join(place.folder, 'go-hold-1'), '');
			const view = await driver.wait('hold-1', 'waiting_user');
			assert.equal(view.status, status);
			if (policy === 'fail') assert.equal(view.error?.code, 'ORCHESTRATOR_RESTART_INTERRUPTED');
		});
		const started = turns(place.folder).filter(({ what }) => what === 'start');
		assert.deepEqual(
			started.map(({ attempt }) => attempt),
			attempts,
		);
	});
}

placed("a command that fails is the turn's failure", async ({ url }) => {
	const errors: unknown[] = [];
	const processes = new SubprocessRunner(() => {
		throw new Error('no such thing');
	});
	const onError = (...what: unknown[]) => void errors.push(what);
	const driver = new DbosDriver({ processes, databaseUrl: url, pollMs: 100, retry: QUICK, onError });
	await driver.open();
	await driver.start(plan('ask-1'));
	assert.equal((await driver.wait('ask-1')).error?.code, 'HOST_FAILED');
	await driver.close();
	assert.equal(errors.length, 3);
});

placed('a turn waits for its start as long as the host is out of resources', async ({ url, folder }) => {
	const errors: string[] = [];
	let failures = 10;
	class Scarce extends SubprocessRunner {
		override async start(...asked: Parameters<SubprocessRunner['start']>): Promise<void> {
			if (failures-- > 0) throw Object.assign(new Error('none left'), { code: 'EMFILE' });
			await super.start(...asked);
		}
	}
	const processes = new Scarce(agents(folder), { graceMs: 300 });
	const onError: DbosOptions['onError'] = (_runId, what, error) => void errors.push(`${what?.type}: ${error}`);
	const driver = new DbosDriver({ processes, databaseUrl: url, pollMs: 100, retry: QUICK, onError });
	await driver.open();
	await driver.start(plan('done-1'));
	assert.equal((await driver.wait('done-1')).status, 'succeeded');
	await driver.settled('done-1');
	await driver.close();
	assert.deepEqual(errors, Array(10).fill('start_turn: Error: none left'));
	assert.deepEqual(
		turns(folder).map(({ what, slot, attempt }) => `${what} ${slot} ${attempt}`),
		['start done-1/s1 1', 'end done-1/s1 1'],
	);
});

for (const thrown of [undefined, 'a text']) {
	placed(`callbacks that throw what is no error lose no slot: ${thrown}`, async ({ url, folder }) => {
		const errors: unknown[] = [];
		let failures = 5;
		class Failing extends SubprocessRunner {
			override async terminate(slotId: string): Promise<void> {
				if (failures-- > 0) throw thrown;
				await super.terminate(slotId);
			}
		}
		const processes = new Failing(agents(folder), { graceMs: 300 });
		const onError: DbosOptions['onError'] = (_runId, what, error) => void errors.push([what?.type ?? '', error]);
		const onNotify = () => {
			throw thrown;
		};
		const driver = new DbosDriver({ processes, databaseUrl: url, pollMs: 100, retry: QUICK, onError, onNotify });
		await driver.open();
		await driver.start(plan('done-1'));
		assert.equal((await driver.wait('done-1')).status, 'succeeded');
		await driver.settled('done-1');
		await driver.close();
		const expected = [...Array(5).fill(['', thrown]), ...Array(3).fill(['notify', thrown])];
		assert.deepEqual(errors.toSorted(), expected);
		assert.deepEqual(await processes.alive(), []);
	});
}

placed('a report of a turn that was never started is heard once', ({ url, folder }) =>
	reportingAttempt(5, async () => {
		const errors: unknown[] = [];
		const onError: DbosOptions['onError'] = (_runId, what, error, attempt) => {
			errors.push([what?.type, (error as { code?: string }).code, attempt]);
		};
		const processes = new SubprocessRunner(agents(folder), { graceMs: 300 });
		const driver = new DbosDriver({ processes, databaseUrl: url, pollMs: 100, onError });
		await driver.open();
		await driver.start(plan('ask-1'));
		await until(() => errors.length > 0);
		assert.deepEqual([(await driver.run('ask-1')).revision, (await driver.lines('ask-1')).length], [2, 2]);
		// A report that was kept would be an error again.
		await driver.tell('ask-1', { type: 'turn_finished', attempt_number: 1, text: DONE });
		assert.equal((await driver.wait('ask-1')).status, 'succeeded');
		await driver.settled('ask-1');
		await driver.close();
		assert.deepEqual(errors, [['turn_finished', 'EVENT_UNKNOWN_ATTEMPT', 1]]);
	}),
);

placed('what cannot be done is told by a code', async (place) => {
	let kept: DbosDriver | undefined;
	await drive(place, async (driver) => {
		kept = driver;
		await driver.start(plan('ask-1'));
		await driver.wait('ask-1', 'waiting_user');
		const before = (await driver.run('ask-1')).snapshot();
		await assert.rejects(driver.start(plan('ask-1')), { code: 'RUN_EXISTS' });
		const asks = ['run', 'view', 'wait', 'lines', 'cancel'] as const;
		for (const ask of asks) {
			for (const unknown of ['nobody', '', 'a\0b', '\ud800', "' OR 1=1 --"]) {
				await assert.rejects(driver[ask](unknown), { code: 'RUN_UNKNOWN' }, `${ask} ${unknown}`);
			}
		}
		await assert.rejects(driver.tell('ask-1', { type: 'turn_finished' } as never), { code: 'EVENT_MALFORMED' });
		await assert.rejects(driver.reply('ask-1', -1, 'x'), { code: 'EVENT_MALFORMED' });
		assert.equal((await driver.tell('ask-1', { type: 'timer_fired', interaction_id: 5 })).entry, undefined);
		assert.equal((await driver.run('ask-1')).snapshot(), before);
		const second = { processes: new SubprocessRunner(agents(place.folder)), databaseUrl: place.url, executorId: 'two' };
		await assert.rejects(new DbosDriver(second).open(), { code: 'DRIVER_EXISTS' });
		await assert.rejects(driver.open(), { code: 'DRIVER_CLOSED' });
	});
	assert.ok(kept);
	await assert.rejects(kept.run('ask-1'), { code: 'DRIVER_CLOSED' });
	await assert.rejects(kept.start(plan('ask-2')), { code: 'DRIVER_CLOSED' });
	await assert.rejects(kept.wait('ask-1'), { code: 'DRIVER_CLOSED' });
});

played('changes of runs can be followed', async (driver) => {
	const changes = driver.changes();
	const first = changes.next();
	await driver.start(plan('done-1'));
	const seen = [(await first).value];
	while (seen.filter((runId) => runId === 'done-1').length < 3) seen.push((await changes.next()).value);
	await changes.return();
	assert.ok(seen.every((runId) => runId === 'done-1' || runId === null));
});

test('settings that make no sense are refused', () => {
	const processes = new SubprocessRunner(agents(''));
	const databaseUrl = 'postgresql://localhost/runs';
	assert.throws(() => new DbosDriver({ processes, databaseUrl, slots: 0 }), RangeError);
	assert.throws(() => new DbosDriver({ databaseUrl }), TypeError);
	assert.throws(() => new DbosDriver({ processes, databaseUrl: 'sqlite:///runs.db' }), TypeError);
});

placed("somebody else's DBOS is left alone", async ({ url, folder }) => {
	DBOS.setConfig({ name: 'theirs', systemDatabaseUrl: url, logLevel: 'error' });
	await DBOS.launch();
	try {
		const processes = new SubprocessRunner(agents(folder));
		await assert.rejects(new DbosDriver({ processes, databaseUrl: url }).open(), { code: 'DRIVER_EXISTS' });
		assert.equal(DBOS.executorID, 'local');
		const client = new DbosDriver({ works: false, databaseUrl: url });
		await client.open();
		await client.start(plan('ask-1'));
		await client.close();
	} finally {
		await DBOS.shutdown();
	}
	assert.ok(!existsSync(join(folder, 'turns.log')));
});

placed('a database of the Python host is refused and left as it is', async ({ url }) => {
	const tables = 'SELECT tablename FROM pg_tables WHERE schemaname NOT IN ($1, $2) ORDER BY tablename';
	const hidden = ['pg_catalog', 'information_schema'];
	await asked(url, 'CREATE TABLE turnlatch_runs (run_id TEXT PRIMARY KEY)');
	const before = await asked(url, tables, ...hidden);
	await assert.rejects(new DbosDriver({ works: false, databaseUrl: url }).open(), { code: 'DATABASE_IN_USE' });
	assert.deepEqual(await asked(url, tables, ...hidden), before);
	await asked(url, 'DROP TABLE turnlatch_runs');
	await asked(url, 'CREATE TABLE turnlatch_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)');
	await asked(url, "INSERT INTO turnlatch_meta VALUES ('host', 'python')");
	await assert.rejects(new DbosDriver({ works: false, databaseUrl: url }).open(), {
		code: 'DATABASE_IN_USE',
		message: /python/,
	});
});

placed('the example of the page runs', async ({ url, folder }) => {
	const page = readFileSync(join(ROOT, 'docs/hosts.md'), 'utf8');
	const [, code = ''] = page.match(/^```js\n(.*?)^```$/ms) ?? [];
	const file = join(PACKAGE, 'build/tests-hosts/page.mjs');
	writeFileSync(file, code);
	const env = { ...process.env, DATABASE_URL: url };
	assert.equal(await exitCode(spawn(process.execPath, [file], { cwd: folder, env, stdio: 'inherit' })), 0);
});

test('import and require give the same class', () => {
	assert.equal(createRequire(import.meta.url)('turnlatch/dbos').DbosDriver, imported.DbosDriver);
});

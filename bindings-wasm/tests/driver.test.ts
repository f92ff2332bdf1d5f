/** Whole runs: real processes, a real store, the driver between them. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { codes, EventRejectedError, type InteractionRecord, type Resume, replay, requestEventJson } from 'turnlatch';
import { DriverUsageError, LocalSlots, RunNotFoundError, StoreConflictError } from 'turnlatch/driver';
import {
	asksThenFinishes,
	DONE,
	echo,
	hosted,
	plan,
	processesMarked,
	reportingAttempt,
	STICKY,
	scenario,
	shell,
	until,
} from './hosting.js';

const STICKY_AGENT = `echo 'Which file?'; echo ==
	while read -r line; do echo "$line" >> heard.txt; echo '${DONE}'; echo ==; done`;

scenario('an auto run finishes', (store) =>
	hosted(
		store,
		() => echo(DONE),
		async (host) => {
			assert.equal(await host.driver.start(plan('r1', { execution_mode: 'auto' })), 'r1');
			const view = await host.ended('r1');
			assert.equal(view.status, 'succeeded');
			assert.deepEqual(view.data, { file: 'b.txt' });
			assert.deepEqual(host.statuses, ['queued', 'running', 'succeeded']);
			await host.nothingLeft();
		},
	),
);

scenario('a late reply to a sticky wait is stale although no timer fired', (store, folder) => {
	let ahead = 0;
	const options = { interactive_profile: STICKY, session_timeout_sec: 60 };
	const timers = { set() {}, cancel() {}, pending: () => [] };
	return hosted(
		store,
		() => shell(STICKY_AGENT, { endOfTurn: '==', cwd: folder }),
		async (host) => {
			await host.driver.start(plan('r1', options));
			await host.driver.wait('r1', 'waiting_user');
			ahead = 61_000;
			const receipt = await host.driver.reply('r1', 1, 'the second');
			assert.deepEqual([receipt.kind, receipt.code, receipt.status], ['stale', 'STALE_INTERACTION', 'failed']);
			assert.equal((await host.ended('r1')).error?.code, 'INTERACTION_WAIT_TIMEOUT');
			assert.deepEqual(host.errors, []);
			await host.nothingLeft();
			const [run] = replay(plan('r1', options), store.journal('r1'));
			assert.equal(run.snapshot(), store.load('r1'), 'the deadline is in the journal with the reply that met it');
		},
		{ timers, clock: () => Date.now() + ahead },
	);
});

scenario('a report of a turn that was never started is an error and changes nothing', (store) =>
	hosted(store, asksThenFinishes, async (host) => {
		await host.driver.start(plan());
		await host.driver.wait('r1', 'waiting_user');
		const before = store.load('r1');
		const report = { type: 'turn_finished', attempt_number: 2, text: DONE } as const;
		await assert.rejects(host.driver.tell('r1', report), (error) => {
			return error instanceof EventRejectedError && error.code === 'EVENT_UNKNOWN_ATTEMPT';
		});
		assert.equal(store.load('r1'), before);
	}),
);

scenario('a part that reports a turn that was never started is heard once', (store) =>
	reportingAttempt(5, () =>
		hosted(store, asksThenFinishes, async (host) => {
			const { driver, errors } = host;
			await driver.start(plan());
			await until(() => errors.length > 0);
			await driver.settled('r1');
			assert.deepEqual([driver.view('r1').status, driver.run('r1').revision], ['running', 2]);
			assert.equal(store.journal('r1').length, 2);
			// A report that was kept would be an error again.
			await driver.tell('r1', { type: 'turn_finished', attempt_number: 1, text: DONE });
			assert.equal((await host.ended('r1')).status, 'succeeded');
			const error = 'EventRejectedError: attempt 5 was never started; the last one that was is 1';
			assert.deepEqual(errors, [{ runId: 'r1', what: 'turn_finished', error, attempt: 1 }]);
			await host.nothingLeft();
		}),
	),
);

scenario('an interactive run asks, is answered and finishes', (store) =>
	hosted(store, asksThenFinishes, async (host) => {
		const { driver } = host;
		await driver.start(plan());
		assert.equal((await driver.wait('r1', 'waiting_user')).pending_interaction_id, 1);
		await driver.settled('r1');
		await host.nothingLeft();
		const key = { idempotency_key: 'k1' };
		assert.equal((await driver.reply('r1', 1, 'the second', key)).kind, 'accepted');
		assert.equal((await driver.reply('r1', 1, 'the second', key)).kind, 'duplicate');
		assert.equal((await driver.reply('r1', 1, 'the first')).kind, 'stale');
		assert.equal((await host.ended('r1')).status, 'succeeded');
		assert.deepEqual(host.statuses, ['queued', 'running', 'waiting_user', 'queued', 'running', 'succeeded']);
		assert.deepEqual(host.errors, []);
		await host.nothingLeft();
		const [run, effects] = replay(plan(), store.journal('r1'));
		assert.equal(run.snapshot(), store.load('r1'));
		assert.equal(run.snapshot(), driver.run('r1').snapshot());
		assert.equal(effects.length, run.revision);
		driver.forget('r1');
		assert.throws(() => driver.view('r1'), RunNotFoundError);
		assert.equal((await driver.cancel('r1')).kind, 'already_ended', 'loaded from the store');
	}),
);

scenario('a sticky run keeps its process and slot', (store, folder) =>
	hosted(
		store,
		() => shell(STICKY_AGENT, { endOfTurn: '==', cwd: folder }),
		async (host) => {
			await host.driver.start(plan('r1', { interactive_profile: STICKY }));
			await host.driver.wait('r1', 'waiting_user');
			await host.driver.settled('r1');
			assert.deepEqual(await host.processes.alive(), ['r1/s1']);
			assert.deepEqual([...host.slots.granted()], ['r1/s1']);
			assert.deepEqual(host.timers.pending(), [['r1', 1]]);
			await host.driver.reply('r1', 1, 'the\nsecond');
			assert.equal((await host.ended('r1')).status, 'succeeded');
			assert.equal(readFileSync(join(folder, 'heard.txt'), 'utf8'), 'the second\n');
			await host.nothingLeft();
		},
	),
);

scenario('a sticky process that dies while it waits fails the run', (store) =>
	hosted(
		store,
		() => shell("echo '?'; echo ==", { endOfTurn: '==' }),
		async (host) => {
			await host.driver.start(plan('r1', { interactive_profile: STICKY }));
			assert.equal((await host.ended('r1')).error?.code, 'INTERACTION_PROCESS_LOST');
			await host.nothingLeft();
		},
	),
);

scenario('a cancel in the middle of a turn leaves no process', (store) => {
	const mark = randomUUID();
	const env = { ...process.env, TURNLATCH_TEST: mark };
	return hosted(
		store,
		() => shell('sleep 100 & sleep 100', { env }),
		async (host) => {
			await host.driver.start(plan());
			await until(() => processesMarked(mark).filter((line) => line.includes('sleep 100')).length >= 2);
			assert.equal((await host.driver.cancel('r1', 'changed my mind')).kind, 'canceled');
			await host.driver.settled('r1');
			assert.deepEqual(processesMarked(mark), []);
			assert.equal(host.driver.view('r1').error?.code, 'CANCELED_BY_USER');
			await host.nothingLeft();
		},
	);
});

scenario('a cancel reaches runs that are queued and runs that wait', (store) =>
	hosted(
		store,
		asksThenFinishes,
		async (host) => {
			host.slots.hold('other', 'other/s1');
			await host.driver.start(plan('queued'));
			await host.driver.settled('queued');
			assert.deepEqual([...host.slots.held()], ['other/s1', 'queued/s1']);
			await host.driver.cancel('queued');
			assert.equal((await host.ended('queued')).status, 'canceled');
			assert.deepEqual([...host.slots.held()], ['other/s1']);
			host.slots.release('other/s1');
			await host.driver.start(plan('waits'));
			await host.driver.wait('waits', 'waiting_user');
			await host.driver.cancel('waits');
			assert.equal((await host.ended('waits')).status, 'canceled');
			await host.nothingLeft();
		},
		{ slots: new LocalSlots(1) },
	),
);

scenario('a deadline decides when nobody answers', (store) =>
	hosted(store, asksThenFinishes, async (host) => {
		await host.driver.start(plan('r1', { interactive_require_user_reply: false, session_timeout_sec: 1 }));
		const view = await host.ended('r1');
		assert.deepEqual([view.status, view.auto_decision_count], ['succeeded', 1]);
		const modes = host.driver
			.run('r1')
			.history()
			.map((record) => record.resolution_mode);
		assert.deepEqual(modes, ['auto_decide_timeout']);
		await host.nothingLeft();
	}),
);

scenario('what a reply resumes with reaches the agent', (store) => {
	const seen: [Resume | undefined, InteractionRecord['prompt'][]][] = [];
	return hosted(
		store,
		async (run, effect) => {
			seen.push([effect.resume, run.history().map((record) => record.prompt)]);
			return asksThenFinishes(run, effect);
		},
		async (host) => {
			await host.driver.start(plan());
			await host.driver.wait('r1', 'waiting_user');
			await host.driver.reply('r1', 1, 'b');
			await host.ended('r1');
			assert.deepEqual(seen, [
				[undefined, []],
				[{ interaction_id: 1, response: 'b' }, ['Which file?']],
			]);
		},
	);
});

scenario('a request is told as the text that it came in', async (store) => {
	await hosted(store, asksThenFinishes, async ({ driver }) => {
		await driver.start(plan());
		await driver.wait('r1', 'waiting_user');
		// As data, 1.0 would become 1, the large number another one, and the keys would change places.
		const response = '{"2":1.0,"1":9007199254740993}';
		const { receipt } = await driver.tellJson(
			'r1',
			requestEventJson('reply', `{"interaction_id":1,"response":${response}}`),
		);
		assert.equal(receipt?.kind, 'accepted');
		await driver.wait('r1');
		assert.deepEqual(
			driver
				.run('r1')
				.history()
				.map((asked) => asked.response),
			[response],
		);
		await assert.rejects(driver.tellJson('r1', '{'), { code: 'EVENT_MALFORMED' });
		assert.throws(() => requestEventJson('reply', '{}'), { code: 'EVENT_MALFORMED' });
	});
});

scenario('refusals reach the caller', async (store) => {
	await hosted(store, asksThenFinishes, async (host) => {
		const { driver } = host;
		await assert.rejects(driver.cancel('nobody'), RunNotFoundError);
		await driver.start(plan());
		await assert.rejects(
			driver.start(plan()),
			(error) => error instanceof StoreConflictError && error.code === 'RUN_EXISTS',
		);
		await assert.rejects(driver.tell('r1', { type: 'nonsense' } as never), EventRejectedError);
		await driver.wait('r1', 'waiting_user');
		assert.throws(() => driver.forget('r1'), { code: 'RUN_NOT_DONE' });
		assert.equal((await driver.reply('r1', 1, 'b', { expected_revision: 1 })).code, 'REVISION_CONFLICT');
		const saved = store.load('r1');
		const late = await driver.tell('r1', { type: 'reply', interaction_id: 9, response: 'b' });
		assert.deepEqual([late.effects, late.entry, late.receipt?.code], [[], undefined, 'UNKNOWN_INTERACTION']);
		assert.equal(store.load('r1'), saved);
		await driver.cancel('r1');
		await host.ended('r1');
		await driver.close();
		await assert.rejects(driver.cancel('r1'), { code: 'DRIVER_CLOSED' });
	});
});

test('what a driver cannot do has codes of the table', () => {
	const hosting = codes().flatMap(({ code, kind }) => (kind === 'hosting' ? [code] : []));
	const drivers = ['DRIVER_CLOSED', 'INSIDE_CALLBACK', 'RUN_NOT_DONE', 'OTHER_EVENT_LOOP', 'CORE_PANICKED'];
	const hosts = ['DRIVER_EXISTS', 'EXECUTOR_ID_IN_USE', 'DATABASE_IN_USE'];
	assert.deepEqual(hosting.toSorted(), [...drivers, ...hosts].toSorted());
});

scenario('callbacks may call back', async (store) => {
	const receipts: string[] = [];
	await hosted(
		store,
		asksThenFinishes,
		async (host) => {
			answer = async (runId, id) => void receipts.push((await host.driver.reply(runId, id, 'b')).kind);
			await host.driver.start(plan());
			assert.equal((await host.ended('r1')).status, 'succeeded');
			assert.deepEqual(receipts, ['accepted']);
		},
		{ onNotify: (runId, effect) => (effect.interaction_id ? answer(runId, effect.interaction_id) : undefined) },
	);
});
let answer: (runId: string, interactionId: number) => Promise<void>;

for (const method of ['wait', 'settled'] as const) {
	scenario(`${method} inside of a callback is refused with a clear text, also after an await`, async (store) => {
		let later: Promise<unknown> | undefined;
		await hosted(
			store,
			() => echo(DONE),
			async (host) => {
				impatient = async (runId) => {
					await assert.rejects(host.driver[method](runId), DriverUsageError);
					await new Promise((resolve) => setTimeout(resolve, 1));
					later ??= new Promise((resolve) => setTimeout(() => resolve(host.driver[method](runId)), 50));
					await host.driver[method](runId);
				};
				await host.driver.start(plan('r1', { execution_mode: 'auto' }));
				await host.ended('r1');
				assert.match(
					host.errors[0]?.error ?? '',
					new RegExp(`${method}\\(\\) was called inside of a callback of run r1`),
				);
				await later;
			},
			{ onNotify: (runId, effect) => (effect.status === 'queued' ? impatient(runId) : undefined) },
		);
	});
}
let impatient: (runId: string) => Promise<void>;

scenario('runs and one slot are fair', (store) => {
	const order: string[] = [];
	return hosted(
		store,
		(run, effect) => {
			order.push(`${run.runId}${effect.attempt_number}`);
			return asksThenFinishes(run, effect);
		},
		async (host) => {
			for (const name of ['a', 'b', 'c']) await host.driver.start(plan(name));
			for (const name of ['a', 'b', 'c']) await host.driver.wait(name, 'waiting_user');
			for (const name of ['c', 'a', 'b']) {
				await host.driver.reply(name, 1, 'x');
				await host.driver.wait(name, 'running');
			}
			for (const name of ['a', 'b', 'c']) await host.ended(name);
			assert.deepEqual(order, ['a1', 'b1', 'c1', 'c2', 'a2', 'b2']);
		},
		{ slots: new LocalSlots(1) },
	);
});

scenario('fifty runs never use more than three slots', (store) => {
	const together: number[] = [];
	let count = async () => 0;
	return hosted(
		store,
		async (run, effect) => {
			together.push((await count()) + 1);
			return asksThenFinishes(run, effect);
		},
		async (host) => {
			count = async () => (await host.processes.alive()).length;
			const one = async (n: number) => {
				const runId = await host.driver.start(plan(`r${n}`));
				await host.driver.wait(runId, 'waiting_user');
				await host.driver.reply(runId, 1, 'b');
				return (await host.ended(runId)).status;
			};
			const statuses = await Promise.all(Array.from({ length: 50 }, (_, n) => one(n)));
			assert.deepEqual(new Set(statuses), new Set(['succeeded']));
			assert.equal(together.length, 100);
			assert.ok(Math.max(...together) <= 3, String(together));
			await host.nothingLeft();
		},
		{ slots: new LocalSlots(3) },
	);
});

/** Parts that fail: what is reported, tried again, kept and never lost. */

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Run } from 'turnlatch';
import { LocalSlots, LocalTimers, MemoryStore, StoreConflictError } from 'turnlatch/driver';
import { asksThenFinishes, DONE, echo, hosted, plan, scenario, shell, until } from './hosting.js';

/** Fails the first calls of a method. */
class FailingSlots extends LocalSlots {
	readonly #method: string;
	#failures: number;

	constructor(method: 'acquire' | 'release', failures: number) {
		super(1);
		this.#method = method;
		this.#failures = failures;
	}

	override acquire(runId: string, slotId: string, granted: () => void): void {
		this.#maybeFail('acquire');
		super.acquire(runId, slotId, granted);
	}

	override release(slotId: string): void {
		this.#maybeFail('release');
		super.release(slotId);
	}

	#maybeFail(method: string): void {
		if (method !== this.#method || this.#failures === 0) return;
		this.#failures -= 1;
		throw new Error('slot service is down');
	}
}

for (const method of ['acquire', 'release'] as const) {
	for (const failures of [2, 7]) {
		scenario(`${method} that fails ${failures} times is reported, retried and kept as owed`, (store) => {
			const slots = new FailingSlots(method, failures);
			return hosted(
				store,
				() => echo(DONE),
				async (host) => {
					await host.driver.start(plan('r1', { execution_mode: 'auto' }));
					assert.equal((await host.ended('r1')).status, 'succeeded');
					await until(() => slots.held().size === 0);
					const told = (attempt: number) => ({
						runId: 'r1',
						what: `${method}_slot`,
						error: 'Error: slot service is down',
						attempt,
					});
					assert.deepEqual(host.errors.slice(0, 2), [told(1), told(2)]);
					assert.equal(host.errors.length, failures);
					await host.driver.settled('r1');
					assert.deepEqual(host.driver.owed('r1'), []);
				},
				{ slots },
			);
		});
	}
}

scenario('a timer that cannot be set is tried again until it is', async (store) => {
	let failures = 5;
	const timers = new (class extends LocalTimers {
		override set(runId: string, interactionId: number, atMs: number, fired: () => void): void {
			failures -= 1;
			if (failures >= 0) throw new Error('no timers left');
			super.set(runId, interactionId, atMs, fired);
		}
	})();
	await hosted(
		store,
		asksThenFinishes,
		async (host) => {
			await host.driver.start(plan('r1', { interactive_require_user_reply: false, session_timeout_sec: 1 }));
			assert.equal((await host.ended('r1')).auto_decision_count, 1);
			assert.deepEqual(
				host.errors.map(({ what }) => what),
				Array(5).fill('set_timer'),
			);
		},
		{ timers },
	);
});

scenario('a turn that cannot be started fails the run', (store) =>
	hosted(
		store,
		() => {
			throw new Error('no such engine');
		},
		async (host) => {
			await host.driver.start(plan());
			assert.equal((await host.ended('r1')).error?.code, 'HOST_FAILED');
			const told = host.errors.map(({ what, error, attempt }) => [what, error, attempt]);
			assert.deepEqual(
				told,
				[1, 2, 3].map((n) => ['start_turn', 'Error: no such engine', n]),
			);
			await host.nothingLeft();
		},
	),
);

scenario('a turn whose start fails once runs once', (store) => {
	const tries: string[] = [];
	return hosted(
		store,
		(_run, effect) => {
			tries.push(effect.id);
			if (tries.length === 1) throw new Error('busy');
			return echo(DONE);
		},
		async (host) => {
			await host.driver.start(plan());
			assert.equal((await host.ended('r1')).status, 'succeeded');
			assert.deepEqual(tries, ['r1/2/1', 'r1/2/1']);
		},
	);
});

const unreadable = Object.defineProperty({}, 'text', { enumerable: true, get: () => assert.fail('no') });
for (const [name, report] of [
	['with unknown fields', { nonsense: 1 }],
	['that cannot be read', unreadable],
	['that is no JSON', { text: () => 1 }],
] as const) {
	scenario(`a part's report ${name} fails the turn and not the host`, (store) =>
		hosted(store, asksThenFinishes, async (host) => {
			host.processes.start = async (_run, _effect, finished) => finished(report as never);
			await host.driver.start(plan());
			assert.equal((await host.ended('r1')).error?.code, 'HOST_FAILED');
		}),
	);
}

scenario('a process that cannot be ended keeps its slot', (store) =>
	hosted(
		store,
		() => shell('sleep 100'),
		async (host) => {
			const terminate = host.processes.terminate.bind(host.processes);
			host.processes.terminate = () => Promise.reject(new Error('stuck'));
			await host.driver.start(plan());
			await until(async () => (await host.processes.alive()).length > 0);
			await host.driver.cancel('r1');
			await until(() => host.errors.length >= 3);
			await host.driver.settled('r1');
			assert.deepEqual([...host.slots.granted()], ['r1/s1'], 'the next turn must not run beside it');
			const owed = host.driver.owed('r1').map(({ type }) => type);
			assert.deepEqual(owed, ['terminate_process', 'release_slot']);
			host.processes.terminate = terminate;
			await host.driver.retryOwed();
			await until(() => host.slots.held().size === 0);
			await host.driver.settled('r1');
			await host.nothingLeft();
		},
		{ retry: { attempts: 3, delayMs: 10, pauseMs: 60_000 } },
	),
);

/** Fails saves: before or after it has saved. */
class FlakyStore extends MemoryStore {
	failures = 0;
	readonly #after: boolean;

	constructor(after: boolean) {
		super();
		this.#after = after;
	}

	override save(runId: string, expected: number, snapshot: string, entry: string, ended: boolean): void {
		const failing = this.failures > 0;
		this.failures -= failing ? 1 : 0;
		if (failing && !this.#after) throw new Error('disk full');
		super.save(runId, expected, snapshot, entry, ended);
		if (failing) throw new Error('connection lost after the commit');
	}
}

scenario('a failing store loses nothing', async () => {
	const store = new FlakyStore(false);
	await hosted(store, asksThenFinishes, async (host) => {
		await host.driver.start(plan());
		store.failures = 4; // the grant is told again until it is saved
		await host.driver.wait('r1', 'waiting_user');
		await host.driver.settled('r1');
		store.failures = 1;
		const before = store.load('r1');
		const key = { idempotency_key: 'k' };
		await assert.rejects(host.driver.reply('r1', 1, 'b', key), /disk full/);
		assert.equal(store.load('r1'), before);
		assert.equal(host.driver.run('r1').snapshot(), before);
		assert.equal((await host.driver.reply('r1', 1, 'b', key)).kind, 'accepted');
		store.failures = 3;
		assert.equal((await host.ended('r1')).status, 'succeeded');
		for (const { what } of host.errors) assert.ok(['slot_granted', 'turn_finished'].includes(what), what);
		await host.nothingLeft();
	});
});

scenario('a save that fails after its commit counts', async () => {
	const store = new FlakyStore(true);
	store.failures = 100;
	await hosted(store, asksThenFinishes, async (host) => {
		await host.driver.start(plan());
		await host.driver.wait('r1', 'waiting_user');
		assert.equal((await host.driver.reply('r1', 1, 'b')).kind, 'accepted');
		assert.equal((await host.ended('r1')).status, 'succeeded');
		assert.deepEqual(host.errors, []);
	});
});

scenario('a run that another host changed is loaded again', (store) =>
	hosted(store, asksThenFinishes, async (host) => {
		await host.driver.start(plan());
		await host.driver.wait('r1', 'waiting_user');
		await host.driver.settled('r1');
		const other = Run.restore(store.load('r1'));
		const { entry } = other.cancel(Date.now());
		assert.ok(entry);
		store.save('r1', other.revision - 1, other.snapshot(), entry, true);
		await assert.rejects(host.driver.reply('r1', 1, 'b'), StoreConflictError);
		assert.equal(host.driver.view('r1').status, 'canceled');
		assert.equal((await host.driver.reply('r1', 1, 'b')).kind, 'stale');
	}),
);

scenario('a report that arrives while the store fails is saved by closing, if that is possible', async () => {
	const store = new FlakyStore(false);
	await hosted(
		store,
		() => echo(DONE),
		async (host) => {
			await host.driver.start(plan('r1', { execution_mode: 'auto' }));
			await host.driver.wait('r1', 'running');
			store.failures = 2;
			await until(() => store.failures < 2);
			await host.driver.close();
			assert.deepEqual(store.unfinished(), []);
		},
	);
});

scenario('closing lets nobody wait for ever', (store) =>
	hosted(store, asksThenFinishes, async (host) => {
		await host.driver.start(plan());
		const waiting = assert.rejects(host.driver.wait('r1', 'succeeded'), { code: 'DRIVER_CLOSED' });
		await host.driver.wait('r1', 'waiting_user');
		await host.driver.close();
		await waiting;
	}),
);

for (const thrown of [undefined, 'down', new Error('on purpose')]) {
	scenario(`an asynchronous onObservation may reject, with ${thrown}`, async (store) => {
		const told = mock.method(console, 'error', () => {});
		try {
			await hosted(
				store,
				() => echo(DONE),
				async (host) => {
					await host.driver.start(plan('r1', { execution_mode: 'auto' }));
					assert.equal((await host.ended('r1')).status, 'succeeded');
				},
				{ onObservation: () => Promise.reject(thrown) as unknown as undefined },
			);
			const calls = told.mock.calls.map((call) => call.arguments);
			assert.deepEqual(calls, Array(3).fill(['turnlatch: onObservation itself failed:', thrown]));
		} finally {
			told.mock.restore();
		}
	});

	test(`an alarm survives its clock, which throws ${thrown}`, async () => {
		const told = mock.method(console, 'error', () => {});
		let fails = 0;
		const clock = () => {
			if (fails > 0) {
				fails -= 1;
				throw thrown;
			}
			return 1000;
		};
		try {
			const timers = new LocalTimers({ clock });
			await new Promise<void>((fired) => {
				timers.set('r1', 1, 1000, fired);
				fails = 1;
			});
			assert.deepEqual(timers.pending(), []);
			assert.equal(told.mock.callCount(), 1);
		} finally {
			told.mock.restore();
		}
	});
}

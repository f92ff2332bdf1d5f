/** Going on after a host was closed or lost. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { Run } from 'turnlatch';
import { Driver, LocalSlots } from 'turnlatch/driver';
import { asksThenFinishes, DONE, echo, Host, hosted, plan, QUICK, scenario, shell, until } from './hosting.js';

const SLEEPS = () => shell('sleep 100');
const FINISHES = () => echo(DONE);

scenario("a closed driver's runs go on in another", (store) =>
	hosted(
		store,
		() => shell("sleep 0.3; echo 'Which file?'"),
		async (first) => {
			await first.driver.start(plan());
			await until(async () => (await first.processes.alive()).length > 0);
			await first.driver.close();
			// The same parts, another driver: the process is still alive and reports to it.
			const { slots, timers, processes } = first;
			const second = new Driver({ slots, timers, processes, store, retry: QUICK });
			assert.deepEqual(await second.recover(), ['r1']);
			await second.wait('r1', 'waiting_user');
			assert.equal(second.view('r1').attempt_number, 1);
			await second.cancel('r1');
			await second.settled('r1');
			await first.nothingLeft();
			await second.close();
		},
	),
);

for (const policy of ['fail', 'retry'] as const) {
	scenario(`a turn lost by a restart goes by policy: ${policy}`, async (store) => {
		await hosted(store, SLEEPS, async (first) => {
			await first.driver.start(plan('r1', { interrupted_turn: policy }));
			await until(async () => (await first.processes.alive()).length > 0);
		});
		await hosted(store, FINISHES, async (second) => {
			assert.deepEqual(await second.driver.recover(), ['r1']);
			const view = await second.ended('r1');
			if (policy === 'fail') assert.equal(view.error?.code, 'ORCHESTRATOR_RESTART_INTERRUPTED');
			else assert.deepEqual([view.status, view.attempt_number], ['succeeded', 1]);
			await second.nothingLeft();
		});
	});
}

scenario('what no run keeps is given back', (store) =>
	hosted(store, SLEEPS, async (host) => {
		host.slots.acquire('gone', 'gone/s1', () => {});
		host.timers.set('gone', 1, Date.now() + 100_000, () => {});
		const effect = { type: 'start_turn', id: 'x', attempt_number: 1, slot_id: 'gone/s1' } as const;
		await host.processes.start(Run.create(plan('gone'), 1)[0], effect, () => {});
		assert.deepEqual(await host.driver.recover(), []);
		await host.nothingLeft();
	}),
);

scenario('a run that cannot be read does not keep the others from going on', (store, folder) =>
	hosted(store, SLEEPS, async (first) => {
		for (const name of ['bad', 'good']) {
			await first.driver.start(plan(name, { interrupted_turn: 'retry' }));
			await until(async () => (await first.processes.alive()).includes(`${name}/s1`));
		}
		await first.driver.close();
		const db = new DatabaseSync(join(folder, 'runs.db'));
		db.exec("UPDATE runs SET snapshot = replace(snapshot, 'running', 'queued') WHERE run_id = 'bad'");
		db.close();
		const second = new Host(store, FINISHES);
		second.slots.hold('bad', 'bad/s1');
		assert.deepEqual(await second.driver.recover(), ['bad', 'good']);
		assert.equal((await second.ended('good')).status, 'succeeded');
		assert.deepEqual(
			second.errors.map(({ runId, what }) => [runId, what]),
			[['bad', 'recovery']],
		);
		assert.match(second.errors[0]?.error ?? '', /LoadError/);
		assert.deepEqual([...second.slots.held()], ['bad/s1'], 'whether it still wants its slot is not known');
		assert.deepEqual(await second.driver.recover(), ['bad']);
		await second.close();
	}),
);

scenario('recovering again changes nothing', (store) => {
	const turns: string[] = [];
	return hosted(
		store,
		(_run, effect) => {
			turns.push(effect.id);
			return shell(`sleep 0.2; echo '${DONE}'`);
		},
		async (host) => {
			const names = ['a', 'b', 'c'];
			for (const name of names) await host.driver.start(plan(name));
			while (!names.every((name) => host.driver.view(name).status === 'succeeded')) {
				await host.driver.recover();
				// The parts answer at once, so nothing else would ever get its turn.
				await sleep(1);
			}
			assert.deepEqual(turns.sort(), ['a/2/1', 'b/2/1', 'c/2/1']);
			for (const name of names) await host.ended(name);
			assert.deepEqual(host.errors, []);
			await host.nothingLeft();
		},
	);
});

scenario('a turn whose slot somebody else has is ended and lost', async (store) => {
	/** A pool that has given a lost host's slots to somebody else. */
	const slots = new (class extends LocalSlots {
		override hold(): boolean {
			return false;
		}
	})(1);
	let command = SLEEPS;
	await hosted(
		store,
		() => command(),
		async (first) => {
			await first.driver.start(plan('r1', { interrupted_turn: 'retry' }));
			await until(async () => (await first.processes.alive()).includes('r1/s1'));
			await first.driver.close();
			command = FINISHES;
			await hosted(
				store,
				FINISHES,
				async (second) => {
					await second.driver.recover();
					await second.driver.settled('r1');
					assert.ok(!(await first.processes.alive()).includes('r1/s1'), "not beside the slot's new owner");
					assert.equal((await second.ended('r1')).status, 'succeeded');
					assert.equal(slots.held().size, 0);
				},
				{ slots, processes: first.processes },
			);
		},
	);
});

scenario('a deadline survives a restart', async (store) => {
	await hosted(store, asksThenFinishes, async (first) => {
		await first.driver.start(plan('r1', { interactive_require_user_reply: false, session_timeout_sec: 1 }));
		await first.driver.wait('r1', 'waiting_user');
	});
	await hosted(store, asksThenFinishes, async (second) => {
		await second.driver.recover();
		assert.equal((await second.ended('r1')).auto_decision_count, 1);
		await second.nothingLeft();
	});
});

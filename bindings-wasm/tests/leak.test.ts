/** Memory is given back: a million runs, runs that nobody freed, and runs that a driver has forgotten. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryBytes, Run } from 'turnlatch';
import { Driver, LocalSlots, LocalTimers, MemoryStore, type Processes } from 'turnlatch/driver';
import { planOf, waitingRun } from './support.js';

const RUNS = 1_000_000;

test('a million runs leave the memory as it was', () => {
	const plan = planOf();
	const slot = JSON.stringify({ type: 'slot_granted', slot_id: 'r1/s1' });
	const live = (index: number) => {
		const [run] = Run.create(plan, index);
		run.applyJson(slot, index);
		if (index % 2 === 0) run.free();
		else run[Symbol.dispose]();
	};
	for (let index = 0; index < 1_000; index += 1) live(index);
	const before = memoryBytes();
	for (let index = 0; index < RUNS; index += 1) live(index);
	assert.equal(memoryBytes(), before);
	console.log(`${RUNS} runs, ${before} bytes before and after`);
});

test('whole lives with errors, refusals, copies and replies leave the memory as it was', () => {
	const live = () => {
		const run = waitingRun();
		const copy = run.copy();
		copy.reply(1, 'x'.repeat(1_000), 3);
		assert.equal(run.reply(9, 'x', 3).receipt.kind, 'unknown');
		assert.throws(() => run.apply({ type: 'turn_finished', attempt_number: 9 }, 3));
		assert.throws(() => run.applyJson('{', 3));
		assert.throws(() => Run.restore('{}'));
		Run.restore(copy.snapshot()).free();
		run.statusView();
		run.free();
		copy.free();
	};
	// Plans are left to the collector, whose work comes between tasks: the memory grows to what it needs, and stays.
	const rounds = async (count: number) => {
		for (let round = 0; round < count; round += 1) {
			for (let index = 0; index < 200; index += 1) live();
			await collected();
		}
	};
	return rounds(5).then(async () => {
		const before = memoryBytes();
		await rounds(20);
		assert.equal(memoryBytes(), before);
	});
});

test('runs that nobody freed are collected', async () => {
	const plan = planOf();
	const round = async () => {
		for (let index = 0; index < 5_000; index += 1) Run.create(plan, index);
		await collected();
	};
	const empty = memoryBytes();
	await round();
	const once = memoryBytes() - empty;
	for (let index = 0; index < 20; index += 1) await round();
	// The order in which they go leaves gaps, but twenty more rounds need no more than one did.
	assert.ok(memoryBytes() - empty <= 2 * once, `${memoryBytes() - empty} bytes, one round took ${once}`);
	console.log(`one round took ${once} bytes, twenty more ${memoryBytes() - empty - once}`);
});

test('runs that a driver has forgotten leave the memory as it was, and others do not', async () => {
	/** An agent that needs no process: it asks once and then answers. */
	const processes: Processes = {
		start: (_run, { resume }, finished) => finished({ text: resume ? '{"answer": 1, "__SKILL_DONE__": true}' : '?' }),
		inject: () => assert.fail('nothing is sticky'),
		attach: () => assert.fail('nothing outlives the host'),
		terminate: () => {},
		alive: () => [],
	};
	const parts = { slots: new LocalSlots(1), timers: new LocalTimers(), processes };
	const driver = new Driver({ ...parts, store: new MemoryStore() });
	let started = 0;
	const rounds = async (count: number, forget: boolean) => {
		for (let round = 0; round < count; round += 1) {
			for (let index = 0; index < 100; index += 1) {
				started += 1;
				const runId = await driver.start(planOf({ request: { run_id: `r${started}` } }));
				await driver.wait(runId, 'waiting_user');
				await driver.reply(runId, 1, 'x'.repeat(1_000));
				assert.equal((await driver.wait(runId)).status, 'succeeded');
				await driver.settled(runId);
				if (forget) driver.forget(runId);
			}
			await collected();
		}
	};
	await rounds(5, true);
	const before = memoryBytes();
	await rounds(20, true);
	assert.equal(memoryBytes(), before);
	let kept = 0;
	for (; memoryBytes() === before; kept += 100) await rounds(1, false);
	console.log(`2500 runs forgotten: ${before} bytes; ${kept} more that were not: ${memoryBytes()}`);
	await driver.close();
});

async function collected(): Promise<void> {
	assert.ok(globalThis.gc, 'run with --expose-gc');
	for (let time = 0; time < 3; time += 1) {
		globalThis.gc();
		await new Promise((resolve) => setImmediate(resolve));
	}
}

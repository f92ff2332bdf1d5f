/** The slim entry: runs are shown and replies predicted, and nothing counts as valid that was not checked. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as full from 'turnlatch';
import * as slim from 'turnlatch/slim';
import { resultOfScript } from './browser.js';
import { planOf, waitingRun } from './support.js';

const DONE = '{"answer": 42, "__SKILL_DONE__": true}';
/** What only `turnlatch` itself has: what reads skills, requests, turns by themselves and streams. */
const FULL_ONLY = [
	'StreamDecoder',
	'admit',
	'appendInstructions',
	'decodeStream',
	'describeSkill',
	'evaluateTurn',
	'readJob',
	'requestEvent',
	'requestEventJson',
	'compactEntry',
	'encodeChained',
	'unreadableReport',
	'parseResult',
	'codes',
];

test('it has what shows runs and predicts replies, and nothing else', () => {
	assert.deepEqual(
		Object.keys(slim).sort(),
		Object.keys(full)
			.filter((name) => !FULL_ONLY.includes(name))
			.sort(),
	);
});

test('a reply is predicted on a copy, byte for byte as the server decides', () => {
	const server = waitingRun();
	const shown = slim.Run.restore(server.snapshot());
	const predicted = shown.copy();
	const { receipt } = predicted.reply(1, 'yes', 5);
	assert.deepEqual(receipt, server.reply(1, 'yes', 5).receipt);
	assert.equal(predicted.snapshot(), server.snapshot());
	assert.equal(shown.status, 'waiting_user');
	assert.deepEqual(shown.explain(), waitingRun().explain());
	assert.deepEqual(shown.allowed(5), waitingRun().allowed(5));
});

test('what hosts ask is not in it, and says so', () => {
	const run = slim.Run.restore(waitingRun().snapshot());
	assert.throws(() => run.afterRestart({ begun: false }), /turnlatch\/slim has no `afterRestart`/);
	assert.equal(run.status, 'waiting_user');
});

test('no turn is judged against a schema', () => {
	const run = slim.Run.restore(waitingRun().snapshot());
	run.reply(1, 'yes', 5);
	const { slot_id } = run.outstanding().keep;
	run.apply({ type: 'slot_granted', slot_id: String(slot_id) }, 6);
	const before = run.snapshot();
	assert.throws(() => run.apply({ type: 'turn_finished', attempt_number: 2, text: DONE }, 7), {
		code: 'VALIDATOR_MISSING',
	});
	const stream = { format: 'text', stdout: DONE, exit_code: 0 } as const;
	assert.throws(() => run.apply({ type: 'turn_finished', attempt_number: 2, stream }, 7), {
		code: 'EVENT_MALFORMED',
		message: /this build cannot decode/,
	});
	assert.equal(run.snapshot(), before);
	assert.equal(run.cancel(8).receipt.kind, 'canceled');
});

test('a finished run is loaded, and its compact journal replayed', () => {
	const plan = planOf({ request: { execution_mode: 'auto' } });
	const [run, created] = full.Run.create(plan, 1);
	const granted = run.apply({ type: 'slot_granted', slot_id: 'r1/s1' }, 2);
	const finished = run.apply({ type: 'turn_finished', attempt_number: 1, text: '{"answer": 42}' }, 3);
	assert.equal(run.status, 'succeeded');
	assert.deepEqual(slim.Run.restore(run.snapshot()).statusView(), run.statusView());
	const journal = new full.Journal(plan);
	for (const { entry = '' } of [created, granted, finished]) journal.push(full.compactEntry(entry));
	const replayer = new slim.Replayer(slim.Plan.restore(JSON.stringify(plan)));
	const statuses = journal.lines().map((line) => replayer.next(line).status);
	assert.deepEqual(statuses, ['queued', 'running', 'succeeded']);
	assert.equal(replayer.run?.snapshot(), run.snapshot());
});

test('it works in a page without a bundler', async () => {
	const script = `import { Run, init } from '/dist/slim.js'; await init();
		const run = Run.restore(${JSON.stringify(waitingRun().snapshot())});
		run.cancel(5);
		globalThis.done = run.status;`;
	assert.equal(await resultOfScript(script), 'canceled');
});

/** The slim entry: runs are shown, answered and cancelled, and nothing counts as valid that was not checked. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as full from 'turnlatch';
import * as slim from 'turnlatch/slim';
import { resultOfScript } from './browser.js';
import { planOf, SCHEMA, waitingRun } from './support.js';

const DONE = '{"answer": 42, "__SKILL_DONE__": true}';

function slimPlan(): slim.Plan {
	const request: full.RunRequest = { run_id: 'r1', engine: 'codex', execution_mode: 'interactive' };
	const runner = JSON.stringify({ execution_modes: ['interactive'] });
	return slim.admit({ runner }, request, { engines: ['codex'] });
}

test('the codes are those of the full build, without words', () => {
	assert.deepEqual(
		slim.codes(),
		full.codes().map(({ code, kind, http }) => ({ code, kind, http })),
	);
});

test('a stream is refused by a build without decoders', () => {
	const stream = { format: 'text', stdout: DONE, exit_code: 0 } as const;
	const refused = { code: 'EVENT_MALFORMED', message: /this build cannot decode/ };
	assert.throws(() => slim.decodeStream(stream), refused);
	assert.throws(() => new slim.StreamDecoder('text'), refused);
	assert.throws(() => slim.evaluateTurn(slimPlan(), { stream }), refused);
});

test('without a validator runs are shown, answered and cancelled, but not judged', () => {
	const run = slim.Run.fromJson(waitingRun().toJson());
	assert.equal(run.pendingView().pending?.interaction_id, 1);
	assert.equal(run.reply(1, 'yes', 5).receipt.kind, 'accepted');
	const { slot_id } = run.outstanding().keep;
	run.apply({ type: 'slot_granted', slot_id: String(slot_id) }, 6);
	const before = run.toJson();
	assert.throws(() => run.apply({ type: 'turn_finished', attempt_number: 2, text: DONE }, 7), {
		code: 'VALIDATOR_MISSING',
	});
	assert.equal(run.toJson(), before);
	assert.equal(run.cancel(8).receipt.kind, 'canceled');
	const admit = () =>
		slim.admit({ runner: {}, output_schema: SCHEMA }, { run_id: 'r', engine: 'e' }, { engines: ['e'] });
	assert.throws(admit, { code: 'VALIDATOR_MISSING' });
});

test('a finished run is loaded without a validator', () => {
	const [run] = full.Run.create(planOf({ request: { execution_mode: 'auto' } }), 1);
	run.apply({ type: 'slot_granted', slot_id: 'r1/s1' }, 2);
	run.apply({ type: 'turn_finished', attempt_number: 1, text: '{"answer": 42}' }, 3);
	assert.equal(run.status, 'succeeded');
	assert.deepEqual(slim.Run.fromJson(run.toJson()).statusView(), run.statusView());
});

test('it works in a page without a bundler', async () => {
	const script = `import { Run, admit, init } from '/dist/slim.js'; await init();
		const plan = admit({ runner: {} }, { run_id: 'r1', engine: 'codex' }, { engines: ['codex'] });
		const [run] = Run.create(plan, 1);
		run.cancel(2);
		globalThis.done = run.status;`;
	assert.equal(await resultOfScript(script), 'canceled');
});

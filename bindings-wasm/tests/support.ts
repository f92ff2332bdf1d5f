/** What several tests need: plans, and runs that are already somewhere. */

import assert from 'node:assert/strict';
import * as turnlatch from 'turnlatch';

export const RUNNER: turnlatch.RunnerManifest = { execution_modes: ['auto', 'interactive'] };
export const SCHEMA = { type: 'object', required: ['answer'], properties: { answer: { type: 'integer' } } };

interface Given {
	schema?: turnlatch.Schema;
	runner?: turnlatch.Skill['runner'];
	request?: Partial<turnlatch.RunRequest>;
}

/** A plan of the usual skill; `request` is laid over the usual request. */
export function planOf({ schema = SCHEMA, runner = RUNNER, request = {} }: Given = {}): turnlatch.Plan {
	const asked: turnlatch.RunRequest = { run_id: 'r1', engine: 'codex', execution_mode: 'interactive', ...request };
	return turnlatch.admit({ runner, output_schema: schema }, asked, { engines: ['codex', 'claude'] });
}

export function runningRun(given: Given = {}): turnlatch.Run {
	const [run] = turnlatch.Run.create(planOf(given), 0);
	run.apply({ type: 'slot_granted', slot_id: 'r1/s1' }, 1);
	return run;
}

export function waitingRun(given: Given = {}): turnlatch.Run {
	const run = runningRun(given);
	run.apply({ type: 'turn_finished', attempt_number: 1, text: 'Which file?' }, 2);
	assert.equal(run.status, 'waiting_user');
	return run;
}

/** The error that a call throws. */
export function thrown(call: () => unknown): Error {
	try {
		call();
	} catch (error) {
		assert.ok(error instanceof Error, String(error));
		return error;
	}
	throw new Error('nothing was thrown');
}

/** The error of a call that the core has to reject as malformed. */
export function malformed(call: () => unknown): turnlatch.EventRejectedError {
	const error = thrown(call);
	assert.ok(error instanceof turnlatch.EventRejectedError, `${error.name}: ${error.message}`);
	assert.equal(error.code, 'EVENT_MALFORMED');
	assert.equal(error.details, null);
	return error;
}

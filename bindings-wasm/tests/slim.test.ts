/** The slim entry: the same decisions with the same validator, and nothing counts as valid that nobody looked at. */

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { Validator as CfworkerValidator } from '@cfworker/json-schema';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as full from 'turnlatch';
import * as slim from 'turnlatch/slim';
import { resultOfScript } from './browser.js';
import { canonical, read } from './exact-json.js';
import { vectorFiles } from './files.js';
import { planOf, SCHEMA, waitingRun } from './support.js';
import { broken, execute, type Package, readVectors } from './vectors-runner.js';

const DONE = '{"answer": 42, "__SKILL_DONE__": true}';
/** What another validator says in its own words, or does by its own rules: refusing schemas, counting work. */
const OWN_WORDS = ['violations', 'message', 'detail', 'details'];
const core = slim as unknown as Package;

afterEach(() => slim.useValidator(undefined));

function slimPlan(): slim.Plan {
	const request = { run_id: 'r1', engine: 'codex', execution_mode: 'interactive' };
	const runner = JSON.stringify({ execution_modes: ['interactive'] });
	return slim.admit({ runner, output_schema: SCHEMA }, request, { engines: ['codex'] });
}

/** A page that shows runs has no agents, measures nothing and explains no codes: that is for the build that hosts runs. */
const VECTORS = vectorFiles().filter(({ path }) => !/^(stream|observe|codes)\//.test(path));

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
	slim.useValidator(full.engineValidator);
	assert.throws(() => slim.evaluateTurn(slimPlan(), { stream }), refused);
	const messages = [{ role: 'assistant', text: DONE }];
	assert.equal(slim.evaluateTurn(slimPlan(), { messages }).decision.outcome, 'succeeded');
});

for (const { path, text } of VECTORS) {
	test(`with the engine of the full build every vector of ${path} holds`, async () => {
		slim.useValidator(full.engineValidator);
		const told = await broken(core, text);
		assert.equal(told.length, 0, `${told.length} vectors do not hold:\n${told.join('\n')}`);
	});
}

/** What validators see of integers above 2^53 are JavaScript's numbers, which are rounded. */
const ROUNDED = [
	'integers of 64 bits are exact in the schema check',
	'an integer of 64 bits equals only itself in the schema check',
];
for (const [name, validator] of [
	['Ajv', slim.ajvValidator(new Ajv2020({ allErrors: true, strict: false, logger: false }))],
	['@cfworker/json-schema', slim.cfworkerValidator(CfworkerValidator)],
] as const) {
	test(`with ${name} every decision is the same, but for the validator's own words`, async () => {
		slim.useValidator(validator);
		let count = 0;
		const others: string[] = [];
		for (const { path, text } of VECTORS) {
			// What a schema may be, and how its faults are worded, is the engine's own business.
			if (/^(schema|admission|storage)\//.test(path)) continue;
			for (const vector of readVectors(text)) {
				const found = await execute(core, vector);
				if (withoutWords(found) !== withoutWords(vector)) others.push(vector.name);
				count += 1;
			}
		}
		assert.ok(count > 800, `only ${count} vectors`);
		assert.deepEqual(others, ROUNDED);
	});
}

function withoutWords(vector: unknown): string {
	const copy = read(canonical(vector as never)) as { steps?: unknown[]; admission?: unknown };
	const strip = (value: unknown): unknown => {
		if (Array.isArray(value)) return value.map(strip);
		if (value === null || typeof value !== 'object') return value;
		return Object.fromEntries(
			Object.entries(value)
				.filter(([key]) => !OWN_WORDS.includes(key))
				.map(([key, member]) => [key, strip(member)]),
		);
	};
	return canonical(strip([copy.admission, copy.steps]) as never);
}

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

test('a verdict of the server is a validator, too', () => {
	for (const [verdict, status] of [
		[true, 'succeeded'],
		[false, 'failed'],
		['too_much_work', 'failed'],
	] as const) {
		slim.useValidator({ compile: () => () => verdict });
		assert.equal(autoRun().status, status);
	}
});

test('a validator that breaks refuses the skill or the output, and never lets it pass', () => {
	const fail = () => {
		throw new Error('no\u001b[31m memory');
	};
	slim.useValidator({ compile: fail });
	assert.throws(autoRun, (error: slim.AdmissionError) => {
		assert.equal(error.code, 'SKILL_MANIFEST_INVALID');
		assert.ok(!error.details[0]?.message.includes('\u001b'));
		return true;
	});
	let schemas = 0;
	slim.useValidator({
		compile() {
			schemas += 1;
			return (instance) => ('answer' in (instance as object) ? fail() : true);
		},
	});
	const run = autoRun();
	assert.equal(run.status, 'failed');
	assert.match(JSON.stringify(run.explain()), /the validator says: no/);
	assert.equal(schemas, 1, 'compiled once');
});

test('a validator that calls back gets an error, and the run goes on', () => {
	const errors: unknown[] = [];
	slim.useValidator({
		compile: () => () => {
			try {
				slim.codes();
			} catch (error) {
				errors.push(error);
			}
			return true;
		},
	});
	assert.equal(autoRun().status, 'succeeded');
	assert.match(String(errors[0]), /TypeError: a validator must not call turnlatch back/);
	assert.ok(slim.codes().length > 0);
});

test('it works in a page without a bundler', async () => {
	const script = `import { Run, admit, init, useValidator } from '/dist/slim.js'; await init();
		useValidator({ compile: () => (instance) => Number.isInteger(instance.answer) });
		const skill = { runner: {}, output_schema: ${JSON.stringify(SCHEMA)} };
		const plan = admit(skill, { run_id: 'r1', engine: 'codex' }, { engines: ['codex'] });
		const [run] = Run.create(plan, 1);
		run.apply({ type: 'slot_granted', slot_id: 'r1/s1' }, 2);
		run.apply({ type: 'turn_finished', attempt_number: 1, text: '{"answer": 42}' }, 3);
		globalThis.done = run.status;`;
	assert.equal(await resultOfScript(script), 'succeeded');
});

function autoRun(): slim.Run {
	const skill = { runner: {}, output_schema: SCHEMA };
	const [run] = slim.Run.create(slim.admit(skill, { run_id: 'r1', engine: 'codex' }, { engines: ['codex'] }), 1);
	run.apply({ type: 'slot_granted', slot_id: 'r1/s1' }, 2);
	run.apply({ type: 'turn_finished', attempt_number: 1, text: '{"answer": 42}' }, 3);
	return run;
}

/** A schema of zod in place of a JSON Schema. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { admit, parseResult, Run, type Skill, type StandardSchema } from 'turnlatch';
import { z } from 'zod';

const Report = z.object({
	at: z.iso.datetime(),
	parts: z.array(z.strictObject({ name: z.string(), size: z.int().min(0) })),
	note: z.string().optional(),
});
const GOOD = { at: '2026-02-28T00:00:00Z', parts: [{ name: 'a', size: 1 }] };

/** An auto run of a skill with this schema, whose agent wrote this. */
function runOf(schema: StandardSchema, output: unknown): Run {
	const skill: Skill = { runner: {}, output_schema: schema };
	const [run] = Run.create(admit(skill, { run_id: 'r1', engine: 'codex' }, { engines: ['codex'] }), 0);
	run.apply({ type: 'slot_granted', slot_id: 'r1/s1' }, 1);
	run.apply({ type: 'turn_finished', attempt_number: 1, text: JSON.stringify(output) }, 2);
	return run;
}

test('an output is held to the JSON Schema that zod gives, and parsed by zod', async () => {
	const run = runOf(Report, GOOD);
	assert.equal(run.status, 'succeeded');
	const report = await parseResult(Report, run.statusView());
	const size: number | undefined = report.parts[0]?.size;
	assert.deepEqual([report, size], [GOOD, 1]);
	const view = run.statusView<z.infer<typeof Report>>();
	if (view.status === 'succeeded') assert.equal(view.data?.parts[0]?.name, 'a');
	for (const wrong of [{ ...GOOD, at: 'today' }, { ...GOOD, parts: [{ name: 'a', size: -1 }] }, { parts: [] }]) {
		const failed = runOf(Report, wrong);
		assert.equal(failed.explain().code, 'OUTPUT_SCHEMA_INVALID');
		await assert.rejects(parseResult(Report, failed.statusView()), /run r1 is failed: there is no result to parse/);
	}
});

test('what zod alone finds wrong does not change the run', async () => {
	const Even = z.object({ n: z.int().refine((n) => n % 2 === 0, 'not even') });
	const run = runOf(Even, { n: 3 });
	assert.equal(run.status, 'succeeded');
	await assert.rejects(parseResult(Even, run.statusView()), /not even/);
});

test('a schema may be a function, as in some libraries', async () => {
	const callable = Object.assign(() => {}, { '~standard': Report['~standard'] });
	const run = runOf(callable as unknown as StandardSchema, GOOD);
	assert.deepEqual(await parseResult(callable as unknown as StandardSchema, run.statusView()), GOOD);
});

test('a schema that gives no JSON Schema is refused', () => {
	const old = { '~standard': { validate: () => ({ value: 1 }) } };
	assert.throws(() => runOf(old as never, {}), /cannot be given as a JSON Schema: zod can since 4.2/);
	assert.throws(() => runOf(null as never, {}), { code: 'SKILL_MANIFEST_INVALID', path: 'output_schema' });
});

/** What drivers observe, and the metrics and spans of it: the right numbers, bounded labels, no word of users and agents. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { Registry } from 'prom-client';
import { EventRejectedError, type Observation, Run, type RunEvent } from 'turnlatch';
import { Metrics, Traces, traceIdOf } from 'turnlatch/telemetry';
import { asksThenFinishes, DONE, hosted, plan, scenario } from './hosting.js';

const SECRET = 'SECRET"} 1\nturnlatch_forged_total 1\n\0\u001b[31m\u202e';
const START = 1_771_200_000_000;

/** A run that waits a quarter of a second for a slot, takes three, waits a minute for a person and ends. */
function play(observe: (observation: Observation) => void, runId = 'r1', reason?: string): void {
	const told = (observation: Observation | undefined) => {
		assert.ok(observation);
		observe(observation);
	};
	const usage = { input_tokens: 900, output_tokens: 40, cached_input_tokens: 100 };
	const failed = reason === undefined ? {} : { failure_reason: reason };
	const steps: [number, RunEvent][] = [
		[250, { type: 'slot_granted', slot_id: `${runId}/s1` }],
		[3250, { type: 'turn_finished', attempt_number: 1, text: SECRET, usage }],
		[3300, { type: 'reply', interaction_id: 7, response: SECRET }],
		[3300, { type: SECRET } as never],
		[63250, { type: 'reply', interaction_id: 1, response: SECRET }],
		[63260, { type: 'slot_granted', slot_id: `${runId}/s2` }],
		[65260, { type: 'turn_finished', attempt_number: 2, text: DONE, ...failed }],
	];
	using made = plan(runId);
	const [created, { observation }] = Run.create(made, START);
	using run = created;
	told(observation);
	for (const [at, event] of steps) {
		try {
			told(run.apply(event, START + at).observation);
		} catch (error) {
			if (!(error instanceof EventRejectedError)) throw error;
			told(error.observation);
		}
	}
}

const seriesOf = (text: string) =>
	text.split('\n').flatMap((line) => (/^\w+({.*})? [0-9.e+-]+$/.test(line) ? [line] : []));
const withoutValue = (line: string) => line.slice(0, line.lastIndexOf(' '));

test('metrics of a run', async () => {
	const registry = new Registry();
	const metrics = new Metrics({ registry, countUnfinished: async () => ({ waiting_user: 3 }) });
	play(metrics.observe);
	play(metrics.observe, 'r2', 'TIMEOUT');
	const found = seriesOf(await registry.metrics());
	for (const line of [
		'turnlatch_runs{status="queued"} 0',
		'turnlatch_runs{status="waiting_user"} 3',
		'turnlatch_started_total{engine="test",execution_mode="interactive"} 2',
		'turnlatch_ended_total{status="succeeded",code=""} 1',
		'turnlatch_ended_total{status="failed",code="TIMEOUT"} 1',
		'turnlatch_decisions_total{outcome="waiting_user",rule="GATE-7"} 2',
		'turnlatch_auto_decisions_total 0',
		'turnlatch_refused_total{event="reply",code="UNKNOWN_INTERACTION"} 2',
		'turnlatch_refused_total{event="unknown",code="EVENT_MALFORMED"} 2',
		'turnlatch_tokens_total{engine="test",kind="cached_input"} 200',
		'turnlatch_slot_wait_seconds_sum{engine="test"} 0.52',
		'turnlatch_turn_seconds_sum{engine="test",status="waiting_user"} 6',
		'turnlatch_waiting_seconds_sum{resolution_mode="user_reply"} 120',
	]) {
		assert.ok(found.includes(line), `${line} is not in\n${found.join('\n')}`);
	}
});

test('many runs and many reasons make no more series', async () => {
	const registry = new Registry();
	const metrics = new Metrics({ registry, countUnfinished: () => ({}) });
	play(metrics.observe, 'r', 'REASON');
	const before = seriesOf(await registry.metrics()).map(withoutValue);
	for (let number = 0; number < 10_000; number += 1) play(metrics.observe, `r${number}`, `REASON_${number}`);
	const text = await registry.metrics();
	assert.deepEqual(seriesOf(text).map(withoutValue), before);
	assert.doesNotMatch(text, /SECRET|forged|REASON/);
});

function spansOf(work: (provider: BasicTracerProvider) => void) {
	const exporter = new InMemorySpanExporter();
	work(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
	return exporter.getFinishedSpans();
}

test('spans of a run', () => {
	const spans = spansOf((provider) => play(new Traces(provider).observe, 'r1', 'TIMEOUT'));
	const names = ['slot_wait', 'turn', 'waiting', 'slot_wait', 'turn'];
	assert.deepEqual(
		spans.map(({ name }) => name),
		names.map((name) => `turnlatch.${name}`),
	);
	const digest = createHash('sha256').update('turnlatch trace r1').digest('hex');
	assert.equal(traceIdOf('r1'), digest.slice(0, 32));
	for (const span of spans) {
		assert.equal(span.spanContext().traceId, digest.slice(0, 32));
		assert.equal(span.parentSpanContext?.spanId, digest.slice(32, 48));
	}
	const [, turn, , , last] = spans;
	assert.deepEqual(turn?.startTime, [1_771_200_000, 250_000_000]);
	assert.deepEqual(turn?.endTime, [1_771_200_003, 250_000_000]);
	assert.deepEqual(turn?.attributes, {
		'turnlatch.run_id': 'r1',
		'turnlatch.revision': 3,
		'turnlatch.event': 'turn_finished',
		'turnlatch.by': 'agent',
		'turnlatch.engine': 'test',
		'turnlatch.execution_mode': 'interactive',
		'turnlatch.attempt_number': 1,
		'turnlatch.status': 'waiting_user',
		'gen_ai.usage.input_tokens': 900,
		'gen_ai.usage.output_tokens': 40,
	});
	const [decided] = turn?.events ?? [];
	assert.equal(decided?.name, 'turnlatch.decision');
	assert.deepEqual(decided?.attributes, { 'turnlatch.outcome': 'waiting_user', 'turnlatch.rule': 'GATE-7' });
	assert.equal(last?.status.message, 'TIMEOUT');
	assert.doesNotMatch(JSON.stringify(spans.map(({ attributes, events }) => [attributes, events])), /SECRET/);
});

test('whoever ends a turn tells all of it, also one that began before this process', () => {
	const observations: Observation[] = [];
	play((observation) => void observations.push(observation));
	const [turn] = spansOf((provider) => new Traces(provider).observe(observations[2] as Observation));
	assert.deepEqual(turn?.duration, [3, 0]);
});

scenario('steps, refusals and rejections are observed after they were saved', async (store) => {
	const seen: unknown[] = [];
	const onObservation = (observation: Observation) => {
		using saved = Run.restore(store.load(observation.run_id));
		assert.equal(saved.revision, observation.revision);
		seen.push([observation.event, observation.left, observation.rejected]);
		throw new Error('a meter that breaks harms nothing');
	};
	const told = console.error;
	console.error = () => {};
	try {
		await hosted(
			store,
			asksThenFinishes,
			async ({ driver, ...host }) => {
				await driver.start(plan());
				await driver.wait('r1', 'waiting_user');
				assert.deepEqual(driver.countUnfinished(), { waiting_user: 1 });
				assert.equal((await driver.reply('r1', 9, SECRET)).code, 'UNKNOWN_INTERACTION');
				await assert.rejects(driver.tell('r1', { type: SECRET } as never), { code: 'EVENT_MALFORMED' });
				await driver.reply('r1', 1, SECRET, { idempotency_key: 'k' });
				await driver.reply('r1', 1, SECRET, { idempotency_key: 'k' });
				await driver.wait('r1');
				await driver.settled('r1');
				assert.deepEqual(host.errors, []);
			},
			{ onObservation },
		);
	} finally {
		console.error = told;
	}
	assert.deepEqual(seen, [
		['created', undefined, undefined],
		['slot_granted', 'queued', undefined],
		['turn_finished', 'running', undefined],
		['reply', undefined, 'UNKNOWN_INTERACTION'],
		['unknown', undefined, 'EVENT_MALFORMED'],
		['reply', 'waiting_user', undefined],
		['slot_granted', 'queued', undefined],
		['turn_finished', 'running', undefined],
	]);
});

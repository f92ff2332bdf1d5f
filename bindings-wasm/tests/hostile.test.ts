/** Hostile data gets a clear error with its place, changes nothing, and never breaks the core. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createContext, runInContext } from 'node:vm';
import {
	AdmissionError,
	admit,
	displayText,
	evaluateTurn,
	Journal,
	Run,
	type RunEvent,
	TurnlatchError,
} from 'turnlatch';
import { malformed, planOf, runningRun, thrown, waitingRun } from './support.js';

function nested(levels: number): unknown {
	let data: unknown[] = [];
	for (let level = 0; level < levels; level += 1) data = [data];
	return data;
}

function ownTail(): unknown {
	const data: { a: unknown[] } = { a: [] };
	data.a.push(data);
	return data;
}

/** A few lists that share their parts and stand for 2^200 values. */
function bomb(): unknown {
	let data: unknown[] = [1];
	for (let level = 0; level < 200; level += 1) data = [data, data];
	return data;
}

function sparse(): unknown {
	const data: unknown[] = [];
	data.length = 2 ** 32 - 1;
	return data;
}

const STRANGE: [string, () => unknown, RegExp][] = [
	['half of a pair', () => '\ud800', /surrogate/],
	['the other half', () => 'a\udfffb', /surrogate/],
	['half of a pair in a key', () => ({ '\ud800': 1 }), /surrogate/],
	['NaN', () => Number.NaN, /finite/],
	['Infinity', () => -Number.POSITIVE_INFINITY, /finite/],
	['undefined in an array', () => [undefined], /undefined/],
	['a function', () => () => 1, /function/],
	['a symbol', () => Symbol('s'), /symbol/],
	['a date', () => new Date(0), /Date/],
	['a map', () => new Map([['a', 1]]), /Map/],
	['a set', () => new Set([1]), /Set/],
	['bytes', () => new Uint8Array(3), /Uint8Array/],
	['a boxed text', () => new String('a'), /String/],
	['an error', () => new Error('e'), /Error/],
	['a promise', () => Promise.resolve(1), /Promise/],
	['an instance', () => new (class Thing {})(), /Thing/],
	['a run', () => waitingRun(), /Run/],
	['deep data', () => nested(100_000), /deep/],
	['data in itself', ownTail, /deep/],
	['a bomb', bomb, /values/],
	['a hole', () => [1, , 2], /undefined/],
	['nothing but holes', sparse, /undefined/],
	[
		'a getter that throws',
		() => ({
			get a() {
				throw new Error('no');
			},
		}),
		/cannot be read/,
	],
	[
		'a proxy that throws',
		() =>
			new Proxy(
				{},
				{
					ownKeys: () => {
						throw new Error('no');
					},
				},
			),
		/cannot be read/,
	],
	[
		'a revoked proxy',
		() => {
			const { proxy, revoke } = Proxy.revocable({}, {});
			revoke();
			return proxy;
		},
		/cannot be read/,
	],
];

for (const [name, make, says] of STRANGE) {
	test(`${name} is malformed and changes nothing`, () => {
		const [running, waiting, data] = [runningRun(), waitingRun(), make() as never];
		const before = [running.snapshot(), waiting.snapshot()];
		for (const call of [
			() => running.apply({ type: 'turn_finished', attempt_number: 1, output: data }, 5),
			() => running.apply({ type: 'turn_finished', attempt_number: 1, output: { a: [data] } }, 5),
			() => waiting.reply(1, data, 5),
			() => evaluateTurn(planOf(), { output: data }),
		]) {
			assert.match(malformed(call).message, says);
		}
		assert.deepEqual([running.snapshot(), waiting.snapshot()], before);
	});
}

test('a member that is undefined is absent, as optional members of TypeScript are', () => {
	const run = runningRun({ schema: { type: 'object', additionalProperties: false } });
	const event = {
		type: 'turn_finished',
		attempt_number: 1,
		text: undefined,
		slot_id: undefined,
		output: { a: undefined },
	};
	run.apply(event as never, 5);
	assert.equal(run.statusView().data_text, '{}');
	assert.match(malformed(() => waitingRun().reply(1, undefined as never, 5)).message, /`response` is missing/);
});

test('the place is a JSON pointer', () => {
	const place = (output: unknown) =>
		malformed(() => runningRun().apply({ type: 'turn_finished', attempt_number: 1, output: output as never }, 5))
			.message;
	assert.match(place({ 'a/b': [0, { '~': Number.NaN }] }), / at \/output\/a~1b\/1\/~0$/);
	assert.match(place(Number.NaN), / at \/output$/);
	assert.ok(place({ ['k'.repeat(10_000)]: Number.NaN }).length < 400);
	assert.match(malformed(() => runningRun().apply(undefined as never, 5)).message, / at the top$/);
});

test('an integer beyond 64 bits is malformed', () => {
	for (const output of [2n ** 64n, -(2n ** 63n) - 1n, 10n ** 5000n]) {
		malformed(() => runningRun().apply({ type: 'turn_finished', attempt_number: 1, output: { a: output } }, 5));
	}
});

test('what is no event is malformed, as an object and as text', () => {
	const run = waitingRun();
	const before = run.snapshot();
	for (const event of [
		null,
		[],
		'cancel',
		1,
		{},
		{ type: 'nothing' },
		{ type: ['cancel'] },
		{ Type: '' },
		{ type: 'created' },
	]) {
		const byData = malformed(() => run.apply(event as never, 5));
		const byText = malformed(() => run.applyJson(JSON.stringify(event), 5));
		assert.equal(byData.message, byText.message);
	}
	for (const text of [
		'',
		'{',
		'null',
		'['.repeat(100_000),
		'{"a":'.repeat(100_000),
		'{"type":"cancel","type":"cancel"}',
		'"\\ud800"',
		'NaN',
	]) {
		malformed(() => run.applyJson(text, 5));
	}
	for (const text of [undefined, null, 5, {}]) assert.throws(() => run.applyJson(text as never, 5), TypeError);
	assert.equal(run.snapshot(), before);
});

test('text with half of a pair is refused by the code of what it stands in', () => {
	const run = waitingRun();
	malformed(() => run.applyJson('{"type":"cancel","reason":"\ud800"}', 5));
	for (const call of [
		() => Run.restore('\ud800'),
		() => Journal.restore('{"a":"\udc00"}'),
		() => Journal.fromLines('\ud800', ['\ud800']),
	]) {
		assert.ok(thrown(call) instanceof TurnlatchError);
	}
	const request = { run_id: 'r1', engine: 'codex' };
	for (const [manifest, asked] of [
		[{ runner: { x: '\ud800' } }, request],
		[{ runner: '{"x": "\ud800"}' }, request],
		[{ runner: '\ud800' }, request],
		[{ runner: {} }, { ...request, input: { a: '\ud800' } }],
		[{ runner: {} }, { ...request, run_id: '\ud800' }],
		[{ runner: { x: Number.NaN } }, request],
		[{ runner: {} }, { ...request, input: { x: Number.POSITIVE_INFINITY } }],
		[{ runner: { x: nested(100_000) } }, request],
		[{ runner: {} }, { ...request, input: ownTail() }],
		[{ runner: {}, output_schema: nested(5_000) }, request],
	] as never[][]) {
		assert.ok(thrown(() => admit(manifest as never, asked as never, { engines: ['codex'] })) instanceof AdmissionError);
	}
	for (const runner of [{ x: () => 1 }, { x: [undefined] }, { x: bomb() }, undefined]) {
		assert.ok(thrown(() => admit({ runner } as never, request, { engines: ['codex'] })) instanceof TypeError);
	}
	assert.equal(displayText('\ud83d\ude00'), '\ud83d\ude00');
});

for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'toJSON', 'then', '', '0']) {
	test(`the key ${JSON.stringify(key)} is data`, () => {
		const output = JSON.parse(`{${JSON.stringify(key)}:{${JSON.stringify(key)}:1}}`) as never;
		const run = runningRun({ schema: { type: 'object' } });
		run.apply({ type: 'turn_finished', attempt_number: 1, output }, 5);
		const data = run.statusView().data as Record<string, Record<string, number>>;
		assert.deepEqual(Object.keys(data), [key]);
		assert.equal(Object.getPrototypeOf(data), Object.prototype);
		assert.equal(
			Object.getOwnPropertyDescriptor(data[key] ?? Object.getOwnPropertyDescriptor(data, key)?.value, key)?.value,
			1,
		);
		malformed(() =>
			waitingRun().apply({ type: 'cancel', ...(JSON.parse(`{${JSON.stringify(key)}:1}`) as object) } as RunEvent, 6),
		);
	});
}

test('every plain object will do, also of another realm and without a prototype', () => {
	const foreign = runInContext(
		'({type: "turn_finished", attempt_number: 1, output: {answer: 3, list: [1, {}]}})',
		createContext(),
	) as RunEvent;
	const bare = Object.assign(Object.create(null) as object, foreign) as RunEvent;
	for (const event of [foreign, bare, Object.freeze({ ...foreign })]) {
		const run = runningRun();
		run.apply(event, 5);
		assert.deepEqual(run.statusView().data, { answer: 3, list: [1, {}] });
	}
});

test('data that changes while it is read is read once', () => {
	const run = waitingRun();
	let reads = 0;
	const event = {
		type: 'reply',
		interaction_id: 1,
		get response() {
			reads += 1;
			run.cancel(9);
			return 'x';
		},
	};
	// The getter has ended the run before the reply was applied.
	assert.equal(run.apply(event as never, 10).receipt?.kind, 'stale');
	assert.deepEqual([reads, run.status], [1, 'canceled']);
});

/** JavaScript's face of the decoders: what goes in, what comes out, and what is refused. The vectors have the rest. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeStream, evaluateTurn, memoryBytes, StreamDecoder, type TurnStream } from 'turnlatch';
import { malformed, planOf } from './support.js';

const bytes = (text: string) => new TextEncoder().encode(text);
const CODEX = [
	'{"type":"thread.started","thread_id":"0199-abc"}',
	'{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"{\\"answer\\": 42}"}}',
	'{"type":"turn.completed","usage":{"input_tokens":9007199254740991,"cached_input_tokens":1,"output_tokens":2}}',
	'',
].join('\n');

test('a whole stream', () => {
	const stream: TurnStream = { format: 'codex-jsonl', stdout: CODEX, exit_code: 0 };
	const decoded = decodeStream(stream);
	assert.deepEqual(decoded, {
		messages: [{ role: 'assistant', text: '{"answer": 42}' }],
		session_handle: '0199-abc',
		usage: { input_tokens: 9007199254740991, cached_input_tokens: 1, output_tokens: 2 },
		diagnostics: [],
	});
	const { diagnostics, ...report } = decoded;
	const evaluation = evaluateTurn(planOf(), { stream });
	assert.deepEqual(evaluation, evaluateTurn(planOf(), { ...report, diagnostics, exit_code: 0 }));
	assert.equal(evaluation.data_text, '{"answer": 42}');
});

test('a stream in pieces, whatever the view of the bytes', () => {
	const all = bytes(CODEX);
	const decoder = new StreamDecoder('codex-jsonl');
	const half = all.length >> 1;
	const progress = [
		decoder.feed(new DataView(all.buffer, 0, half)),
		decoder.feed(Buffer.from(all.subarray(half))),
		decoder.feed(new Uint16Array(0)),
	];
	assert.deepEqual(
		progress.flatMap(({ pieces }) => pieces),
		[{ message: 0, role: 'assistant', text: '{"answer": 42}' }],
	);
	assert.deepEqual(progress.at(-1), { pieces: [], turn_over: true, stop: false, write: [] });
	assert.equal(decoder.prompt('two\nlines'), 'two\nlines');
	const decoded = decoder.finish('', 0n);
	assert.deepEqual(decoded, decodeStream({ format: 'codex-jsonl', stdout: CODEX, exit_code: 0 }));
	decoder.free();
});

test('what passes the limit stops it, and no limit is none', () => {
	const feed = (textLimit?: number) => {
		using decoder = new StreamDecoder('text', textLimit === undefined ? {} : { textLimit });
		return decoder.feed(bytes('x'.repeat(1000))).stop;
	};
	assert.deepEqual([feed(999), feed(1000), feed(2 ** 40), feed()], [true, false, false, false]);
});

test('a process that lives on: the line that ends a turn implies it', () => {
	const decoder = new StreamDecoder('text', { endOfTurn: '---' });
	assert.equal(decoder.prompt('two\nlines'), 'two lines\n');
	assert.equal(decoder.feed(bytes('Which?\n---\nnext')).turn_over, true);
	assert.deepEqual(decoder.finish().messages, [{ role: 'assistant', text: 'Which?\n' }]);
	assert.equal(decoder.feed(bytes('\n')).turn_over, false);
	assert.deepEqual(decoder.finish('', 0).messages, [{ role: 'assistant', text: 'next\n' }]);
});

test('bad arguments are rejected and change nothing', () => {
	const decoder = new StreamDecoder('text');
	for (const wrong of [
		() => new StreamDecoder('xml' as never),
		() => new StreamDecoder(5 as never),
		() => new StreamDecoder('text', { sticky: true }),
		() => new StreamDecoder('acp', { endOfTurn: '---' }),
		() => new StreamDecoder('text', { endOfTurn: 5 as never }),
		() => new StreamDecoder('acp', { sticky: true, workFolder: 5 as never }),
		...[-1, 1.5, Number.NaN, '5', null].map((limit) => () => new StreamDecoder('text', { textLimit: limit as never })),
		...['text', [1, 2], null, undefined, new ArrayBuffer(1)].map((given) => () => decoder.feed(given as never)),
		...[5, null, undefined].map((given) => () => decoder.prompt(given as never)),
		...[1.5, 2 ** 53, 2n ** 63n, '0', null].map((code) => () => decoder.finish('', code as never)),
		() => decoder.finish(null as never),
		...[null, 5, 'text', {}, { format: 'text' }, { format: 'xml', stdout: '' }, { format: 'text', stdout: 5 }].map(
			(given) => () => decodeStream(given as never),
		),
		() => decodeStream({ format: 'text', stdout: '\ud800' }),
		() => decodeStream({ format: 'text', stdout: '', more: 1 } as never),
	]) {
		malformed(wrong);
	}
	assert.deepEqual(decoder.finish('', 0), { messages: [], diagnostics: [] });
	decoder.free();
	decoder.free();
	assert.throws(() => decoder.feed(bytes('x')), /TypeError: the decoder was freed/);
});

test('decoders give their memory back', async () => {
	const chunk = bytes(`${'x'.repeat(10_000)}\n`);
	const live = (free: boolean) => {
		const decoder = new StreamDecoder('text', { endOfTurn: '---' });
		for (let time = 0; time < 10; time += 1) decoder.feed(chunk);
		if (free) decoder[Symbol.dispose]();
	};
	live(true);
	const before = memoryBytes();
	for (let time = 0; time < 2000; time += 1) live(true);
	assert.equal(memoryBytes(), before);
	const round = async () => {
		for (let time = 0; time < 100; time += 1) live(false);
		for (let time = 0; time < 3; time += 1) {
			globalThis.gc?.();
			await new Promise((resolve) => setImmediate(resolve));
		}
	};
	await round();
	const once = memoryBytes() - before;
	for (let time = 0; time < 20; time += 1) await round();
	assert.ok(memoryBytes() - before <= 2 * once, `${memoryBytes() - before} bytes, one round took ${once}`);
});

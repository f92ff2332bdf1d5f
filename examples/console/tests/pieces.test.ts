/** The pieces that have much to get wrong: events that arrive in pieces, answers in the making, jobs as text. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as core from 'turnlatch';
import { choicesOf, EMPTY, responseOf } from '../src/model/draft.js';
import { EventParser, type StreamEvent } from '../src/model/event-parser.js';
import { EMPTY_ORDER, orderText, unreadableParts } from '../src/model/order.js';
import { outputText } from '../src/model/output.js';

function parsed(pieces: readonly string[]): StreamEvent[] {
	const events: StreamEvent[] = [];
	const parser = new EventParser((event) => events.push(event));
	for (const piece of pieces) parser.push(piece);
	return events;
}

test('events are the same however the text is cut', () => {
	const text =
		': hello\n\nid: 1\nevent: step\ndata: {"a":1}\n\nid:2\r\ndata: x\r\ndata:  y\r\n\r\n: c\n\nevent: end\ndata: {}\n\nid: 9\ndata: lost';
	const whole = parsed([text]);
	assert.deepEqual(whole, [
		{ id: '1', event: 'step', data: '{"a":1}' },
		{ id: '2', event: 'message', data: 'x\n y' },
		{ id: '2', event: 'end', data: '{}' },
	]);
	for (let cut = 0; cut <= text.length; cut += 1)
		assert.deepEqual(parsed([text.slice(0, cut), text.slice(cut)]), whole);
	assert.deepEqual(parsed([...text]), whole);
});

test('the way that was used last gives the answer', () => {
	const question = { kind: 'confirm', options: [] } as unknown as Parameters<typeof choicesOf>[0];
	const choices = choicesOf(question);
	assert.equal(responseOf(EMPTY, choices), undefined);
	assert.equal(responseOf({ ...EMPTY, from: 'choice', choice: 1, words: 'x' }, choices), 'no');
	assert.equal(responseOf({ ...EMPTY, from: 'words', choice: 1, words: 'x' }, choices), 'x');
	const fields = new Map([['__proto__', 'a']]);
	assert.equal(JSON.stringify(responseOf({ ...EMPTY, from: 'fields', fields }, choices) ?? null), '{"__proto__":"a"}');
});

test('a job is sent as it was typed, to the last digit', () => {
	const order = {
		...EMPTY_ORDER,
		skill: 'a',
		engine: 'e',
		input: '{"n": 12345678901234567890}',
		options: '{"x": 1.0}',
	};
	assert.deepEqual(unreadableParts(order), {});
	assert.equal(
		orderText({ ...order, strict: false, timeout: '5', profile: 'sticky_process', run_id: ' r1 ' }),
		'{"skill":"a","engine":"e","execution_mode":"interactive","input":{"n": 12345678901234567890},"runtime_options":' +
			'{"interactive_require_user_reply":false,"session_timeout_sec":5,"interactive_profile":{"kind":"sticky_process"},"x": 1.0},"run_id":"r1"}',
	);
	assert.deepEqual(Object.keys(unreadableParts({ ...order, input: '{', options: '[]' })), ['input', 'options']);
});

test('the output that a decision was about is found in the text, or nothing is', () => {
	const output_schema = { type: 'object', required: ['file'], properties: { file: { type: 'string' } } };
	const request: core.RunRequest = { run_id: 'r', engine: 'e', execution_mode: 'interactive' };
	const plan = core.admit({ runner: { execution_modes: ['interactive'] }, output_schema }, request, { engines: ['e'] });
	const found = (turn: object): string | undefined => {
		const { decision } = core.evaluateTurn(plan, turn);
		return outputText(core, plan, JSON.stringify({ event: { type: 'turn_finished', ...turn } }), decision);
	};
	const wrong = '{"file": 7, "__SKILL_DONE__": true}';
	assert.equal(found({ text: wrong }), wrong);
	assert.equal(found({ text: `First {"a": "}"} and then ${wrong} at the end` }), wrong);
	assert.equal(found({ text: `{"file": 1}\n\`\`\`json\n${wrong}\n\`\`\`\n` }), wrong);
	assert.equal(
		found({
			messages: [
				{ role: 'tool', text: '{"file": 8}' },
				{ role: 'assistant', text: wrong },
			],
		}),
		wrong,
	);
	assert.equal(found({ output: { file: 7 } }), '{"file":7}');
	assert.equal(found({ text: 'Which file?' }), undefined);
});

// Every API: what a client of it receives over a real connection.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ModelServer } from '../server.mjs';
import { ask, DIALECTS, found, read } from './asking.mjs';

const server = new ModelServer();
before(() => server.listen());
after(() => server.close());

const KINDS = {
	'openai-responses': { 401: 'invalid_api_key', 429: 'rate_limit_exceeded', 500: 'server_error' },
	'openai-chat': { 401: 'invalid_api_key', 429: 'rate_limit_exceeded', 500: 'server_error' },
	'anthropic-messages': { 401: 'authentication_error', 429: 'rate_limit_error', 500: 'api_error' },
	gemini: { 401: 'UNAUTHENTICATED', 429: 'RESOURCE_EXHAUSTED', 500: 'INTERNAL' },
};

for (const dialect of DIALECTS) {
	describe(dialect.api, () => {
		const name = dialect.api;
		const play = (...steps) => server.play(name, { steps });
		const turn = async () => read(await ask(server.url(name), dialect));

		it('says a text, in pieces that cut no character', async () => {
			const text = 'Tschüß 👍🏽, שלום\u2028"__SKILL_DONE__": true';
			play({ text, chunk: 7 });
			const { events, whole } = await turn();
			const said = found(events, dialect.text);
			assert.equal(said.join(''), text);
			assert.equal(said.length, Math.ceil(Array.from(text).length / 7));
			assert.ok(said.every((piece) => piece.isWellFormed()));
			assert.ok(whole && dialect.ended(events));
		});

		it('thinks, speaks and calls the shell tool that was offered, with all its arguments', async () => {
			play({ reasoning: 'Hm.', text: 'I look.', tool: { command: 'ls' } });
			const { events, whole } = await turn();
			assert.deepEqual(found(events, dialect.reasoning), ['Hm.']);
			assert.deepEqual(found(events, dialect.text), ['I look.']);
			const [call] = found(events, dialect.tool);
			assert.deepEqual(call.arguments, { command: 'ls', is_background: false });
			assert.ok(whole && dialect.ended(events));
		});

		it('ends an answer without words', async () => {
			play({});
			const { events, whole } = await turn();
			assert.deepEqual(found(events, dialect.text), []);
			assert.ok(whole && dialect.ended(events));
		});

		it("answers with errors in the API's own form", async () => {
			play({ status: 401 }, { status: 429, message: 'Slow down.' }, { status: 500 });
			for (const status of [401, 429, 500]) {
				const response = await ask(server.url(name), dialect);
				const body = await response.json();
				assert.equal(response.status, status);
				assert.equal(dialect.errorKind(body), KINDS[name][status]);
				assert.equal(body.error.message, status === 429 ? 'Slow down.' : `The script answers with ${status}.`);
			}
		});

		it('breaks off after the words and before the end', async () => {
			play({ text: 'Which', drop: true }, { text: 'again' });
			const broken = await turn();
			assert.deepEqual(found(broken.events, dialect.text), ['Which']);
			assert.ok(!broken.whole && !dialect.ended(broken.events));
			assert.deepEqual(found((await turn()).events, dialect.text), ['again']);
		});

		it('breaks off in the middle of the words', async () => {
			play({ text: 'Which of them?', chunk: 4, drop: 'midway' });
			const broken = await turn();
			assert.deepEqual(found(broken.events, dialect.text), ['Whic', 'h of']);
			assert.ok(!broken.whole && !dialect.ended(broken.events));
		});

		it('says that the script is used up, again and again', async () => {
			play({ text: 'only this' });
			await turn();
			for (const _ of [1, 2]) {
				const response = await ask(server.url(name), dialect);
				assert.equal(response.status, 500);
				assert.match((await response.json()).error.message, /is used up: it has 1 steps/);
			}
		});

		it('plays no step for a request without tools', async () => {
			play({ text: 'the step' });
			const aside = await read(await ask(server.url(name), dialect, 'A title?', { tools: false }));
			assert.deepEqual(found(aside.events, dialect.text), ['A short title']);
			assert.deepEqual(found((await turn()).events, dialect.text), ['the step']);
		});

		it('notes what was asked', async () => {
			play({ text: 'one' });
			await read(await ask(server.url(name), dialect, 'the second one'));
			const { tools, ...entry } = server.requests.at(-1);
			const path = `/s/${name}${dialect.path}`;
			assert.deepEqual(entry, { path, script: name, api: name, step: 0, last_user_text: 'the second one' });
			assert.equal(tools.length, 1);
		});
	});
}

it('answers whole where no stream is asked for', async () => {
	const steps = [{ text: 'Hello', tool: { name: 'AskUserQuestion', arguments: { questions: [] } } }];
	const bodies = {};
	for (const dialect of DIALECTS) {
		server.play('whole', { steps });
		const path = dialect.path.replace('streamGenerate', 'generate');
		const body = JSON.stringify({ ...dialect.body('Hi', true), stream: false });
		bodies[dialect.api] = await (await fetch(server.url('whole') + path, { method: 'POST', body })).json();
	}
	assert.equal(bodies['openai-responses'].output[0].content[0].text, 'Hello');
	assert.equal(bodies['openai-responses'].output[1].name, 'AskUserQuestion');
	assert.equal(bodies['openai-chat'].choices[0].message.content, 'Hello');
	assert.equal(bodies['anthropic-messages'].content[1].name, 'AskUserQuestion');
	assert.deepEqual(bodies.gemini.candidates[0].content.parts[1].functionCall.args, { questions: [] });
});

// Scripts beside each other, small questions, hostile requests, and the command line.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkScript } from '../script.mjs';
import { ModelServer } from '../server.mjs';
import { ask, DIALECTS, found, read } from './asking.mjs';

const [, chat] = DIALECTS;
const server = new ModelServer({ scripts: { default: { steps: [{ text: 'default' }] } } });
before(() => server.listen());
after(() => server.close());

const says = async (base, dialect = chat) =>
	found((await read(await ask(base, dialect))).events, dialect.text).join('');

it('keeps a position for each script, whatever API asks, and rewinds it', async () => {
	server.play('a', { steps: [{ text: 'a1' }, { text: 'a2' }] });
	server.play('b', { steps: [{ text: 'b1' }] });
	assert.equal(await says(server.url('a')), 'a1');
	assert.equal(await says(server.url('b'), DIALECTS[0]), 'b1');
	assert.equal(await says(server.url('a'), DIALECTS[3]), 'a2');
	assert.equal((await fetch(`${server.url('a')}/rewind`, { method: 'POST' })).status, 200);
	assert.equal(await says(server.url('a')), 'a1');
	assert.equal((await ask(server.url('b'), chat)).status, 500);
	assert.equal(await says(`http://127.0.0.1:${server.port}`), 'default');
});

it('answers the small questions', async () => {
	const base = server.url('nothing');
	assert.equal((await fetch(base, { method: 'HEAD' })).status, 200);
	assert.equal((await (await fetch(`${base}/v1/models`)).json()).data[0].id, 'mock');
	const count = (path) => fetch(base + path, { method: 'POST', body: '{}' }).then((response) => response.json());
	assert.deepEqual(await count('/v1/messages/count_tokens'), { input_tokens: 10 });
	assert.deepEqual(await count('/v1beta/models/mock:countTokens'), { totalTokens: 10 });
});

it('refuses what it cannot read and goes on', async () => {
	server.play('hostile', { steps: [{ text: 'still here' }] });
	const bodies = ['', '{', '[]', 'null', '"x"', '{"tools": 1}', '{"tools": [null]}', '{"tools": {"length": 1}}'];
	for (const dialect of DIALECTS) {
		for (const body of bodies) {
			const response = await fetch(server.url('hostile') + dialect.path, { method: 'POST', body });
			assert.equal(response.status, 400, `${dialect.api} ${body}`);
			assert.notEqual((await response.json()).error.message, '');
		}
	}
	const { messages, ...rest } = chat.body('x', true);
	const odd = JSON.stringify({ ...rest, messages: [{ role: 'user', content: [7] }] });
	assert.equal((await fetch(server.url('hostile') + chat.path, { method: 'POST', body: odd })).status, 400);
	assert.equal((await fetch(`${server.url('hostile')}/v1/embeddings`, { method: 'POST', body: '{}' })).status, 404);
	assert.equal((await ask(server.url('__proto__'), chat)).status, 404);
	assert.equal(await says(server.url('hostile')), 'still here');
});

it('survives bytes that are no HTTP, and clients that leave', async () => {
	const socket = connect(server.port, '127.0.0.1');
	socket.end('\u0000nonsense\r\n\r\n');
	const [answer] = await once(socket, 'data');
	assert.match(String(answer), /^HTTP\/1\.1 400/);

	server.play('slow', { steps: [{ text: 'late', delay_ms: 600_000 }, { text: 'next' }] });
	const leaving = new AbortController();
	const body = JSON.stringify(chat.body('x', true));
	const asked = fetch(server.url('slow') + chat.path, { method: 'POST', body, signal: leaving.signal });
	while (server.requests.at(-1).script !== 'slow') await new Promise(setImmediate);
	leaving.abort();
	await assert.rejects(asked, { name: 'AbortError' });
	assert.equal(await says(server.url('slow')), 'next');
});

it('says when no shell tool is offered', async () => {
	server.play('shell', { steps: [{ tool: { command: 'ls' } }] });
	const body = { ...chat.body('x', true), tools: [{ type: 'function', function: { name: 'read' } }] };
	const response = await fetch(server.url('shell') + chat.path, { method: 'POST', body: JSON.stringify(body) });
	assert.equal(response.status, 500);
	assert.match((await response.json()).error.message, /no shell tool among the offered ones: read/);
});

it('names the place of a mistake in a script', () => {
	const wrong = [
		[[], /a script is/],
		[{ steps: [1] }, /steps\[0\] must be an object/],
		[{ steps: [{}, { txt: '' }] }, /steps\[1\] has an unknown member "txt"/],
		[{ steps: [{ status: 200 }] }, /steps\[0\].status must be an HTTP error status/],
		[{ steps: [{ tool: {} }] }, /steps\[0\].tool must be/],
		[{ steps: [{ chunk: 0 }] }, /steps\[0\].chunk must be/],
	];
	for (const [script, message] of wrong) assert.throws(() => checkScript(script, 's'), message);
});

const MAIN = fileURLToPath(new URL('../main.mjs', import.meta.url));

it('runs from the command line, logs each request, and stops on SIGTERM', async () => {
	const folder = mkdtempSync(join(tmpdir(), 'model-server-'));
	try {
		writeFileSync(join(folder, 'one.json'), JSON.stringify({ steps: [{ text: 'from a file' }] }));
		const log = join(folder, 'log.jsonl');
		const program = spawn(process.execPath, [MAIN, '--scripts', folder, '--log', log], {
			stdio: ['ignore', 'pipe', 'inherit'],
		});
		const exited = once(program, 'exit');
		const [line] = await once(createInterface({ input: program.stdout }), 'line');
		assert.equal(await says(`http://127.0.0.1:${JSON.parse(line).port}/s/one`), 'from a file');
		program.kill('SIGTERM');
		assert.deepEqual(await exited, [0, null]);
		const [entry, ...more] = readFileSync(log, 'utf8').trimEnd().split('\n');
		assert.equal(more.length, 0);
		assert.equal(JSON.parse(entry).last_user_text, 'Which file?');
	} finally {
		rmSync(folder, { recursive: true });
	}
});

it('does not start without a script that it can read', async () => {
	for (const args of [[], ['--script', '/nowhere.json'], ['--nonsense']]) {
		const program = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
		const [[words], [code]] = await Promise.all([once(program.stderr, 'data'), once(program, 'exit')]);
		assert.equal(code, 2);
		assert.match(String(words), /usage|nowhere|nonsense/);
	}
});

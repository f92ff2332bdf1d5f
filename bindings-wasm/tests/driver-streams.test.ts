/** Agents whose output is a stream: sticky ones, conversations by a protocol, and words that are told as they come. */

import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Run, type TurnReport } from 'turnlatch';
import { type Command, type Said, SubprocessRunner } from 'turnlatch/node';
import { DONE, hosted, plan, STICKY, scenario, shell, until } from './hosting.js';

const START = { type: 'start_turn', id: 'r1/2/1', attempt_number: 1, slot_id: 'r1/s1' } as const;
const reply = (number: number, response: string) =>
	({
		type: 'inject_reply',
		id: `r1/${number}/1`,
		attempt_number: number,
		slot_id: 'r1/s1',
		interaction_id: number - 1,
		response,
	}) as const;
/** Counts the rows that it is given, and ends each turn with a row. */
const CLAUDE = `n=0; while read -r row; do
	n=$((n + 1))
	printf '{"type":"assistant","session_id":"s1","parent_tool_use_id":null,"message":{"id":"m","content":[{"type":"text","text":"row %s"}]}}\\n' $n
	echo '{"type":"result","subtype":"success","is_error":false,"session_id":"s1","result":"","usage":{"input_tokens":1,"output_tokens":2}}'
done`;
/** Answers as an agent of the Agent Client Protocol does, and asks for leave before it says what it was given. */
const ACP = `
const rows = require('node:readline').createInterface(process.stdin);
const write = (row) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...row }) + '\\n');
let asked;
let folder;
rows.on('line', (line) => {
	const { id, method, params, result } = JSON.parse(line);
	if (method === 'initialize') write({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
	if (method === 'session/new') {
		folder = params.cwd;
		write({ id, result: { sessionId: 's-1' } });
	}
	if (method === 'session/prompt') {
		asked = { id, words: params.prompt[0].text };
		const options = [{ optionId: 'no', kind: 'reject_once' }, { optionId: 'yes', kind: 'allow_once' }];
		write({ id: 'leave', method: 'session/request_permission', params: { options } });
	}
	if (id === 'leave') {
		const text = asked.words + ' in ' + folder + ', ' + result.outcome.optionId;
		const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } };
		write({ method: 'session/update', params: { sessionId: 's-1', update } });
		write({ id: asked.id, result: { stopReason: 'end_turn' } });
	}
});`;

interface Heard {
	readonly runner: SubprocessRunner;
	readonly run: Run;
	readonly reports: (TurnReport | null)[];
	readonly words: Said[];
}

async function listening(command: Command, work: (heard: Heard) => Promise<void>): Promise<void> {
	const words: Said[] = [];
	const runner = new SubprocessRunner(() => command, { graceMs: 500, onSaid: (said) => void words.push(said) });
	const [run] = Run.create(plan(), 1);
	const reports: (TurnReport | null)[] = [];
	try {
		await runner.start(run, START, (report) => void reports.push(report));
		await work({ runner, run, reports, words });
	} finally {
		await runner.close();
	}
}

test('a process of a format with ends of turns takes prompt and reply as its rows', () =>
	listening(
		shell(CLAUDE, { stream: 'claude-stream-json', sticky: true, stdin: 'begin\nwith two lines' }),
		async ({ runner, run, reports, words }) => {
			const turn = (text: string) => ({
				messages: [{ role: 'assistant', text }],
				session_handle: 's1',
				usage: { input_tokens: 1, output_tokens: 2 },
			});
			await until(() => reports.length === 1);
			for (let time = 0; time < 2; time += 1) {
				runner.inject(run, reply(2, 'two\nlines'), (report) => void reports.push(report));
			}
			await until(() => reports.length === 2);
			assert.deepEqual(reports, [turn('row 1'), turn('row 2')]);
			const piece = (text: string) => ({ message: 0, role: 'assistant', text });
			assert.deepEqual(words, [
				{ run_id: 'r1', attempt_number: 1, pieces: [piece('row 1')] },
				{ run_id: 'r1', attempt_number: 2, pieces: [piece('row 2')] },
			]);
		},
	));

test('the end of a turn that nobody may have heard is told again', () =>
	listening({ ...shell(CLAUDE), stream: 'claude-stream-json', sticky: true, stdin: 'begin' }, async (host) => {
		const { runner, run, reports } = host;
		const heard = (report: TurnReport | null) => void reports.push(report);
		await until(() => reports.length === 1);
		runner.attach('r1/s1', heard);
		await runner.start(run, START, heard);
		assert.deepEqual(reports, Array(3).fill(reports[0]));
		runner.inject(run, reply(2, 'b'), heard);
		runner.attach('r1/s1', heard);
		await until(() => reports.length === 4);
		runner.inject(run, reply(2, 'b'), heard);
		assert.deepEqual(reports[4]?.messages, [{ role: 'assistant', text: 'row 2' }]);
		assert.deepEqual(reports[4], reports[3]);
	}));

test('a conversation by the Agent Client Protocol', async () => {
	const folder = realpathSync(mkdtempSync(join(tmpdir(), 'turnlatch-')));
	writeFileSync(join(folder, 'agent.cjs'), ACP);
	const argv = [process.execPath, join(folder, 'agent.cjs')];
	await listening(
		{ argv, cwd: folder, stream: 'acp', sticky: true, stdin: 'begin' },
		async ({ runner, run, reports }) => {
			await until(() => reports.length === 1);
			const turn = (text: string) => ({ messages: [{ role: 'assistant', text }], session_handle: 's-1' });
			assert.deepEqual(reports[0], turn(`begin in ${folder}, yes`));
			runner.inject(run, reply(2, 'go on'), (report) => void reports.push(report));
			await until(() => reports.length === 2);
			assert.deepEqual(reports[1]?.messages, turn(`go on in ${folder}, yes`).messages);
		},
	);
	rmSync(folder, { recursive: true });
});

test('words are told while the turn is under way, whatever becomes of the telling', async () => {
	const folder = mkdtempSync(join(tmpdir(), 'turnlatch-'));
	const script = `printf 'Looking. '; while [ ! -e go ]; do sleep 0.02; done; echo Found.`;
	let told = '';
	const runner = new SubprocessRunner(() => shell(script, { cwd: folder }), {
		onSaid: ({ run_id, attempt_number, pieces }) => {
			assert.deepEqual([run_id, attempt_number], ['r1', 1]);
			told += pieces.map(({ text }) => text).join('');
			if (told.length < 10) throw new Error('on purpose');
			return Promise.reject(new Error('on purpose, later'));
		},
	});
	const errors = collectErrors();
	const reports: (TurnReport | null)[] = [];
	await runner.start(Run.create(plan(), 1)[0], START, (report) => void reports.push(report));
	await until(() => told === 'Looking. ');
	assert.deepEqual(reports, []);
	writeFileSync(join(folder, 'go'), '');
	await until(() => reports.length === 1);
	assert.equal(told, 'Looking. Found.\n');
	assert.deepEqual(reports[0], { messages: [{ role: 'assistant', text: told }], exit_code: 0 });
	assert.deepEqual(errors.stop(), [
		'turnlatch: onSaid failed: Error: on purpose',
		'turnlatch: onSaid failed: Error: on purpose, later',
	]);
	await runner.close();
	rmSync(folder, { recursive: true });
});

test('ends of turns that nobody waits for are no results, and their words are not told', () =>
	listening(
		shell(`printf 'a\\n--'; sleep 0.2; printf -- '-\\n---\\r\\nb\\n---\\nc'; read line; echo " $line"; echo ---; cat`, {
			endOfTurn: '---',
		}),
		async ({ runner, run, reports, words }) => {
			await until(() => reports.length === 1);
			assert.deepEqual(reports[0], { messages: [{ role: 'assistant', text: 'a\n' }] });
			runner.inject(run, reply(2, 'x\ny'), (report) => void reports.push(report));
			await until(() => reports.length === 2);
			assert.deepEqual(reports[1], { messages: [{ role: 'assistant', text: 'c x y\n' }] });
			assert.deepEqual(
				words.map(({ attempt_number, pieces }) => [attempt_number, pieces.map(({ text }) => text).join('')]),
				[
					[1, 'a\n'],
					[2, 'c x y\n'],
				],
			);
		},
	));

test('a sticky process that ends in a turn leaves its report, and is then gone', () =>
	listening(shell('echo half; exit 3', { endOfTurn: '---' }), async ({ reports }) => {
		await until(() => reports.length === 2);
		assert.deepEqual(reports, [{ messages: [{ role: 'assistant', text: 'half\n' }], exit_code: 3 }, null]);
	}));

scenario('a run whose agent prints its stream and fails by it', (store) =>
	hosted(
		store,
		(_run, { resume }) =>
			resume === undefined
				? { argv: ['echo', '{"role":"tool","text":"x"}\n{"role":"assistant","text":"Which file?"}'], stream: 'ndjson' }
				: {
						argv: ['echo', '{"type":"result","is_error":true,"api_error_status":401,"result":"Please log in"}'],
						stream: 'claude-stream-json',
					},
		async (host) => {
			await host.driver.start(plan());
			await host.driver.wait('r1', 'waiting_user');
			await host.driver.reply('r1', 1, 'b.txt');
			assert.equal((await host.ended('r1')).error?.code, 'AUTH_REQUIRED');
		},
	),
);

scenario('a sticky run by rows of JSON', (store) =>
	hosted(
		store,
		() =>
			shell(
				`say() { printf '{"role":"assistant","text":"%s"}\\n---\\n' "$1"; }; read prompt; say 'Which file?'; read reply; say '${DONE.replaceAll('"', '\\"')}'; cat`,
				{ stream: 'ndjson', endOfTurn: '---', stdin: 'begin' },
			),
		async (host) => {
			await host.driver.start(plan('r1', { interactive_profile: STICKY }));
			await host.driver.wait('r1', 'waiting_user');
			await host.driver.reply('r1', 1, 'b.txt');
			assert.deepEqual((await host.ended('r1')).data, { file: 'b.txt' });
			await host.nothingLeft();
		},
	),
);

/** What is written to the console as an error, instead of there. */
function collectErrors(): { stop(): string[] } {
	const lines: string[] = [];
	const { error } = console;
	console.error = (...parts: unknown[]) => void lines.push(parts.map(String).join(' '));
	return {
		stop() {
			console.error = error;
			return lines;
		},
	};
}

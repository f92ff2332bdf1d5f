/** JavaScript's face of the core: times, data in, data out, errors, memory. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';
import {
	AdmissionError,
	admit,
	appendInstructions,
	codes,
	compactEntry,
	describeSkill,
	displayText,
	type Evaluation,
	EventRejectedError,
	encodeChained,
	evaluateTurn,
	exportRun,
	importRun,
	init,
	Journal,
	LoadError,
	memoryBytes,
	Plan,
	Replayer,
	Run,
	type RunEvent,
	replay,
	TurnlatchError,
	version,
} from 'turnlatch';
import { PACKAGE, ROOT } from './files.js';
import { malformed, planOf, RUNNER, runningRun, SCHEMA, thrown, waitingRun } from './support.js';

const REQUEST = { run_id: 'r1', engine: 'codex' };
const HOST = { engines: ['codex'] };

test('a time is a number, a bigint or a date', () => {
	for (const [now, millis] of [
		[0, 0],
		[1_771_200_000_000, 1_771_200_000_000],
		[1_771_200_000_000n, 1_771_200_000_000],
		[new Date('2026-02-16T00:00:00Z'), 1_771_200_000_000],
		[new Date('2026-02-16T02:00:00+02:00'), 1_771_200_000_000],
		[Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
	] as const) {
		const [run, { entry }] = Run.create(planOf(), now);
		assert.equal(run.statusView().created_at, millis);
		assert.equal(JSON.parse(entry ?? '').at, millis);
	}
});

test('what is no time is malformed', () => {
	const run = waitingRun();
	const before = run.snapshot();
	const strange: unknown[] = [
		true,
		-1,
		-1n,
		1.5,
		'1',
		null,
		undefined,
		{},
		[5],
		2 ** 53,
		2n ** 64n,
		Number.NaN,
		Number.POSITIVE_INFINITY,
	];
	for (const now of [...strange, new Date(Number.NaN), new Date('1969-01-01')] as number[]) {
		for (const call of [
			() => run.apply({ type: 'cancel' }, now),
			() => run.applyJson('{"type":"cancel"}', now),
			() => run.cancel(now),
			() => run.reply(1, 'x', now),
			() => run.allowed(now),
			() => Run.create(planOf(), now),
		]) {
			malformed(call);
		}
	}
	assert.equal(run.snapshot(), before);
});

test('a receipt is no error', () => {
	const run = waitingRun();
	const told = [
		run.reply(7, 'to nobody', 3),
		run.reply(1, 'the first', 4, { idempotency_key: 'k' }),
		run.reply(1, 'the first', 5, { idempotency_key: 'k' }),
		run.reply(1, 'another', 6, { idempotency_key: 'k' }),
		run.reply(1n, 'late', 7),
		run.reply(1, 'x', 8, { expected_revision: 1 }),
		run.cancel(9, 'enough'),
		run.cancel(10),
	].map(({ receipt }) => receipt.kind);
	assert.deepEqual(told, [
		'unknown',
		'accepted',
		'duplicate',
		'conflict',
		'stale',
		'conflict',
		'canceled',
		'already_ended',
	]);
	assert.ok(run.ended);
	assert.equal(run.status, 'canceled');
});

test('a refused request is a transition with a receipt alone, by apply as by reply', () => {
	const run = waitingRun();
	const before = run.snapshot();
	const event = { type: 'reply', interaction_id: 7, response: 'x' } as const;
	for (const transition of [run.apply(event, 3), run.applyJson(JSON.stringify(event), 3), run.reply(7, 'x', 3)]) {
		assert.deepEqual(Object.keys(transition), ['effects', 'receipt', 'observation']);
		assert.deepEqual(transition.effects, []);
		const { message = '', ...receipt } = transition.receipt ?? {};
		assert.deepEqual(receipt, {
			kind: 'unknown',
			code: 'UNKNOWN_INTERACTION',
			interaction_id: 7,
			pending_interaction_id: 1,
			status: 'waiting_user',
			revision: 3,
		});
		assert.match(message, /\b7\b/);
		assert.equal(transition.observation?.rejected, 'UNKNOWN_INTERACTION');
	}
	assert.equal(run.snapshot(), before);
});

interface Recorded {
	event: { text: string };
	evaluation: Evaluation;
}

test('the entry of a turn has its evaluation, and the compact one nothing else of it', () => {
	const run = waitingRun();
	run.reply(1, 'the first', 3);
	run.apply({ type: 'slot_granted', slot_id: 'r1/s2' }, 4);
	const { entry } = run.apply({ type: 'turn_finished', attempt_number: 2, text: 'Hm.' }, 5);
	assert.ok(entry);
	const full = JSON.parse(entry) as Recorded;
	assert.equal(full.event.text, 'Hm.');
	assert.equal(full.evaluation.decision.checks.at(-1)?.reason, 'waits_for_user');
	assert.equal(full.evaluation.decision.message, undefined, 'sentences are not stored');
	const compact = compactEntry(entry);
	const { event } = JSON.parse(compact) as { event: Pick<Recorded, 'evaluation'> };
	assert.deepEqual(event.evaluation, full.evaluation);
	assert.deepEqual(Object.keys(event), ['type', 'attempt_number', 'report_digest', 'evaluation']);
	assert.equal(compactEntry(compact), compact);
});

test('a check has its reason as a word with parameters, and as a sentence', () => {
	const { decision } = evaluateTurn(planOf(), { exit_code: 3 });
	assert.deepEqual(decision.checks, [
		{
			gate: 'GATE-1',
			result: 'decided',
			reason: 'process_failed',
			code: 'PROCESS_FAILED',
			exit_code: 3,
			detail: 'the turn failed with exit code 3',
		},
	]);
	assert.equal(decision.code, 'PROCESS_FAILED');
	assert.equal(decision.message, 'the turn failed with exit code 3');
});

test('errors carry what happened', () => {
	const run = waitingRun();
	const known = new Set(codes().map(({ code }) => code));
	for (const [kind, code, call] of [
		[AdmissionError, 'EXECUTION_MODE_INVALID', () => planOf({ request: { execution_mode: 'both' as 'auto' } })],
		[EventRejectedError, 'EVENT_MALFORMED', () => run.applyJson('{', 3)],
		[EventRejectedError, 'EVENT_UNKNOWN_ATTEMPT', () => run.apply({ type: 'turn_finished', attempt_number: 9 }, 3)],
		[LoadError, 'SNAPSHOT_INVALID', () => Run.restore('{}')],
		[LoadError, 'JOURNAL_INVALID', () => Journal.restore('{}')],
		[LoadError, 'JOURNAL_INVALID', () => Journal.fromLines('r1', ['{}'])],
	] as const) {
		const error = thrown(call);
		assert.ok(error instanceof kind && error instanceof TurnlatchError && error instanceof Error);
		assert.equal(error.code, code);
		assert.equal(error.name, kind.name);
		assert.ok(error.message.length > 0 && known.has(code));
		assert.match(String(error.stack), new RegExp(kind.name));
	}
	const request = { run_id: '!', engine: 'nobody', colour: 1 };
	const refused = thrown(() => admit({ runner: {} }, request, HOST)) as AdmissionError;
	const paths = refused.details.map(({ path }) => path);
	for (const path of ['request/run_id', 'request/engine', 'request/colour']) assert.ok(paths.includes(path));
	const cut = thrown(() => Run.restore(run.snapshot().slice(0, -1))) as LoadError;
	assert.ok(cut.path !== undefined && cut.path.length > 0);
	assert.equal(refused.path, refused.details[0]?.path);
	const where = { type: 'cancel', reason: { deep: [Number.NaN] } } as never;
	assert.equal((thrown(() => run.apply(where, 3)) as EventRejectedError).path, '/reason/deep/0');
});

test('integers of 64 bits survive in texts; data is what JSON.parse makes of them', () => {
	const run = runningRun({ schema: { type: 'object' } });
	const output = { u: 2n ** 64n - 1n, i: -(2n ** 63n), small: 5n, f: 0.1, t: true, big: 2n ** 53n + 1n };
	run.apply({ type: 'turn_finished', attempt_number: 1n, output }, 5);
	const view = run.statusView();
	const text = '{"u":18446744073709551615,"i":-9223372036854775808,"small":5,"f":0.1,"t":true,"big":9007199254740993}';
	assert.equal(view.data_text, text);
	assert.deepEqual(view.data, JSON.parse(text));
	assert.ok(run.statusViewJson().includes(`"data":${text}`));
	assert.deepEqual(Run.restore(run.snapshot()).statusView(), view);
});

test('text stays as it was written, and a key `__proto__` a key', () => {
	const run = runningRun({ schema: { type: 'object' } });
	const text = '{"b": 18446744073709551615, "a": 1.50, "c": 1e2, "__proto__": {"d": 1}}';
	run.apply({ type: 'turn_finished', attempt_number: 1, text }, 5);
	assert.equal(run.statusView().data_text, text);
	const data = run.statusView().data as Record<string, unknown>;
	assert.deepEqual(Object.keys(data), ['b', 'a', 'c', '__proto__']);
	assert.equal(({} as { d?: number }).d, undefined);
});

test('an event as an object is its JSON text', () => {
	const event: RunEvent = {
		type: 'turn_finished',
		attempt_number: 1,
		output: { answer: 1, n: [1e21, -0, 2 ** 60, 5e-324] },
	};
	const [byData, byText] = [runningRun({ schema: true }), runningRun({ schema: true })];
	byData.apply(event, 5);
	byText.applyJson(JSON.stringify(event), 5);
	assert.equal(byData.snapshot(), byText.snapshot());
	// An optional member that is undefined is absent.
	const cancel = { type: 'cancel', reason: undefined } as unknown as RunEvent;
	assert.equal(byData.copy().apply(cancel, 6).receipt?.kind, 'already_ended');
	// JavaScript writes this number as an integer of more than 64 bits.
	const large: RunEvent = { type: 'turn_finished', attempt_number: 1, output: [1e20] };
	assert.equal(
		malformed(() => runningRun().apply(large, 5)).message,
		malformed(() => runningRun().applyJson(JSON.stringify(large), 5)).message,
	);
});

test('an object is admitted as its compact text', () => {
	const schema = { type: 'object', title: 'größer ✓', properties: { a: { const: 2n ** 64n - 1n } } };
	const text = '{"type":"object","title":"größer ✓","properties":{"a":{"const":18446744073709551615}}}';
	assert.deepEqual(planOf({ schema }).toJSON(), planOf({ schema: text }).toJSON());
	assert.equal(planOf({ schema: true }).toJSON().output_schema, 'true');
});

test('what comes out is the caller’s own', () => {
	const run = waitingRun();
	const before = run.snapshot();
	for (const answer of [run.statusView(), run.pendingView(), run.outstanding(), run.explain(), run.toJSON()]) {
		assert.equal(Object.getPrototypeOf(answer), Object.prototype);
		for (const key of Object.keys(answer)) delete (answer as unknown as Record<string, unknown>)[key];
	}
	assert.equal(run.snapshot(), before);
	assert.equal(run.statusView().run_id, 'r1');
});

test('limits are known by name and numbers', () => {
	assert.equal(
		(admit({ runner: {} }, REQUEST, { ...HOST, limits: { options: 3 } }).toJSON().limits as { options: number })
			.options,
		3,
	);
	for (const limits of [{ colour: 1 }, { options: -1 }, { options: '3' }, { options: 1.5 }]) {
		const [name] = Object.keys(limits);
		const path = name === 'colour' ? 'limits' : `limits/${name}`;
		assert.throws(() => admit({ runner: {} }, REQUEST, { ...HOST, limits: limits as never }), {
			code: 'OPTION_INVALID',
			path,
		});
	}
	assert.equal(admit({ runner: {} }, REQUEST, { engines: new Set(['codex']) }).runId, 'r1');
});

test('one string is no list of engines, whatever is asked of a skill', () => {
	const [skill, host] = [{ runner: {} }, { engines: 'codex' }];
	const refusals = [() => admit(skill, REQUEST, host), () => describeSkill(skill, host)].map(thrown);
	for (const refused of refusals) assert.ok(refused instanceof TypeError);
	assert.equal(refusals[0]?.message, refusals[1]?.message);
	assert.match(refusals[0]?.message ?? '', /engines: \['codex'\].* an array of names/);
});

test('a run tells where it is', () => {
	const run = waitingRun();
	assert.deepEqual([run.runId, run.status, run.revision, run.attemptNumber], ['r1', 'waiting_user', 3, 1]);
	assert.equal(run.sessionHandle, undefined);
	assert.equal(run.ended, false);
	assert.deepEqual(run.toJSON(), JSON.parse(run.snapshot()));
	assert.equal(run.whyNot('succeeded').reached, false);
	assert.throws(() => run.whyNot('done' as never), TypeError);
	assert.throws(() => appendInstructions('x', 'both' as never), TypeError);
	assert.throws(() => evaluateTurn({} as never, {}), TypeError);
	assert.equal(evaluateTurn(planOf(), { output: { answer: 1 } }).decision.outcome, 'succeeded');
});

test('a journal by lines replays', () => {
	const plan = planOf();
	const [run, created] = Run.create(plan, 0);
	const told = [created];
	const events: RunEvent[] = [
		{ type: 'slot_granted', slot_id: 'r1/s1' },
		{ type: 'turn_finished', attempt_number: 1, text: 'Which file?' },
		{ type: 'cancel', reason: 'größer\n✓' },
	];
	for (const [index, event] of events.entries()) told.push(run.apply(event, index + 1));
	const lines: string[] = [];
	for (const [index, { entry, revision }] of told.entries()) {
		assert.ok(entry);
		assert.equal(revision, index + 1);
		assert.equal(JSON.parse(entry).revision, index + 1);
		lines.push(encodeChained(entry, 'r1', lines.at(-1)));
	}
	const journal = Journal.fromLines('r1', lines);
	const [again, effects] = replay(plan, journal);
	assert.equal(again.snapshot(), run.snapshot());
	assert.deepEqual(
		effects,
		told.map((applied) => applied.effects),
	);
	assert.equal(journal.length, 4);
	assert.deepEqual(journal.lines(), lines);
	for (const wrong of [lines.slice(1), [...lines].reverse(), [...lines, lines.at(-1) ?? '']]) {
		assert.throws(() => replay(plan, Journal.fromLines('r1', wrong)), LoadError);
	}
});

test('a skill is patched once', () => {
	const once = appendInstructions('# Skill', 'interactive', planOf());
	assert.ok(once.startsWith('# Skill') && once.includes('__SKILL_DONE__') && once.includes('"answer"'));
	assert.equal(appendInstructions(once, 'interactive', planOf()), once);
	assert.ok(!appendInstructions('# Skill', 'auto').includes('"answer"'));
});

test('text is made safe to show', () => {
	const shown = displayText('a\x1b[31mb\u202ec\ud800');
	assert.ok(shown.startsWith('a') && !/[\x1b\u202e\ud800]/.test(shown));
});

test('codes are the table of the page', () => {
	const page = readFileSync(join(ROOT, 'docs', 'codes.md'), 'utf8');
	const rows = [...page.matchAll(/^\| `(\w+)` \| (\w+) \| (\d+) \| (.*?) \| (.*) \|$/gm)].map((row) => row.slice(1));
	assert.ok(rows.length > 40);
	assert.deepEqual(
		codes().map((info) => [info.code, info.kind, String(info.http), info.meaning, info.remedy]),
		rows,
	);
});

test('a copy is a run of its own', () => {
	const run = waitingRun();
	const before = run.snapshot();
	const copy = run.copy();
	assert.equal(copy.snapshot(), before);
	copy.cancel(9);
	assert.deepEqual([copy.status, run.snapshot()], ['canceled', before]);
	copy.free();
	assert.equal(run.snapshot(), before);
});

test('what was freed says so, and may be freed again', () => {
	const plan = planOf({ runner: RUNNER, schema: SCHEMA });
	const [run] = Run.create(plan, 0);
	plan.free();
	plan[Symbol.dispose]();
	assert.throws(() => Run.create(plan, 0), /plan was freed/);
	assert.equal(run.status, 'queued');
	run[Symbol.dispose]();
	run.free();
	for (const call of [
		() => run.status,
		() => run.snapshot(),
		() => run.apply({ type: 'cancel' }, 1),
		() => run.copy(),
	]) {
		assert.throws(call, /run was freed/);
	}
});

test('the version is that of the package, and init does no harm', async () => {
	await init();
	const { version: written } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as { version: string };
	assert.equal(version(), written);
});

test('a journal is followed line by line, with texts that are exact, and a wrong line changes nothing', () => {
	const [run, created] = Run.create(planOf(), 1);
	const journal = new Journal(planOf());
	const text = '{"answer": 12345678901234567890, "__SKILL_DONE__": true}';
	const turn = { type: 'turn_finished', attempt_number: 1, text } as const;
	for (const { entry } of [created, run.apply({ type: 'slot_granted', slot_id: 'r1/s1' }, 2), run.apply(turn, 3)]) {
		assert.ok(entry);
		journal.push(entry);
	}
	const [first = '', second = '', third = ''] = journal.lines();
	const replayer = new Replayer(run.plan);
	assert.equal(new Replayer(run.plan).run, undefined);
	assert.throws(() => replayer.next(second), LoadError);
	assert.equal(replayer.next(first).status, 'queued');
	assert.throws(() => replayer.next(third), LoadError);
	const half = replayer.run;
	assert.equal(replayer.next(second).status, 'running');
	assert.equal(JSON.parse(replayer.nextJson(third)).status, run.status);
	assert.equal(replayer.run?.snapshot(), run.snapshot());
	// A run that was loaded continues behind its last line.
	assert.ok(half);
	const continued = new Replayer(half);
	assert.equal(continued.next(second).status, 'running');
	assert.equal(half.status, 'queued');
	const [plan, read] = importRun(exportRun(run.plan, journal));
	assert.deepEqual([plan.toJSON(), read.serialize()], [planOf().toJSON(), journal.serialize()]);
	assert.deepEqual(JSON.parse(run.explainJson()), run.explain());
});

test('JSON.stringify of a run, a plan and a journal can be restored, as text and as data', () => {
	const run = waitingRun();
	for (const text of [JSON.stringify(run), run.snapshot()]) {
		assert.equal(Run.restore(text).snapshot(), run.snapshot());
		assert.equal(Run.restore(JSON.parse(text)).snapshot(), run.snapshot());
	}
	const kept = JSON.parse(JSON.stringify({ run })) as { run: { [key: string]: never } };
	assert.equal(Run.restore(kept.run).snapshot(), run.snapshot());
	const { plan } = run;
	assert.deepEqual(Plan.restore(JSON.stringify(plan)).toJSON(), plan.toJSON());
	assert.equal(Run.create(Plan.restore(plan.toJSON()), 0)[0].runId, 'r1');
	const journal = new Journal(plan);
	journal.push(Run.create(plan, 0)[1].entry ?? '');
	assert.deepEqual(Journal.restore(JSON.stringify(journal)).lines(), journal.lines());
	assert.equal(Journal.restore(journal.toJSON()).runId, 'r1');
});

test('what is misused says what was wanted', () => {
	const skill = { runner: {} };
	const wrong: [call: () => unknown, message: RegExp][] = [
		[() => new (Run as unknown as new () => Run)(), /Run\.create\(plan, now\) and Run\.restore/],
		[() => new (Plan as unknown as new () => Plan)(), /made by admit/],
		[() => admit(skill, REQUEST, undefined as never), /the host is missing/],
		[() => admit(skill, REQUEST, {} as never), /the host is missing/],
		[() => admit({} as never, REQUEST, HOST), /skill\.runner is missing/],
		[() => admit(skill, undefined as never, HOST), /the request is missing/],
		[() => Run.create({} as never, 0), /expected a Plan, as `admit` returns it/],
		[() => Run.restore(undefined as never), /the snapshot is missing/],
	];
	for (const [call, message] of wrong) assert.throws(call, { name: 'TypeError', message });
	const slot = () => runningRun().apply({ type: 'slot_granted', slotId: 'r1/s1' } as never, 1);
	assert.match(thrown(slot).message, /slotId|slot_id/);
	assert.equal(inspect(waitingRun()), "Run { runId: 'r1', status: 'waiting_user', revision: 3 }");
});

test('a long text comes to the same beside the event as inside it, to the last byte of the entry', () => {
	const every = Array.from({ length: 0x250 }, (_, code) => String.fromCharCode(code)).join('');
	const text = `${every}\u2028\u2029\ufeff👩‍👩‍👧 "text":"" \\n`.repeat(3);
	for (const content of [
		{ text },
		{ stream: { format: 'text', stdout: text } as const },
		{ text: text.repeat(9), exit_code: 1 },
	]) {
		const event = { type: 'turn_finished', attempt_number: 1, ...content } as const;
		const [beside, inside] = [runningRun(), runningRun()];
		const [left, right] = [beside.apply(event, 2), inside.applyJson(JSON.stringify(event), 2)];
		assert.equal(left.entry, right.entry);
		assert.deepEqual({ ...left }, { ...right });
		assert.equal(beside.snapshot(), inside.snapshot());
	}
});

test('of a text over the limit the end crosses, with its size', () => {
	const plan = admit({ runner: {} }, REQUEST, { ...HOST, limits: { turn_text_bytes: 50_000, prompt_bytes: 100 } });
	const text = 'é👩‍👧'.repeat(10_000);
	const [[beside], [inside]] = [Run.create(plan, 0), Run.create(plan, 0)];
	for (const run of [beside, inside]) run.apply({ type: 'slot_granted', slot_id: 'r1/s1' }, 1);
	const event = { type: 'turn_finished', attempt_number: 1, text } as const;
	const before = memoryBytes();
	const { entry = '' } = beside.apply(event, 2);
	assert.equal(memoryBytes(), before);
	assert.equal(entry, inside.applyJson(JSON.stringify(event), 2).entry);
	const { event: recorded } = JSON.parse(entry) as { event: { text: string; text_bytes: number } };
	assert.equal(recorded.text_bytes, new TextEncoder().encode(text).length);
	assert.ok(text.endsWith(recorded.text) && recorded.text.length > 0);
});

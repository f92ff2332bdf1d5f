/** What holds for every list of events, over a few plans. fast-check prints the seed and the path that repeat a failure. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
	codes,
	compactEntry,
	EventRejectedError,
	Journal,
	type JsonInput,
	type Plan,
	Run,
	type RunEvent,
	type RunRequest,
	type RuntimeOptions,
	replay,
} from 'turnlatch';
import { planOf } from './support.js';

const STICKY: RuntimeOptions = { interactive_profile: { kind: 'sticky_process' } };
const RELAXED = { interactive_require_user_reply: false, session_timeout_sec: 5 };
const REQUESTS: Partial<RunRequest>[] = [
	{ execution_mode: 'auto' },
	{},
	RELAXED,
	{ session_timeout_sec: 5, ...STICKY },
	{ ...STICKY, ...RELAXED },
	{ interrupted_turn: 'retry', ...RELAXED },
	{ execution_mode: 'auto', interrupted_turn: 'retry' },
];
const PLANS = REQUESTS.map((request) => planOf({ request }));
const CODES = new Set<string>(codes().map(({ code }) => code));
const TEXTS = [
	'Which file?',
	'',
	'{"answer": 1, "__SKILL_DONE__": true}',
	'{"answer": "one", "__SKILL_DONE__": true}',
	'{"answer": 1}',
	'{"answer": 12345678901234567890, "__SKILL_DONE__": true}',
	'{"ask_user": {"prompt": "Which?", "kind": "choose_one", "options": ["a", "b"]}}',
	'```json\n{broken\n```',
	'__SKILL_DONE__',
	'\x1b[31m\u202e\x00',
];

interface Throw {
	kind: 'forward' | 'grant' | 'finish' | 'output' | 'fail' | 'reply' | 'keyed' | 'timer' | 'lost' | 'cancel' | 'raw';
	/** By how much it misses what the run waits for. */
	miss: number;
	text: string;
	data: JsonInput;
	time: number;
}

const json = fc.letrec<{ value: JsonInput }>((tie) => ({
	value: fc.oneof(
		{ maxDepth: 3 },
		fc.constantFrom<JsonInput[]>(null, true, false),
		fc.integer(),
		fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
		fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => Math.abs(number) < 2 ** 63),
		fc.string({ unit: 'binary', maxLength: 8 }),
		fc.array(tie('value'), { maxLength: 3 }),
		fc.dictionary(fc.constantFrom('a', '__proto__', '$b', ''), tie('value'), { maxKeys: 3 }),
	),
})).value;
const throws = fc.array(
	fc.record<Throw>({
		kind: fc.oneof(
			{ weight: 10, arbitrary: fc.constant<Throw['kind']>('forward') },
			{
				weight: 10,
				arbitrary: fc.constantFrom<Throw['kind'][]>(
					'grant',
					'finish',
					'output',
					'fail',
					'reply',
					'keyed',
					'timer',
					'lost',
					'cancel',
					'raw',
				),
			},
		),
		miss: fc.constantFrom(0, 0, 0, 0, -1, 1, 7),
		text: fc.constantFrom(...TEXTS),
		data: json,
		time: fc.constantFrom(0, 1, 1000, 6000, -500),
	}),
	{ maxLength: 25, size: 'max' },
);
const plans = fc.constantFrom(...PLANS);

/** A throw as an event, aimed at where the run is. */
function eventOf(run: Run, { kind, miss, text, data }: Throw): RunEvent {
	const forward = { queued: 'grant', running: 'finish', waiting_user: 'reply' } as const;
	const aimed = kind === 'forward' ? (forward[run.status as keyof typeof forward] ?? 'cancel') : kind;
	const held = run.outstanding().keep.slot_id ?? 'r1/s1';
	const slot_id = miss === 0 ? held : `r1/s${Math.max(Number(held.split('s').at(-1)) + miss, 0)}`;
	const attempt_number = Math.max(run.attemptNumber + miss, 0);
	const interaction_id = Math.max((run.statusView().pending_interaction_id ?? 1) + miss, 0);
	switch (aimed) {
		case 'grant':
			return { type: 'slot_granted', slot_id };
		case 'finish':
			return { type: 'turn_finished', attempt_number, text, session_handle: 'h' };
		case 'output':
			return { type: 'turn_finished', attempt_number, slot_id, output: data };
		case 'fail':
			return { type: 'turn_finished', attempt_number, exit_code: 1, failure_reason: 'TIMEOUT' };
		case 'reply':
			return { type: 'reply', interaction_id, response: data };
		case 'keyed':
			return { type: 'reply', interaction_id, response: 'same', idempotency_key: text.slice(0, 9) };
		case 'timer':
			return { type: 'timer_fired', interaction_id };
		case 'lost':
			return { type: 'process_lost', attempt_number, ...(miss === 0 ? { slot_id } : {}) };
		case 'cancel':
			return { type: 'cancel', ...(text === '' ? {} : { reason: text }) };
		default:
			return data as unknown as RunEvent;
	}
}

/** What became of a run, told in full; `through` is what happens to the run between two events. */
function walk(plan: Plan, list: Throw[], through: (run: Run) => Run = (run) => run) {
	let [run, created] = Run.create(plan, 10_000);
	let now = 10_000;
	const told: unknown[] = [created.effects];
	const kept = [created.effects];
	const entries: string[] = created.entry === undefined ? [] : [created.entry];
	for (const one of list) {
		now += one.time;
		const before = run.snapshot();
		try {
			const { effects, receipt, entry } = run.apply(eventOf(run, one), now);
			told.push([effects, receipt]);
			if (entry === undefined) {
				assert.equal(run.snapshot(), before, 'an ignored or refused event changes nothing');
			} else {
				entries.push(entry);
				kept.push(effects);
			}
		} catch (error) {
			if (!(error instanceof EventRejectedError)) throw error;
			assert.ok(CODES.has(error.code));
			assert.equal(run.snapshot(), before, 'a rejected event changes nothing');
			told.push([error.code, error.message]);
		}
		run = through(run);
	}
	return { run, told, kept, entries };
}

test('a run that is saved and loaded after every event goes on the same', () => {
	fc.assert(
		fc.property(plans, throws, (plan, list) => {
			const loaded = walk(plan, list, (run) => {
				const again = Run.restore(run.snapshot());
				assert.equal(again.snapshot(), run.snapshot());
				run.free();
				return again;
			});
			const straight = walk(plan, list);
			assert.equal(loaded.run.snapshot(), straight.run.snapshot());
			assert.deepEqual(loaded.told, straight.told);
		}),
		{ numRuns: 200 },
	);
});

test('journals replay to the same run and effects, full and compact, at any length', () => {
	fc.assert(
		fc.property(plans, throws, fc.nat(), (plan, list, cut) => {
			const { run, kept, entries } = walk(plan, list);
			for (const form of [(entry: string) => entry, compactEntry]) {
				const journal = new Journal(plan);
				for (const entry of entries) journal.push(form(entry));
				const [again, effects] = replay(plan, Journal.restore(journal.serialize()));
				assert.equal(again.snapshot(), run.snapshot());
				assert.deepEqual(effects, kept);
				const length = 1 + (cut % entries.length);
				const [part] = replay(plan, Journal.fromLines('r1', journal.lines().slice(0, length)));
				assert.equal(part.revision, length);
			}
		}),
		{ numRuns: 150 },
	);
});

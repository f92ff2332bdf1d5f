/** Every callback of recorded runs fails, in every way: nothing is lost, nothing doubled, nothing left. */

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JsonInput, Run, replay, type Status } from 'turnlatch';
import { Driver, RunNotFoundError, StoreConflictError } from 'turnlatch/driver';
import { ALWAYS, Alarms, type Fault, Faults, kills, type Says, World } from './failing-host.js';
import { report } from './gates.js';
import { plan, STICKY } from './hosting.js';

type Options = { [key: string]: JsonInput };

const RETRY = { interrupted_turn: 'retry' };
const LOOSE = { interactive_require_user_reply: false, session_timeout_sec: 100 };
const PROCESS = { interactive_profile: STICKY };
const LOST = ['ORCHESTRATOR_RESTART_INTERRUPTED', 'INTERACTION_PROCESS_LOST'];
/** More than is tried in a row. */
const OFTEN = 10;
const LONG = process.env.TURNLATCH_LONG !== undefined;
/** Nothing here takes a hundredth of it. */
const HANGS_MS = 60_000;

/** What is asked of the host, step by step, and what agents say in their attempts; `!` is lost the first time. */
interface Scenario {
	readonly steps: string;
	readonly says: Record<string, string>;
	readonly options: Options;
}

const one = (steps: string, says: string, options: Options = {}): Scenario => ({
	steps: `start a, ${steps}`,
	says: { a: says },
	options,
});

const SCENARIOS: Record<string, Scenario> = {
	auto: one('end a', 'done', { execution_mode: 'auto' }),
	'auto, no output': one('end a', 'asks', { execution_mode: 'auto' }),
	'auto, retried': one('end a', 'done!', { execution_mode: 'auto', ...RETRY }),
	'resumable, strict': one('answer a 1, answer a 2, end a', 'asks asks done'),
	'resumable, strict, retried': one('answer a 1, end a', 'asks! done!', RETRY),
	resumable: one('ring a 1, answer a 2, end a', 'asks asks done', { ...LOOSE, ...RETRY }),
	'sticky, strict': one('answer a 1, answer a 2, end a', 'asks asks done', PROCESS),
	'sticky, strict, too late': one('ring a 1, end a', 'asks', PROCESS),
	sticky: one('ring a 1, answer a 2, end a', 'asks asks done', { ...PROCESS, ...LOOSE }),
	'canceled at work': one('cancel a running, end a', 'works'),
	'canceled while it waits': one('cancel a waiting_user, end a', 'asks', LOOSE),
	'canceled while a process waits': one('cancel a waiting_user, end a', 'asks', PROCESS),
	'two runs, one slot': {
		steps:
			'start a, reach a waiting_user, start b, reach b running, answer a 1, cancel a queued running, cancel b running, end a, end b',
		says: { a: 'asks works', b: 'works' },
		options: {},
	},
};

const agentOf =
	({ says }: Scenario) =>
	(runId: string, attempt: number, before: number): Says => {
		const said = says[runId]?.split(' ')[attempt - 1] ?? 'works';
		return said.endsWith('!') && before === 0 ? 'lost' : (said.replace('!', '') as Says);
	};

class GivenUp extends Error {}

/** As clients do it: again, until it works. */
async function trying<T>(work: () => Promise<T>): Promise<T> {
	let failed: unknown;
	for (let attempt = 0; attempt < 2 * OFTEN; attempt += 1) {
		try {
			return await work();
		} catch (error) {
			failed = error;
		}
	}
	throw new GivenUp('it never works', { cause: failed });
}

/** One host, from its start to its end or death. */
class Life {
	readonly faults: Faults;
	readonly alarms = new Alarms();
	readonly #scenario: Scenario;
	readonly #world: World;
	readonly #driver: Driver;

	constructor(scenario: Scenario, world: World, fault: Fault, plain: boolean) {
		this.#scenario = scenario;
		this.#world = world;
		const faults = new Faults(fault);
		this.faults = faults;
		const onNotify = () => {};
		this.#driver = new Driver({
			slots: faults.wrap(world.slots, plain),
			timers: faults.wrap(this.alarms, plain),
			processes: faults.wrap(world.agents, plain),
			store: faults.wrap(world.store, plain),
			clock: faults.plainly('clock', () => world.now),
			onNotify: plain ? faults.plainly('onNotify', onNotify) : faults.awaited('onNotify', onNotify),
			onObservation: faults.plainly('onObservation', (observation) => world.observe(observation)),
			// It fails too; that of a dead host never returns, so that nothing is tried again in it.
			onError: faults.unheard,
			retry: { attempts: 3, delayMs: 0, factor: 1, pauseMs: 1 },
		});
	}

	/** Whether it came to its end; otherwise it is dead now. */
	async live(fault: Fault): Promise<boolean> {
		const guard = new AbortController();
		const hangs = sleep(HANGS_MS, undefined, { signal: guard.signal }).then(
			() => assert.fail(`it hangs after ${this.faults.calls}`),
			() => {},
		);
		try {
			this.#world.dead = false;
			await Promise.race([this.#perform(), this.faults.death, hangs]);
		} catch (error) {
			if (!(kills(fault) && error instanceof GivenUp)) throw error;
			this.faults.die();
		} finally {
			guard.abort();
		}
		if (!this.faults.dead) return true;
		this.#world.dead = true;
		this.#world.die();
		return false;
	}

	/** The steps that no earlier host has done to the end. */
	async #perform(): Promise<void> {
		await trying(() => this.#driver.recover());
		for (const step of this.#scenario.steps.split(', ').slice(this.#world.stepsDone)) {
			const [name, runId = '', rest = '', ...others] = step.split(' ');
			if (name === 'start') await this.#start(runId);
			if (name === 'reach') await this.#reach(runId, rest as Status);
			if (name === 'answer') await this.#answer(runId, Number(rest));
			if (name === 'ring') await this.#ring(runId, Number(rest));
			if (name === 'cancel') await this.#cancel(runId, [rest, ...others] as Status[]);
			if (name === 'end') await this.#end(runId);
			this.#world.stepsDone += 1;
		}
		await this.#driver.close();
	}

	async #start(runId: string): Promise<void> {
		try {
			this.#world.store.load(runId);
			return;
		} catch (error) {
			assert.ok(error instanceof RunNotFoundError);
		}
		await trying(async () => {
			try {
				await this.#driver.start(plan(runId, this.#scenario.options));
			} catch (error) {
				if (!(error instanceof StoreConflictError)) throw error;
				// The start before was saved, though nobody could see that.
				await this.#driver.recover();
			}
		});
	}

	#reach(runId: string, ...statuses: Status[]) {
		return trying(() => this.#driver.wait(runId, ...statuses));
	}

	/** Whether this question is to be answered, when it is there; an earlier host may have seen to that. */
	async #asks(runId: string, question: number): Promise<boolean> {
		const saved = Run.restore(this.#world.store.load(runId));
		const isAnswered = saved.history().some(({ interaction_id }) => interaction_id === question);
		saved.free();
		if (isAnswered) return false;
		return (await this.#reach(runId, 'waiting_user')).pending_interaction_id === question;
	}

	async #answer(runId: string, question: number): Promise<void> {
		if (!(await this.#asks(runId, question))) return;
		const key = { idempotency_key: `key ${question}` };
		const { kind } = await trying(() => this.#driver.reply(runId, question, String(question), key));
		assert.ok(['accepted', 'duplicate'].includes(kind), kind);
		this.#world.accepted.push([runId, String(question)]);
	}

	async #ring(runId: string, question: number): Promise<void> {
		while (await this.#asks(runId, question)) {
			await this.#settle(runId);
			this.alarms.ring(runId, question, (atMs) => {
				this.#world.now = atMs;
			});
			await sleep(1);
			await trying(() => this.#driver.settled(runId));
		}
	}

	async #cancel(runId: string, statuses: Status[]): Promise<void> {
		await this.#reach(runId, ...statuses);
		const { kind } = await trying(() => this.#driver.cancel(runId));
		assert.ok(['canceled', 'already_ended'].includes(kind), kind);
	}

	async #end(runId: string): Promise<void> {
		await this.#reach(runId, 'succeeded');
		await this.#settle(runId);
		const owed = this.#driver.owed(runId);
		if (owed.length > 0) throw new GivenUp(`still owed: ${JSON.stringify(owed)}`);
	}

	async #settle(runId: string): Promise<void> {
		// What is being tried again just now is not owed, so nothing owed has to be seen more often than anything fails.
		for (let turn = 0; turn < 2 * OFTEN; turn += 1) {
			if (this.#driver.owed(runId).length > 0) await trying(() => this.#driver.retryOwed(runId));
			await trying(() => this.#driver.settled(runId));
		}
	}
}

interface Outcome {
	readonly status: Status;
	readonly code: string;
	readonly attempt: number;
	readonly records: readonly [id: number, mode: string, response: string | undefined][];
}

function outcome(run: Run): Outcome {
	const { status, error, attempt_number } = run.statusView();
	const records = run
		.history()
		.map(({ interaction_id, resolution_mode, response }) => [interaction_id, resolution_mode, response] as const);
	// A run that is cancelled while it waits for a slot may have got it before.
	const attempt = status === 'canceled' ? 0 : attempt_number;
	return { status, code: error?.code ?? '', attempt, records: records as unknown as Outcome['records'] };
}

type Outcomes = Record<string, Outcome>;

/** The end of all hosts: as in the undisturbed runs, or as documented for this fault. */
function check(scenario: Scenario, world: World, life: Life, fault: Fault, whole?: Outcomes): Outcomes {
	assert.deepEqual(world.wrong, []);
	assert.deepEqual([...world.slots.held()], [], 'a slot leaked');
	assert.deepEqual(world.agents.alive(), [], 'a process is left');
	assert.deepEqual(life.alarms.pending(), [], 'a timer is left');
	assert.deepEqual(world.store.unfinished(), []);
	for (const [turn, times] of world.agents.begun) assert.equal(times, 1, `${turn} was begun twice`);
	for (const [step, times] of world.observed) assert.equal(times, 1, `${step} was observed twice`);
	const found: Outcomes = {};
	for (const runId of Object.keys(scenario.says)) {
		const run = Run.restore(world.store.load(runId));
		const replayed = replay(plan(runId, scenario.options), world.store.journal(runId))[0];
		assert.equal(replayed.snapshot(), run.snapshot());
		const ended = outcome(run);
		found[runId] = ended;
		assert.ok(ended.attempt <= (scenario.says[runId]?.split(' ').length ?? 0));
		const answered = ended.records.flatMap(([, mode, response]) => (mode === 'user_reply' ? [response] : []));
		assert.equal(new Set(answered).size, answered.length, 'each question was answered once');
		for (const [of, reply] of world.accepted) assert.ok(of !== runId || answered.includes(reply), `${reply} was lost`);
		const begun = [...world.agents.begun.keys()].filter((turn) => turn.startsWith(`${runId} `));
		const attempts = new Set(begun.map((turn) => turn.split(' ')[1]));
		if (scenario.options.interrupted_turn !== 'retry')
			assert.equal(attempts.size, begun.length, 'a lost turn began again');
		checkEnd(ended, whole?.[runId] ?? ended, documented(scenario, fault));
		run.free();
		replayed.free();
	}
	return found;
}

function checkEnd(ended: Outcome, whole: Outcome, codes: readonly string[]): void {
	if (JSON.stringify(ended) === JSON.stringify(whole)) return;
	assert.ok(ended.status === 'failed' && codes.includes(ended.code), JSON.stringify([ended, whole]));
	const kept = ended.records.filter(([, mode]) => ['user_reply', 'auto_decide_timeout'].includes(mode));
	assert.deepEqual(kept, whole.records.slice(0, kept.length));
}

/** How a run may end by this fault, where the undisturbed one does not (HOST-8, HOST-9). */
function documented({ options }: Scenario, fault: Fault): string[] {
	const may = [...(fault.times > 1 ? ['HOST_FAILED'] : [])];
	const isLost = options.interrupted_turn !== 'retry' || options.interactive_profile !== undefined;
	return kills(fault) && isLost ? [...may, ...LOST] : may;
}

const fault = (how: Fault['how'], afterWork: boolean, times = 1, also?: string): Fault => ({
	at: 0,
	how,
	afterWork,
	times,
	...(also === undefined ? {} : { also }),
});
const NONE = fault('throws', false);
const THROWS = [fault('throws', false), fault('throws', true)] as const;
/** What JavaScript can throw beside errors. */
const ODD = (['throws nothing', 'throws null', 'throws text', 'throws an error without a prototype'] as const).flatMap(
	(how) => [fault(how, false), fault(how, true), fault(how, false, OFTEN)],
);
const DIES = [fault('dies', false), fault('dies', true)] as const;
const MORE = [false, true].flatMap((after) => [
	fault('hangs', after),
	fault('throws', after, OFTEN),
	fault('throws', after, ALWAYS),
	fault('throws', after, 5, 'all'),
	fault('throws', after, 4, 'save'),
]);
/** Nobody can say whether it was done, and nobody can be asked or told. */
const DOUBTFUL: Record<string, Fault[]> = {
	save: [fault('throws', true, 5, 'all')],
	start: [fault('throws', true, 4, 'save'), fault('throws', true, 4, 'all')],
	inject: [fault('throws', true, 4, 'save'), fault('throws', true, 4, 'all')],
};
const counts = { 'callbacks failed': 0, kills: 0, runs: 0 };
let undisturbedRuns = 0;

/** In the short form the worlds and the rarer faults take turns. */
function* ways(n: number, callback: string): Generator<{ first: Fault; again: Fault; turn: number }> {
	const doubtful = DOUBTFUL[callback] ?? [];
	const rarer = [MORE[n % MORE.length] ?? NONE, ODD[n % ODD.length] ?? NONE];
	for (const first of LONG ? [...THROWS, ...ODD, ...DIES, ...MORE] : [...THROWS, DIES[1], ...rarer, ...doubtful]) {
		for (const turn of LONG ? [0, 1, 2, 3] : doubtful.includes(first) ? [0, 2] : [n]) {
			const agains = [...THROWS, ...DIES, ...ODD.filter(({ times }) => times === 1)];
			const again = agains[(n + turn) % agains.length] ?? NONE;
			yield { first, again: { ...again, at: 1 + (n % 13) }, turn };
		}
	}
}

async function undisturbed(scenario: Scenario, plain: boolean): Promise<{ whole: Outcomes; calls: string[] }> {
	const world = new World(agentOf(scenario), false, 1);
	const life = new Life(scenario, world, NONE, plain);
	assert.ok(await life.live(NONE));
	return { whole: check(scenario, world, life, NONE), calls: life.faults.calls };
}

/** What goes wrong in the host after the first, if that was the host's death, is `again`. */
async function disturbed(
	scenario: Scenario,
	first: Fault,
	again: Fault,
	whole: Outcomes,
	world: World,
	plain: boolean,
) {
	for (const next of [first, again, NONE]) {
		const life = new Life(scenario, world, next, plain);
		const ended = await life.live(next);
		counts['callbacks failed'] += life.faults.failed.length;
		// Which calls are made depends a little on what comes first; a run that never came so far is undisturbed.
		if (next === first && life.faults.failed.length === 0) undisturbedRuns += 1;
		if (ended) {
			check(scenario, world, life, first, whole);
			break;
		}
		counts.kills += 1;
	}
	counts.runs += Object.keys(scenario.says).length;
}

// Half of it is waiting.
test('each callback fails', { concurrency: 4 }, async (context) => {
	mock.method(console, 'error', () => {});
	const held: string[] = [];
	const tests = Object.entries(SCENARIOS).map(([name, scenario], offset) =>
		context.test(name, async () => {
			const wholes = [await undisturbed(scenario, false), await undisturbed(scenario, true)] as const;
			for (let n = 0; n < wholes[0].calls.length; n += 1) {
				for (const { first, again, turn } of ways(n + offset, wholes[0].calls[n] ?? '')) {
					const plain = (n + turn) % 3 === 0 && first.how !== 'hangs';
					const { whole, calls } = wholes[plain ? 1 : 0];
					const at = 1 + (n % calls.length);
					const world = new World(agentOf(scenario), turn % 2 === 0, turn % 4 < 2 ? 4 : 0);
					try {
						await disturbed(scenario, { ...first, at }, again, whole, world, plain);
					} catch (error) {
						const { outlives, turnMs } = world;
						const how = { callback: calls[at - 1], first: { ...first, at }, again, outlives, turnMs, plain };
						throw new Error(JSON.stringify(how), { cause: error });
					}
				}
			}
			held.push(name);
		}),
	);
	await Promise.all(tests);
	assert.deepEqual(held.sort(), Object.keys(SCENARIOS).sort());
	assert.ok(undisturbedRuns * 100 < counts.runs, `${undisturbedRuns} of ${counts.runs} runs met no fault`);
	report('failing-host', 'node', counts);
});

/** A host in memory whose n-th callback fails, never answers, or is its death. For failing-host.test.ts. */

import { setImmediate as tick } from 'node:timers/promises';
import type { InjectReply, Observation, Run, StartTurn, TurnReport } from 'turnlatch';
import { type Finished, LocalSlots, MemoryStore, type Processes, type Timers } from 'turnlatch/driver';
import { DONE } from './hosting.js';

export const ALWAYS = 1_000_000;
/** How often a callback that fails always is called before its host is ended. */
const PATIENCE = 12;
const WORDS: Record<Says, TurnReport | null> = {
	asks: { text: 'Which file?' },
	done: { text: DONE },
	lost: null,
	works: null,
};

export type Says = 'asks' | 'done' | 'lost' | 'works';

/** What goes wrong with the `at`-th callback, and with the next calls of it. */
export interface Fault {
	readonly at: number;
	readonly how: keyof typeof THROWN | 'hangs' | 'dies';
	readonly afterWork: boolean;
	readonly times: number;
	/** Another callback that then fails before it has done its work, or all. */
	readonly also?: string;
}

/** What a callback throws, or rejects with. */
const THROWN = {
	throws: new Error('the service is down'),
	'throws nothing': undefined,
	'throws null': null,
	'throws text': 'down',
	'throws an error without a prototype': Object.create(null) as object,
};

export const kills = ({ how, times }: Fault) => !(how in THROWN) || times === ALWAYS;

const forever = () => new Promise<never>(() => {});

/** Counts one host's callbacks and lets the fault happen. */
export class Faults {
	readonly calls: string[] = [];
	readonly failed: string[] = [];
	/** Resolved when the host dies. */
	readonly death: Promise<void>;
	dead = false;
	readonly #fault: Fault;
	#resolve = () => {};

	constructor(fault: Fault) {
		this.#fault = fault;
		this.death = new Promise((resolve) => {
			this.#resolve = resolve;
		});
	}

	die(): void {
		this.dead = true;
		this.#resolve();
	}

	readonly unheard = (): Promise<never> => {
		if (this.dead) return forever();
		throw this.#thrown;
	};

	/** The part with its calls counted. */
	wrap<T extends object>(part: T, plain: boolean): T {
		return new Proxy(part, {
			get: (target, name) => {
				const method: unknown = Reflect.get(target, name);
				if (typeof method !== 'function') return method;
				const work = method.bind(target) as (...given: unknown[]) => unknown;
				return plain ? this.plainly(String(name), work) : this.awaited(String(name), work);
			},
		});
	}

	/** The same for a plain function. */
	plainly<A extends unknown[], R>(name: string, work: (...given: A) => R): (...given: A) => R {
		return (...given) => {
			const wrong = this.#goesWrong(name);
			if (wrong === 'before') this.#fail();
			const result = work(...given);
			if (wrong === 'after') this.#fail();
			return result;
		};
	}

	/** The same for one that returns a promise. */
	awaited<A extends unknown[], R>(name: string, work: (...given: A) => R): (...given: A) => Promise<R> {
		return async (...given) => {
			if (this.dead) return forever();
			const wrong = this.#goesWrong(name);
			if (wrong === 'before') {
				await tick();
				await this.#failInTime();
			}
			// Called at once: a part looks at what it has before anything else can happen.
			const result = await work(...given);
			await tick();
			if (wrong === 'after') await this.#failInTime();
			return this.dead ? forever() : result;
		};
	}

	/** Whether that is before or after its work. */
	#goesWrong(name: string): 'before' | 'after' | undefined {
		if (this.dead) throw new Error('the host is dead');
		this.calls.push(name);
		const { at, times, also, afterWork } = this.#fault;
		if (at === 0 || this.calls.length < at || this.failed.length >= times) return undefined;
		const isFirst = this.calls.length === at;
		if (!isFirst && also !== 'all' && name !== (also ?? this.calls[at - 1])) return undefined;
		this.failed.push(name);
		return afterWork && (isFirst || also === undefined) ? 'after' : 'before';
	}

	async #failInTime(): Promise<void> {
		if (this.#fault.how === 'hangs') {
			// The host is ended when nothing else goes on in it.
			for (let before = -1; before !== this.calls.length; ) {
				before = this.calls.length;
				for (let turn = 0; turn < 50; turn += 1) await tick();
			}
			this.die();
		}
		if (this.dead) return forever();
		if (this.#fault.how === 'dies') {
			this.die();
			return forever();
		}
		this.#fail();
	}

	#fail(): void {
		const { how, times } = this.#fault;
		if (!(how in THROWN) || (times === ALWAYS && this.failed.length >= PATIENCE)) this.die();
		throw this.#thrown;
	}

	get #thrown(): unknown {
		const { how } = this.#fault;
		return how in THROWN ? THROWN[how as keyof typeof THROWN] : THROWN.throws;
	}
}

interface Process {
	readonly runId: string;
	readonly sticky: boolean;
	says: Says;
	finished: Finished;
	inTurn: boolean;
	injected?: string;
}

/** Processes that say what they are told to, a moment after they began. */
export class Agents implements Processes {
	readonly processes = new Map<string, Process>();
	/** How often each turn was begun, by run, attempt and slot. */
	readonly begun = new Map<string, number>();
	readonly #world: World;

	constructor(world: World) {
		this.#world = world;
	}

	start(run: Run, effect: StartTurn, finished: Finished): void {
		const { slot_id: slotId, attempt_number: attempt } = effect;
		if (!this.processes.has(slotId)) this.#make(run, attempt, slotId, finished);
		this.attach(slotId, finished);
	}

	#make(run: Run, attempt: number, slotId: string, finished: Finished): void {
		const { runId } = run;
		this.#world.check(this.#world.slots.granted().has(slotId), `${slotId} is not held`);
		this.#world.check(![...this.processes.values()].some((other) => other.runId === runId), `${runId} runs twice`);
		const { kind } = run.plan.toJSON().interactive_profile as { kind: string };
		const sticky = kind === 'sticky_process';
		this.processes.set(slotId, { runId, sticky, says: this.#begin(runId, attempt, slotId), finished, inTurn: true });
	}

	inject(run: Run, effect: InjectReply, finished: Finished): void {
		const process = this.processes.get(effect.slot_id);
		if (process !== undefined && process.injected !== effect.id) {
			process.injected = effect.id;
			process.inTurn = true;
			process.says = this.#begin(run.runId, effect.attempt_number, effect.slot_id);
		}
		this.attach(effect.slot_id, finished);
	}

	attach(slotId: string, finished: Finished): void {
		const process = this.processes.get(slotId);
		if (process !== undefined) process.finished = finished;
		if (process?.inTurn) setTimeout(() => this.#speak(slotId, process, finished), this.#world.turnMs);
		else finished(process === undefined ? null : WORDS[process.says]);
	}

	terminate(slotId: string): void {
		this.processes.delete(slotId);
	}

	alive(): string[] {
		return [...this.processes.keys()];
	}

	#begin(runId: string, attempt: number, slotId: string): Says {
		const before = [...this.begun.keys()].filter((turn) => turn.startsWith(`${runId} ${attempt} `)).length;
		const turn = `${runId} ${attempt} ${slotId}`;
		this.begun.set(turn, (this.begun.get(turn) ?? 0) + 1);
		return this.#world.says(runId, attempt, before);
	}

	#speak(slotId: string, process: Process, finished: Finished): void {
		// Only whoever listens last is told; a host that has died is not.
		if (this.processes.get(slotId) !== process || process.finished !== finished) return;
		if (!process.inTurn || process.says === 'works' || this.#world.dead) return;
		process.inTurn = false;
		if (!process.sticky || process.says === 'lost') this.processes.delete(slotId);
		finished(WORDS[process.says]);
	}
}

/** Timers that ring when they are told to. */
export class Alarms implements Timers {
	readonly #alarms = new Map<string, { atMs: number; key: readonly [string, number]; fired: () => void }>();

	set(runId: string, interactionId: number, atMs: number, fired: () => void): void {
		this.#alarms.set(`${runId} ${interactionId}`, { atMs, key: [runId, interactionId], fired });
	}

	cancel(runId: string, interactionId: number): void {
		this.#alarms.delete(`${runId} ${interactionId}`);
	}

	pending(): (readonly [string, number])[] {
		return [...this.#alarms.values()].map(({ key }) => key);
	}

	/** Rings if it is set; `at` is told the time for which it was. */
	ring(runId: string, interactionId: number, at: (ms: number) => void): void {
		const alarm = this.#alarms.get(`${runId} ${interactionId}`);
		if (alarm === undefined) return;
		at(alarm.atMs);
		this.cancel(runId, interactionId);
		alarm.fired();
	}
}

/** What there is beside a host, and outlives it: the store, and if `outlives` says so, slots and processes. */
export class World {
	readonly store = new MemoryStore();
	readonly agents = new Agents(this);
	slots = new LocalSlots(1);
	now = 1_000_000;
	dead = false;
	stepsDone = 0;
	readonly accepted: [runId: string, reply: string][] = [];
	readonly observed = new Map<string, number>();
	readonly wrong: string[] = [];

	constructor(
		readonly says: (runId: string, attempt: number, before: number) => Says,
		readonly outlives: boolean,
		readonly turnMs: number,
	) {}

	check(holds: boolean, otherwise: string): void {
		if (!holds) this.wrong.push(otherwise);
	}

	/** The host is gone, and what lived in it. */
	die(): void {
		if (this.outlives) return;
		this.slots = new LocalSlots(1);
		this.agents.processes.clear();
	}

	/** Every step into another status, once it was saved. */
	observe({ run_id, revision, left }: Observation): void {
		const step = `${run_id} ${revision}`;
		if (left !== undefined) this.observed.set(step, (this.observed.get(step) ?? 0) + 1);
	}
}

/** Parts for one host: slots, timers and a store in memory. They work everywhere. */

import { encodeChained, Journal } from '../public.js';
import { letExit } from './host.js';
import { type Clock, RunNotFoundError, type Slots, type Store, StoreConflictError, type Timers } from './parts.js';

/** `setTimeout` takes 31 bits, and a clock may be set: looking again now and then keeps an absolute time absolute. */
const LONGEST_SLEEP_MS = 600_000;
const CLOCK_FAILED_MS = 1000;

/** At most `size` slots at a time, first come, first served. */
export class LocalSlots implements Slots {
	readonly size: number;
	readonly #granted = new Set<string>();
	/** Those who wait, in order. */
	readonly #queue = new Map<string, () => void>();

	constructor(size: number) {
		if (!Number.isInteger(size) || size < 1) throw new RangeError('at least one slot is needed');
		this.size = size;
	}

	/** Asks for a slot; a second request for it keeps the first one's place. */
	acquire(_runId: string, slotId: string, granted: () => void): void {
		if (this.#granted.has(slotId)) granted();
		else this.#queue.set(slotId, granted);
		this.#grant();
	}

	/** Counts the slot as granted, also beyond `size`: its turn runs already. New ones wait until it fits again. */
	hold(_runId: string, slotId: string): boolean {
		this.#queue.delete(slotId);
		this.#granted.add(slotId);
		return true;
	}

	/** Gives the slot back, or withdraws the request. */
	release(slotId: string): void {
		this.#granted.delete(slotId);
		this.#queue.delete(slotId);
		this.#grant();
	}

	/** Granted and requested slots. */
	held(): Set<string> {
		return new Set([...this.#granted, ...this.#queue.keys()]);
	}

	/** The slots in use. */
	granted(): Set<string> {
		return new Set(this.#granted);
	}

	#grant(): void {
		// Looked at anew each time: `granted` may ask for a slot or give one back.
		while (this.#granted.size < this.size) {
			const [next] = this.#queue;
			if (next === undefined) return;
			const [slotId, granted] = next;
			this.#queue.delete(slotId);
			this.#granted.add(slotId);
			granted();
		}
	}
}

interface Alarm {
	readonly key: readonly [string, number];
	timer: ReturnType<typeof setTimeout>;
}

/** Alarms on `setTimeout`. With `keepAlive: false` a deadline does not keep Node from exiting. */
export class LocalTimers implements Timers {
	readonly #clock: Clock;
	readonly #keepAlive: boolean;
	readonly #alarms = new Map<string, Alarm>();

	constructor({ clock = Date.now, keepAlive = true }: { clock?: Clock; keepAlive?: boolean } = {}) {
		this.#clock = clock;
		this.#keepAlive = keepAlive;
	}

	/** Calls `fired` when the clock shows `atMs`; replaces the question's earlier alarm. */
	set(runId: string, interactionId: number, atMs: number, fired: () => void): void {
		this.cancel(runId, interactionId);
		const key = [runId, interactionId] as const;
		const look = () => {
			try {
				const left = this.#left(atMs);
				if (!(left <= 0)) {
					alarm.timer = this.#sleep(left, look);
					return;
				}
			} catch (error) {
				// Thrown, it would end Node. The alarm must not be lost with it.
				console.error('turnlatch: the clock of LocalTimers failed:', error);
				alarm.timer = this.#sleep(CLOCK_FAILED_MS, look);
				return;
			}
			this.#alarms.delete(JSON.stringify(key));
			fired();
		};
		const alarm: Alarm = { key, timer: this.#sleep(this.#left(atMs), look) };
		this.#alarms.set(JSON.stringify(key), alarm);
	}

	/** Forgets the question's alarm. */
	cancel(runId: string, interactionId: number): void {
		const key = JSON.stringify([runId, interactionId]);
		clearTimeout(this.#alarms.get(key)?.timer);
		this.#alarms.delete(key);
	}

	/** Every alarm that is set. */
	pending(): (readonly [string, number])[] {
		return [...this.#alarms.values()].map(({ key }) => key);
	}

	#left(atMs: number): number {
		return atMs - this.#clock();
	}

	#sleep(left: number, look: () => void): ReturnType<typeof setTimeout> {
		// The shortest sleep before the time is a millisecond: a clock that stands still must not spin the loop.
		const timer = setTimeout(look, left <= 0 ? 0 : Math.max(1, Math.min(left, LONGEST_SLEEP_MS)));
		if (!this.#keepAlive) letExit(timer);
		return timer;
	}
}

interface Kept {
	snapshot: string;
	revision: number;
	ended: boolean;
	readonly entries: string[];
	readonly begun: Set<string>;
}

/** Keeps runs as long as the object lives: for tests, and for hosts whose runs may die with them. */
export class MemoryStore implements Store {
	readonly #runs = new Map<string, Kept>();

	create(runId: string, snapshot: string, entry: string): void {
		if (this.#runs.has(runId)) throw new StoreConflictError('RUN_EXISTS', `there is a run ${runId} already`);
		this.#runs.set(runId, { snapshot, revision: 1, ended: false, entries: [entry], begun: new Set() });
	}

	save(runId: string, expectedRevision: number, snapshot: string, entry: string, ended: boolean): void {
		const kept = this.#of(runId);
		if (kept.revision !== expectedRevision) {
			const message = `expected revision ${expectedRevision}, found ${kept.revision}`;
			throw new StoreConflictError('STORE_CONFLICT', message);
		}
		Object.assign(kept, { snapshot, revision: expectedRevision + 1, ended });
		kept.entries.push(entry);
	}

	load(runId: string): string {
		return this.#of(runId).snapshot;
	}

	unfinished(): string[] {
		return [...this.#runs].filter(([, kept]) => !kept.ended).map(([runId]) => runId);
	}

	markBegun(runId: string, effectId: string): void {
		this.#of(runId).begun.add(effectId);
	}

	wasBegun(runId: string, effectId: string): boolean {
		return this.#of(runId).begun.has(effectId);
	}

	journal(runId: string): Journal {
		const lines: string[] = [];
		for (const entry of this.#of(runId).entries) lines.push(encodeChained(entry, runId, lines.at(-1)));
		return Journal.fromLines(runId, lines);
	}

	#of(runId: string): Kept {
		const kept = this.#runs.get(runId);
		if (kept === undefined) throw new RunNotFoundError(runId);
		return kept;
	}
}

/** What a host still has of an earlier life, and giving back what no run keeps (HOST-9). */

import { type Run, runOfSlot } from '../public.js';
import type { Host } from './host.js';
import type { Live } from './live.js';

/** Processes and slots by the slot's id, alarms by run and question. */
export class Belongings {
	readonly #processes: Set<string>;
	readonly #slots: Set<string>;
	readonly #timers: Map<string, readonly [string, number]>;

	private constructor(
		processes: Iterable<string>,
		slots: Iterable<string>,
		timers: Iterable<readonly [string, number]>,
	) {
		this.#processes = new Set(processes);
		this.#slots = new Set(slots);
		this.#timers = new Map([...timers].map((timer) => [JSON.stringify(timer), timer]));
	}

	/** Everything there is. Read it before the runs: what comes later belongs to a run that is known by then. */
	static async of({ processes, slots, timers }: Host): Promise<Belongings> {
		return new Belongings(await processes.alive(), await slots.held(), await timers.pending());
	}

	/** What of it is of this run. */
	onlyOf(runId: string): Belongings {
		const isOfRun = (slotId: string) => runOfSlot(slotId) === runId;
		const timers = [...this.#timers.values()].filter(([of]) => of === runId);
		return new Belongings([...this.#processes].filter(isOfRun), [...this.#slots].filter(isOfRun), timers);
	}

	/** Takes out what the run may keep. */
	leaveTo(run: Run): void {
		const { process, slot_id, timer } = run.outstanding().keep;
		if (process !== undefined) this.#processes.delete(process);
		if (slot_id !== undefined) this.#slots.delete(slot_id);
		if (timer !== undefined) this.#timers.delete(JSON.stringify([run.runId, timer]));
	}

	/** Ends and gives back what is left. A run that could not be read may still want what it has. */
	async giveBack(host: Host, unread: ReadonlySet<string>): Promise<void> {
		for (const slotId of new Set([...this.#processes, ...this.#slots])) {
			const runId = runOfSlot(slotId) ?? '';
			if (unread.has(runId)) continue;
			const ended = !this.#processes.has(slotId) || (await host.attempt(runId, () => host.processes.terminate(slotId)));
			// The slot of a process that does not end is kept.
			if (ended) await host.attempt(runId, () => host.slots.release(slotId));
		}
		for (const [runId, interactionId] of this.#timers.values()) {
			if (!unread.has(runId)) await host.attempt(runId, () => host.timers.cancel(runId, interactionId));
		}
	}
}

/** Holds the slots again that runs held before. The ids of the runs whose slot somebody else has by now. */
export async function holdSlots(host: Host, lives: Iterable<Live>): Promise<Set<string>> {
	const lost = new Set<string>();
	for (const { run, runId } of lives) {
		const held = run.outstanding().keep.process;
		if (held === undefined) continue;
		await host.attempt(runId, async () => {
			if (!(await host.slots.hold(runId, held))) lost.add(runId);
		});
	}
	return lost;
}

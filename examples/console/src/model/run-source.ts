/** What a run's page shows, wherever the run comes from: a service, or a file. */

import type { ReadonlySignal } from '@preact/signals';
import type { Explanation, Json, Plan, Receipt, Run, TimelineEntry } from 'turnlatch';

export interface RunSource {
	readonly run: ReadonlySignal<Run>;
	/** Everything that happened, oldest first; none where a file holds a single moment. */
	readonly steps: ReadonlySignal<readonly TimelineEntry[]>;
	/** The time at which the page looks at the run. */
	readonly now: ReadonlySignal<number>;
	/** The run's plan and the texts of its journal; absent where a file has none. */
	readonly record?: () => Promise<RunRecord>;
	/** How requests are sent; absent in a file, where they can only be tried. */
	readonly requests?: Requests;
}

export interface RunRecord {
	plan: Plan;
	lines: readonly string[];
}

export interface Requests {
	reply(interactionId: number, response: Json, key: string): Promise<Receipt>;
	cancel(reason: string): Promise<Receipt>;
}

/** What would become of a reply with this key: the core is asked, on a copy. */
export function predictReply(run: Run, interactionId: number, response: Json, key: string, now: number): Receipt {
	const copy = run.copy();
	try {
		return copy.reply(interactionId, response, now, { idempotency_key: key }).receipt;
	} finally {
		copy.free();
	}
}

/** Where the run would be if nobody answered until the deadline, and why. */
export function afterDeadline(run: Run, interactionId: number, deadline: number): Explanation {
	const copy = run.copy();
	try {
		copy.apply({ type: 'timer_fired', interaction_id: interactionId }, deadline);
		return copy.explain();
	} finally {
		copy.free();
	}
}

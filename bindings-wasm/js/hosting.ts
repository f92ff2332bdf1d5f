/** What hosts ask. */

import * as glue from 'turnlatch-glue';
import { call } from './instance.js';
import { encode } from './json.js';
import type { TurnFinished } from './types.js';

/** What to report of a turn that has ended, but whose report cannot be read. */
export function unreadableReport(attemptNumber: number, slotId: string): TurnFinished {
	return JSON.parse(call(() => glue.unreadable_report(attemptNumber, slotId)));
}

/** A transition's `entry` without a turn's text: its digest and the recorded evaluation instead. Other entries stay as they are. */
export function compactEntry(entry: string): string {
	const bytes = encode(entry);
	return call(() => glue.compact_entry(bytes));
}

/** A transition's `entry` chained to the line before it: the next line of the run's journal. */
export function encodeChained(entry: string, runId: string, previous?: string): string {
	const before = previous === undefined ? undefined : encode(previous);
	const [bytes, id] = [encode(entry), encode(runId)];
	return call(() => glue.encode_chained(bytes, id, before));
}

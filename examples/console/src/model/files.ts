/** Files that people open or drop: a run's record, its snapshot, or its journal. */

import { Journal, LoadError, Run, readRecord, TurnlatchError } from 'turnlatch';
import { Recording } from './recording.js';
import type { RunRecord } from './run-source.js';

/** A file that was read. A journal alone waits for the snapshot that holds its run's plan. */
export type Opened =
	| { kind: 'recording'; recording: Recording }
	| { kind: 'snapshot'; run: Run }
	| { kind: 'journal'; journal: Journal };

/** Why a file cannot be shown. */
export interface Unreadable {
	code: string;
	message: string;
	place?: string;
}

export function recordOf(text: string): RunRecord {
	const [plan, journal] = readRecord(text);
	return { plan, lines: journal.lines() };
}

/** Reads a file by what stands in it; its name says nothing. Throws what {@link unreadable} explains. */
export function readFile(text: string): Opened {
	switch (shapeOf(text)) {
		case 'record':
			return { kind: 'recording', recording: new Recording(recordOf(text)) };
		case 'journal':
			return { kind: 'journal', journal: Journal.fromJson(text) };
		default:
			return { kind: 'snapshot', run: Run.fromJson(text) };
	}
}

/** Puts a journal and the snapshot of the same run together. */
export function joined(journal: Journal, run: Run): Recording {
	return new Recording({ plan: run.plan, lines: journal.lines() });
}

export function unreadable(error: unknown): Unreadable {
	if (error instanceof LoadError) return { code: error.code, message: error.message, place: error.details.place };
	if (error instanceof TurnlatchError) return { code: error.code, message: error.message };
	if (error instanceof SyntaxError) return { code: 'NOT_JSON', message: 'the file is not JSON' };
	return { code: 'NOT_READ', message: error instanceof Error ? error.message : String(error) };
}

/** Which reader a document is for, so that its complaint is about the right thing; the readers do the checking. */
function shapeOf(text: string): 'record' | 'journal' | 'snapshot' {
	const document: unknown = JSON.parse(text);
	const has = (key: string): boolean =>
		typeof document === 'object' && document !== null && Object.hasOwn(document, key);
	if (!has('entries')) return 'snapshot';
	return has('plan') ? 'record' : 'journal';
}

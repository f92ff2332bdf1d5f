/** Files that people open or drop: a run's record, its snapshot, or its journal. */

import type { Journal, Run, TurnlatchError } from 'turnlatch';
import type { FullCore } from './full-core.js';
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

export function recordOf(core: FullCore, text: string): RunRecord {
	const [plan, journal] = core.importRun(text);
	return { plan, lines: journal.lines() };
}

/** Reads a file by what stands in it; its name says nothing. Throws what {@link unreadable} explains. */
export function readFile(core: FullCore, text: string): Opened {
	switch (shapeOf(text)) {
		case 'record':
			return { kind: 'recording', recording: new Recording(core, recordOf(core, text)) };
		case 'journal':
			return { kind: 'journal', journal: core.Journal.restore(text) };
		default:
			return { kind: 'snapshot', run: core.Run.restore(text) };
	}
}

/** Puts a journal and the snapshot of the same run together. */
export function joined(core: FullCore, journal: Journal, run: Run): Recording {
	return new Recording(core, { plan: run.plan, lines: journal.lines() });
}

export function unreadable(error: unknown): Unreadable {
	if (error instanceof Error && 'code' in error) {
		const { code, message, path } = error as TurnlatchError;
		return path === undefined ? { code, message } : { code, message, place: path };
	}
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

/** The files that are open in the page. */

import { signal } from '@preact/signals';
import type { Journal, Run } from 'turnlatch';
import { joined, type Opened, readFile, type Unreadable, unreadable } from './files.js';
import { type FullCore, fullCore } from './full-core.js';
import type { Recording } from './recording.js';

export type Shown =
	| { kind: 'recording'; name: string; recording: Recording }
	| { kind: 'snapshot'; name: string; run: Run };

export const shown = signal<Shown | undefined>(undefined);
/** A journal that waits for the snapshot of its run. */
export const waiting = signal<{ name: string; journal: Journal } | undefined>(undefined);
export const problem = signal<({ name: string } & Unreadable) | undefined>(undefined);

const LARGEST_FILE = 256 * 2 ** 20;

export async function openFiles(files: Iterable<File>): Promise<void> {
	for (const file of files) {
		if (file.size > LARGEST_FILE) {
			problem.value = { name: file.name, code: 'FILE_TOO_LARGE', message: 'the file is larger than 256 MiB' };
			return;
		}
		await openText(file.name, await file.text());
	}
}

/** Shows a file, or says why it cannot be shown; then what was shown before stays. */
export async function openText(name: string, text: string): Promise<void> {
	try {
		const core = await fullCore();
		take(core, name, readFile(core, text));
		problem.value = undefined;
	} catch (error) {
		problem.value = { name, ...unreadable(error) };
	}
}

function take(core: FullCore, name: string, opened: Opened): void {
	if (opened.kind === 'recording') {
		shown.value = { kind: 'recording', name, recording: opened.recording };
		return;
	}
	const run = opened.kind === 'snapshot' ? opened.run : shownSnapshot();
	const journal = opened.kind === 'journal' ? opened.journal : waiting.value?.journal;
	if (run !== undefined && journal?.runId === run.runId) {
		shown.value = { kind: 'recording', name, recording: joined(core, journal, run) };
		waiting.value = undefined;
	} else if (opened.kind === 'journal') {
		waiting.value = { name, journal: opened.journal };
	} else {
		shown.value = { kind: 'snapshot', name, run: opened.run };
	}
}

function shownSnapshot(): Run | undefined {
	return shown.value?.kind === 'snapshot' ? shown.value.run : undefined;
}

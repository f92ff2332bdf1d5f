/** What an agent printed, as the report of its turn. */

import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plan, TurnReport } from 'turnlatch';
import type { Engine } from './engines.js';
import { isIn } from './paths.js';

// A handle goes into a command line, so it must not look like an option of the agent's.
const HANDLE = /^[A-Za-z0-9][!-~]{0,4095}$/;

/** What of a plan says how reports are read. */
interface Settings {
	readonly limits: { readonly turn_text_bytes: number };
	readonly required_artifacts: readonly string[];
}

/** The runner's report with the text read as the engine writes it, and the artifacts that are there. */
export function readReport(engine: Engine, plan: Plan, work: string, report: TurnReport): TurnReport {
	const { limits, required_artifacts } = plan.toData() as unknown as Settings;
	const { text, ...rest } = report;
	// What is over the limit is handed on as it is: the core says OUTPUT_TOO_LARGE and reads none of it.
	const isRead = engine.speaksMessages && text !== undefined && Buffer.byteLength(text) <= limits.turn_text_bytes;
	const read = isRead ? { ...rest, ...readMessages(text) } : report;
	const artifacts = required_artifacts.filter((path) => isThere(work, path));
	return artifacts.length > 0 ? { ...read, artifacts } : read;
}

/** JSON lines as messages. A line that is not one of ours is a tool's: it must never count as the assistant's. */
export function readMessages(text: string): TurnReport {
	const messages: { role: string; text: string }[] = [];
	const report: TurnReport = { messages };
	for (const line of text.split('\n')) {
		if (/^[ \t\r]*$/.test(line)) continue;
		const { role, text: words, session_handle: handle } = objectIn(line);
		const isHandle = typeof handle === 'string' && HANDLE.test(handle);
		if (isHandle) report.session_handle = handle;
		if (typeof role === 'string' && typeof words === 'string') messages.push({ role, text: words });
		else if (!isHandle) messages.push({ role: 'tool', text: line });
	}
	return report;
}

function objectIn(line: string): Record<string, unknown> {
	try {
		const value: unknown = JSON.parse(line);
		return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
	} catch {
		return {};
	}
}

function isThere(work: string, path: string): boolean {
	try {
		const found = realpathSync(resolve(work, path));
		return isIn(realpathSync(work), found) && statSync(found).isFile();
	} catch {
		return false;
	}
}

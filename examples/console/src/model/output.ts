/**
 * Finds the output that a decision was about in the turn's text, to show violations at their place. Which text it is
 * gets decided by the core alone: a candidate counts only if the core says of it what it said of the turn.
 */

import type { Decision, Plan } from 'turnlatch';
import type { FullCore } from './full-core.js';

/** The members of a journal's `turn_finished` that can hold an output. */
interface Turn {
	type: string;
	output?: unknown;
	text?: string;
	messages?: { role: string; text: string }[];
}

const MOST_CANDIDATES = 64;
const LONGEST_TEXT = 2 ** 20;

/** The JSON text of a turn's output, or undefined if there is none or the journal does not keep it. */
export function outputText(core: FullCore, plan: Plan, line: string, decision: Decision): string | undefined {
	const { event } = JSON.parse(line) as { event: Turn };
	if (event.output !== undefined) return JSON.stringify(event.output);
	const wanted = fingerprint(decision);
	return candidates(textsOf(event)).find((candidate) => {
		const found = core.evaluateTurn(plan, { text: candidate }).decision;
		return found.evidence.source === 'whole_text' && fingerprint(found) === wanted;
	});
}

function fingerprint({ evidence }: Decision): string {
	return JSON.stringify([evidence.output, evidence.violations ?? []]);
}

function textsOf({ text, messages }: Turn): string[] {
	if (text !== undefined) return [text];
	return (messages ?? []).filter(({ role }) => role === 'assistant').map((message) => message.text);
}

/** What could be the output, the last first. */
function candidates(texts: readonly string[]): string[] {
	const found = texts
		.filter((text) => text.length <= LONGEST_TEXT)
		.flatMap((text) => [...bracketed(text), ...fenced(text), text.trim()]);
	return found.slice(-MOST_CANDIDATES).reverse();
}

function fenced(text: string): string[] {
	return [...text.matchAll(/^ {0,3}(```+|~~~+)[^\n]*\n([\s\S]*?)\n {0,3}\1/gm)].map((match) => (match[2] ?? '').trim());
}

/** The outermost `{…}` of a text, in one pass; braces inside JSON strings do not count. */
function bracketed(text: string): string[] {
	const found: string[] = [];
	let depth = 0;
	let start = 0;
	let quoted = false;
	for (let at = 0; at < text.length; at += 1) {
		const character = text[at];
		if (quoted) {
			if (character === '\\') at += 1;
			else if (character === '"') quoted = false;
		} else if (character === '"') {
			quoted = depth > 0;
		} else if (character === '{') {
			if (depth === 0) start = at;
			depth += 1;
		} else if (character === '}' && depth > 0) {
			depth -= 1;
			if (depth === 0) found.push(text.slice(start, at + 1));
		}
	}
	return found;
}

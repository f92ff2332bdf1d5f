/** What the core tells of a step, as text that may be read later. Node's build has a file of its own (`node-told.ts`). */

import { askCore } from './desk.js';
import type { Handle } from './instance.js';
import { joinJudged, learnDecision } from './judged.js';

export function askStep(work: () => number, about?: Handle): string {
	const text = askCore(work, about);
	learnDecision(about);
	return text;
}

/** A part of it, when somebody reads it. */
export function decoded(text: string): string {
	return text;
}

/** The part about how a turn was judged, as JSON text. */
export function judgedText(text: string): string {
	return joinJudged(text, decoded);
}

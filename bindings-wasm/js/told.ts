/** What the core tells of a step, as text that may be read later. Node's build has a file of its own (`node-told.ts`). */

export { askCore as askStep } from './desk.js';

/** A part of it, when somebody reads it. */
export function decoded(text: string): string {
	return text;
}

/** The part about how a turn was judged, as JSON text. */
export function judgedText(text: string): string {
	return text;
}

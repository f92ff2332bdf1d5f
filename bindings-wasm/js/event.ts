/** Events as the core takes them: JSON text and, beside it, the one long text of a turn. */

import { encode, eventText } from './input.js';
import { isPlain, isWellFormed } from './json.js';

export interface EncodedEvent {
	/** JSON text. */
	readonly json: Uint8Array;
	/** A turn's text that is not in it, because it would be escaped only to be read back. */
	readonly text?: Uint8Array;
}

/** A shorter text is cheaper as a part of the JSON text. */
const LONG = 1024;
/** What a turn may have instead of a text. If it has both, the core has to see the whole of it. */
const OTHER_CONTENT = ['output', 'messages', 'stream'];

/** An event given as data. */
export function encodeEvent(event: unknown): EncodedEvent {
	try {
		const encoded = encodeLongTurn(event);
		if (encoded !== undefined) return encoded;
	} catch {
		// Written as a whole, it says what is wrong.
	}
	return { json: encode(eventText(event)) };
}

function encodeLongTurn(event: unknown): EncodedEvent | undefined {
	if (typeof event !== 'object' || event === null || !isPlain(event) || !Object.hasOwn(event, 'text')) return undefined;
	const { text, ...rest } = event as { readonly [name: string]: unknown };
	if (rest.type !== 'turn_finished' || typeof text !== 'string' || text.length < LONG) return undefined;
	if (!isWellFormed(text) || OTHER_CONTENT.some((name) => Object.hasOwn(rest, name))) return undefined;
	return { json: encode(eventText(rest)), text: encode(text) };
}

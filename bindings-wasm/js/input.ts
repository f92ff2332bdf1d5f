/** What callers hand in, as what the compiled core takes: bytes of text, and times as numbers. */

import { malformed } from './errors.js';
import { escapeHalfPairs, type Faults, writeJson } from './json.js';
import type { Schema, Time } from './types.js';

const encoder = new TextEncoder();

/** A text as bytes. */
export function encode(text: string): Uint8Array {
	if (typeof text !== 'string') throw new TypeError(`expected a text, found ${typeof text}`);
	return encoder.encode(escapeHalfPairs(text));
}

/** Events have to be JSON data through and through; where they are not, the place is a JSON pointer. */
const EVENT_FAULTS: Faults = {
	number: (_value, place) => {
		throw malformed(`a number is not finite${at(place)}`);
	},
	text: (_value, place) => {
		throw malformed(`a text has half of a surrogate pair${at(place)}`);
	},
	deep: (place) => {
		throw malformed(`the data is nested too deep, or contains itself${at(place)}`);
	},
	foreign: (found, place) => {
		throw malformed(`expected JSON data, found ${found}${at(place)}`);
	},
};

/** What is wrong with a document's data, the core finds in its text and says by its own code. */
const DOCUMENT_FAULTS: Faults = {
	number: (value) => String(value),
	text: (value) => JSON.stringify(value),
	deep: () => '[]',
	foreign: (found, place) => {
		throw new TypeError(`expected JSON data, found ${found}${at(place)}`);
	},
};

function at(place: string): string {
	return ` at ${place === '' ? 'the top' : escapeHalfPairs(place)}`;
}

/** An event's JSON text. */
export function eventText(event: unknown): string {
	try {
		return writeJson(event, EVENT_FAULTS);
	} catch (error) {
		// A getter or a proxy of somebody's own may throw anything.
		throw error instanceof Error && 'code' in error && error.code === 'EVENT_MALFORMED'
			? error
			: malformed('the data cannot be read', error);
	}
}

/** A document's text: the text itself, or that of its data, written as the core writes it. */
export function documentText(document: unknown): string {
	return typeof document === 'string' ? document : writeJson(document, DOCUMENT_FAULTS);
}

export function optionalDocument(document: Schema | undefined): Uint8Array | undefined {
	return document === undefined ? undefined : encode(documentText(document));
}

/** Milliseconds since the epoch; NaN for what is no time, which the core then rejects. */
export function millis(now: Time): number {
	if (typeof now === 'number') return now;
	if (typeof now === 'bigint') return Number(now);
	return now instanceof Date ? now.getTime() : Number.NaN;
}

/** What a step hands to the core and what it is told, by memory that both see (`src/desk.rs`). */

import * as glue from 'turnlatch-glue';
import { toldError } from './errors.js';
import { call, currentGeneration, type Handle, memory } from './instance.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
/** As many bytes as the core always has for us. A character takes three at most. */
const ROOM_BYTES = 16 * 1024;

interface Views {
	readonly bytes: Uint8Array;
	readonly numbers: Float64Array;
	readonly room: Uint8Array;
}

/** The memory as it is now. When it grows it becomes another one, and what is seen of the old one is empty. */
let views: Views | undefined;
let generation = -1;

/** Lays a text down for the next call, and answers with its length in bytes. It has no half of a surrogate pair. */
export function lay(head: string, words: string): number {
	if (3 * (head.length + words.length) > ROOM_BYTES) return layLong(head, words);
	return encoder.encodeInto(head + words, viewsOfNow().room).written;
}

/** Nearly all long texts have a byte for each character; only for others more room is asked for. */
function layLong(head: string, words: string): number {
	let [size, written] = [head.length + words.length, 0];
	for (const [text, later] of [
		[head, words.length],
		[words, 0],
	] as const) {
		let rest = text;
		while (rest !== '') {
			const at = call(() => glue.desk_room(size));
			const step = encoder.encodeInto(rest, new Uint8Array(memory().buffer, at + written, size - written));
			written += step.written;
			rest = rest.slice(step.read);
			if (rest !== '') size = written + 3 * rest.length + later;
		}
	}
	// The core gives so much room back once it has read the text.
	views = undefined;
	return written;
}

/** The text that the core tells, or the error that it tells instead. */
export function askCore(work: () => number, about?: Handle): string {
	const length = call(work, about);
	const at = call(() => glue.desk_told());
	const text = decoder.decode(viewsOfNow().bytes.subarray(at, at + Math.abs(length)));
	if (length < 0) throw toldError(text);
	return text;
}

/** The numbers that it told with the text, until the next call. */
export function toldNumbers(): Float64Array {
	return viewsOfNow().numbers;
}

function viewsOfNow(): Views {
	const now = currentGeneration();
	if (views === undefined || views.bytes.byteLength === 0 || generation !== now) {
		const [roomAt, numbersAt] = [call(() => glue.desk_room(ROOM_BYTES)), call(() => glue.desk_numbers())];
		const { buffer } = memory();
		generation = now;
		views = {
			bytes: new Uint8Array(buffer),
			numbers: new Float64Array(buffer, numbersAt, 64),
			room: new Uint8Array(buffer, roomAt, ROOM_BYTES),
		};
	}
	return views;
}

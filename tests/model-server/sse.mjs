// Server-sent events: how every one of the APIs streams.
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * @typedef {object} Frame
 * @property {string} text
 * @property {boolean} piece whether it carries a piece of the assistant's text
 * @property {boolean} closing whether it belongs to the end of the reply
 */

/** Without this pause the client sees the broken connection before the words that came over it. */
const PAUSE_BEFORE_DROP_MS = 300;

class DroppedOnPurpose extends Error {}

/**
 * @param {unknown} data
 * @param {{ event?: string, piece?: boolean, closing?: boolean }} [options]
 * @returns {Frame}
 */
export function frame(data, { event, piece = false, closing = false } = {}) {
	const name = event === undefined ? '' : `event: ${event}\n`;
	return { text: `${name}data: ${typeof data === 'string' ? data : jsonLine(data)}\n\n`, piece, closing };
}

/** Some readers take these two characters for line ends, which would cut the data in two. */
function jsonLine(data) {
	return JSON.stringify(data).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

/**
 * What goes over the wire, in order; ends with an error, and so with a broken connection, where the script says `drop`.
 *
 * @param {Iterable<Frame>} frames
 * @param {import('./script.mjs').Step['drop']} drop
 */
export async function* onTheWire(frames, drop) {
	for (const { text } of drop === undefined ? frames : cutOff([...frames], drop)) yield text;
	if (drop !== undefined) {
		await sleep(PAUSE_BEFORE_DROP_MS);
		throw new DroppedOnPurpose();
	}
}

function cutOff(frames, drop) {
	if (drop !== 'midway') return frames.filter((one) => !one.closing);
	const half = Math.ceil(frames.filter((one) => one.piece).length / 2);
	let pieces = 0;
	const lastOfHalf = frames.findIndex((one) => one.piece && ++pieces === half);
	return frames.slice(0, lastOfHalf + 1);
}

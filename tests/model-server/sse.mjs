// Server-sent events: how every one of the APIs streams.
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * @typedef {{ text: string, closing: boolean }} Frame a closing frame is one that a broken-off reply lacks
 */

/** Without this pause the client sees the broken connection before the words that came over it. */
const PAUSE_BEFORE_DROP_MS = 300;

class DroppedOnPurpose extends Error {}

/**
 * @param {unknown} data
 * @param {{ event?: string, closing?: boolean }} [options]
 * @returns {Frame}
 */
export function frame(data, { event, closing = false } = {}) {
	const name = event === undefined ? '' : `event: ${event}\n`;
	return { text: `${name}data: ${typeof data === 'string' ? data : jsonLine(data)}\n\n`, closing };
}

/** Some readers take these two characters for line ends, which would cut the data in two. */
function jsonLine(data) {
	return JSON.stringify(data).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

/**
 * What goes over the wire, in order; ends with an error, and so with a broken connection, where the script says `drop`.
 *
 * @param {Iterable<Frame>} frames
 * @param {boolean} drop
 */
export async function* onTheWire(frames, drop) {
	for (const one of frames) {
		if (!(drop && one.closing)) yield one.text;
	}
	if (drop) {
		await sleep(PAUSE_BEFORE_DROP_MS);
		throw new DroppedOnPurpose();
	}
}

// Reading what an agent sent. Everything in it is somebody else's, so each place says what it expects.

/** The request cannot be understood; the message says where. */
export class BadRequest extends Error {}

const MOST_BYTES = 64 * 1024 * 1024;

/**
 * @param {import('node:http').IncomingMessage} request
 * @returns {Promise<Record<string, unknown>>}
 */
export async function readBody(request) {
	const parts = [];
	let size = 0;
	// What is too long is still read to its end: to stop reading is to close the connection without an answer.
	for await (const part of request) {
		size += part.length;
		if (size <= MOST_BYTES) parts.push(part);
	}
	if (size > MOST_BYTES) throw new BadRequest(`the body is longer than ${MOST_BYTES} bytes`);
	let body;
	try {
		body = JSON.parse(Buffer.concat(parts).toString('utf8'));
	} catch {
		throw new BadRequest('the body is not JSON');
	}
	return objectAt(body, 'the body');
}

/** @returns {Record<string, unknown>} */
export function objectAt(value, where) {
	if (typeof value !== 'object' || value === null || Array.isArray(value))
		throw new BadRequest(`${where} must be an object`);
	return value;
}

/** The objects of a list; a list that is left out is empty. @returns {Record<string, unknown>[]} */
export function objectsAt(value, where) {
	if (value === undefined || value === null) return [];
	if (!Array.isArray(value)) throw new BadRequest(`${where} must be a list`);
	return value.map((item, index) => objectAt(item, `${where}[${index}]`));
}

/**
 * The text of a message's content, which is a text or a list of parts; other parts (images, tool results) are no text.
 *
 * @param {unknown} content
 * @param {string} where
 * @returns {string}
 */
export function textOf(content, where) {
	if (typeof content === 'string') return content;
	return objectsAt(content, where)
		.map((part) => part.text)
		.filter((text) => typeof text === 'string')
		.join('\n');
}

/**
 * What the user said last. A message with tool results alone is the agent's, not the user's.
 *
 * @param {{ role: unknown, content: unknown }[]} messages
 * @param {string} where
 */
export function lastUserText(messages, where) {
	const said = messages.filter((message) => message.role === 'user').map((message) => textOf(message.content, where));
	return said.findLast((text) => text !== '') ?? '';
}

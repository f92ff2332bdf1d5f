// The model APIs that the server speaks, and the small questions that agents ask beside them.
import { chat } from './chat.mjs';
import { gemini } from './gemini.mjs';
import { messages } from './messages.mjs';
import { responses } from './responses.mjs';

/**
 * @typedef {object} ModelApi
 * @property {string} name
 * @property {(path: string) => boolean} recognises whether a request to this path is one for an answer
 * @property {(path: string, body: Record<string, unknown>) => string} model
 * @property {(path: string, body: Record<string, unknown>) => boolean} streams
 * @property {(body: Record<string, unknown>) => import('../answer.mjs').OfferedTool[]} tools
 * @property {(body: Record<string, unknown>) => string} lastUserText
 * @property {(status: number, message: string) => object} error an error in this API's own form
 * @property {(answer: import('../answer.mjs').Answer) => object} whole the answer to a request that does not stream
 * @property {(answer: import('../answer.mjs').Answer) => Iterable<import('../sse.mjs').Frame>} frames
 */

/** @type {ModelApi[]} */
const APIS = [responses, chat, messages, gemini];

/** @returns {ModelApi | undefined} */
export function apiFor(path) {
	return APIS.find((api) => api.recognises(path));
}

/**
 * What agents look up before or beside their requests for an answer; undefined if it is none of that.
 *
 * @param {string} method
 * @param {string} path
 * @returns {object | undefined}
 */
export function probe(method, path) {
	if (method === 'HEAD') return {};
	if (method === 'GET' && path.endsWith('/models')) {
		return { object: 'list', data: [{ id: 'mock', object: 'model', created: 1_700_000_000, owned_by: 'mock' }] };
	}
	if (method === 'POST' && path.endsWith('/count_tokens')) return { input_tokens: 10 };
	if (method === 'POST' && path.endsWith(':countTokens')) return { totalTokens: 10 };
	return undefined;
}

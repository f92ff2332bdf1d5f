// Anthropic Messages.
import { pieces } from '../answer.mjs';
import { lastUserText, objectsAt } from '../request-body.mjs';
import { frame } from '../sse.mjs';

const ERROR_TYPES = {
	401: 'authentication_error',
	403: 'permission_error',
	404: 'not_found_error',
	429: 'rate_limit_error',
	529: 'overloaded_error',
};

/** @type {import('./index.mjs').ModelApi} */
export const messages = {
	name: 'anthropic-messages',
	recognises: (path) => path.endsWith('/messages'),
	model: (_path, body) => String(body.model ?? 'mock'),
	streams: (_path, body) => body.stream === true,
	tools: (body) =>
		objectsAt(body.tools, 'tools').map((tool) => ({ name: String(tool.name), parameters: tool.input_schema })),
	lastUserText: (body) => lastUserText(objectsAt(body.messages, 'messages'), 'messages[].content'),

	error(status, message) {
		const type = ERROR_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
		return { type: 'error', error: { type, message } };
	},

	whole: (answer) => ({
		...message(answer),
		content: blocks(answer).map(({ whole }) => whole),
		stop_reason: stopReason(answer),
		usage: { input_tokens: 10, output_tokens: 10 },
	}),

	*frames(answer) {
		const event = (type, data, marks = {}) => frame({ type, ...data }, { event: type, ...marks });

		yield event('message_start', { message: message(answer) });
		yield event('ping', {});
		for (const [index, { begun, deltas }] of blocks(answer).entries()) {
			yield event('content_block_start', { index, content_block: begun });
			for (const delta of deltas) {
				yield event('content_block_delta', { index, delta }, { piece: delta.type === 'text_delta' });
			}
			yield event('content_block_stop', { index });
		}
		const delta = { stop_reason: stopReason(answer), stop_sequence: null };
		yield event('message_delta', { delta, usage: { output_tokens: 10 } }, { closing: true });
		yield event('message_stop', {}, { closing: true });
	},
};

function message({ id, model }) {
	const usage = { input_tokens: 10, output_tokens: 1 };
	return {
		id: `msg_${id}`,
		type: 'message',
		role: 'assistant',
		model,
		content: [],
		stop_reason: null,
		stop_sequence: null,
		usage,
	};
}

/** Each block of the content: whole, as it begins in a stream, and what is added to it there. */
function blocks({ reasoning, text, tool, chunk }) {
	const list = [];
	if (reasoning !== '') {
		const signature = 'c2lnbmF0dXJl';
		const deltas = pieces(reasoning, chunk).map((thinking) => ({ type: 'thinking_delta', thinking }));
		list.push({
			whole: { type: 'thinking', thinking: reasoning, signature },
			begun: { type: 'thinking', thinking: '', signature: '' },
			deltas: [...deltas, { type: 'signature_delta', signature }],
		});
	}
	if (text !== '') {
		list.push({
			whole: { type: 'text', text },
			begun: { type: 'text', text: '' },
			deltas: pieces(text, chunk).map((piece) => ({ type: 'text_delta', text: piece })),
		});
	}
	if (tool !== null) {
		const use = { type: 'tool_use', id: `toolu_${tool.id}`, name: tool.name };
		list.push({
			whole: { ...use, input: tool.arguments },
			begun: { ...use, input: {} },
			deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(tool.arguments) }],
		});
	}
	return list;
}

function stopReason({ tool }) {
	return tool === null ? 'end_turn' : 'tool_use';
}

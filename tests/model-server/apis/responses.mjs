// OpenAI Responses.
import { pieces } from '../answer.mjs';
import { lastUserText, objectsAt } from '../request-body.mjs';
import { frame } from '../sse.mjs';
import { openaiError } from './openai-error.mjs';

/** @type {import('./index.mjs').ModelApi} */
export const responses = {
	name: 'openai-responses',
	recognises: (path) => path.endsWith('/responses'),
	model: (_path, body) => String(body.model ?? 'mock'),
	streams: (_path, body) => body.stream === true,
	tools: (body) =>
		objectsAt(body.tools, 'tools').map((tool) => ({
			name: String(tool.name ?? tool.type),
			parameters: tool.parameters,
		})),
	lastUserText: (body) =>
		typeof body.input === 'string' ? body.input : lastUserText(objectsAt(body.input, 'input'), 'input[].content'),
	error: openaiError,
	whole: (answer) => response(answer, 'completed', items(answer).map(finished)),

	*frames(answer) {
		let number = 0;
		const event = (type, data, marks = {}) =>
			frame({ type, sequence_number: number++, ...data }, { event: type, ...marks });

		yield event('response.created', { response: response(answer, 'in_progress', []) });
		for (const [output_index, item] of items(answer).entries()) {
			yield event('response.output_item.added', { output_index, item: begun(item) });
			if (item.type === 'message') yield* textEvents(event, item, output_index, answer.chunk);
			yield event('response.output_item.done', { output_index, item: finished(item) });
		}
		const last = response(answer, 'completed', items(answer).map(finished));
		yield event('response.completed', { response: last }, { closing: true });
	},
};

function* textEvents(event, item, output_index, chunk) {
	const [part] = item.content;
	const at = { item_id: item.id, output_index, content_index: 0 };
	yield event('response.content_part.added', { ...at, part: { ...part, text: '' } });
	for (const delta of pieces(part.text, chunk)) {
		yield event('response.output_text.delta', { ...at, delta }, { piece: true });
	}
	yield event('response.output_text.done', { ...at, text: part.text });
	yield event('response.content_part.done', { ...at, part });
}

function items({ id, reasoning, text, tool }) {
	const list = [];
	if (reasoning !== '') {
		list.push({ type: 'reasoning', id: `rs_${id}`, summary: [{ type: 'summary_text', text: reasoning }] });
	}
	// An answer without any words is still a message, unless it is a tool call.
	if (text !== '' || tool === null) {
		list.push({
			type: 'message',
			id: `msg_${id}`,
			role: 'assistant',
			content: [{ type: 'output_text', text, annotations: [] }],
		});
	}
	if (tool !== null) {
		const call = { call_id: `call_${tool.id}`, name: tool.name, arguments: JSON.stringify(tool.arguments) };
		list.push({ type: 'function_call', id: `fc_${id}`, ...call });
	}
	return list;
}

function begun(item) {
	const empty = { message: { content: [] }, reasoning: { summary: [] }, function_call: { arguments: '' } };
	return { ...item, ...empty[item.type], status: 'in_progress' };
}

function finished(item) {
	return { ...item, status: 'completed' };
}

function response({ id, model }, status, output) {
	const usage = {
		input_tokens: 10,
		input_tokens_details: { cached_tokens: 0 },
		output_tokens: 10,
		output_tokens_details: { reasoning_tokens: 0 },
		total_tokens: 20,
	};
	return { id: `resp_${id}`, object: 'response', status, model, output, usage: status === 'completed' ? usage : null };
}

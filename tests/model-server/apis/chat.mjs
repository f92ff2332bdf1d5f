// OpenAI chat completions.
import { pieces } from '../answer.mjs';
import { lastUserText, objectAt, objectsAt } from '../request-body.mjs';
import { frame } from '../sse.mjs';
import { openaiError } from './openai-error.mjs';

const USAGE = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };

/** @type {import('./index.mjs').ModelApi} */
export const chat = {
	name: 'openai-chat',
	recognises: (path) => path.endsWith('/chat/completions'),
	model: (_path, body) => String(body.model ?? 'mock'),
	streams: (_path, body) => body.stream === true,
	tools: (body) =>
		objectsAt(body.tools, 'tools').map((tool) => {
			const { name, parameters } = objectAt(tool.function, 'tools[].function');
			return { name: String(name), parameters };
		}),
	lastUserText: (body) => lastUserText(objectsAt(body.messages, 'messages'), 'messages[].content'),
	error: openaiError,

	whole(answer) {
		const { text, reasoning } = answer;
		const message = { role: 'assistant', content: text, ...(reasoning === '' ? {} : { reasoning_content: reasoning }) };
		if (answer.tool !== null) message.tool_calls = [toolCall(answer.tool)];
		const choices = [{ index: 0, message, finish_reason: finishReason(answer) }];
		return { ...envelope(answer), object: 'chat.completion', choices, usage: USAGE };
	},

	*frames(answer) {
		const chunk = (choices, more = {}) => ({ ...envelope(answer), object: 'chat.completion.chunk', choices, ...more });
		const delta = (part, marks) => frame(chunk([{ index: 0, delta: part, finish_reason: null }]), marks);

		yield delta({ role: 'assistant', content: '' });
		for (const reasoning_content of pieces(answer.reasoning, answer.chunk)) yield delta({ reasoning_content });
		for (const content of pieces(answer.text, answer.chunk)) yield delta({ content }, { piece: true });
		if (answer.tool !== null) yield delta({ tool_calls: [{ index: 0, ...toolCall(answer.tool) }] });
		yield frame(chunk([{ index: 0, delta: {}, finish_reason: finishReason(answer) }]), { closing: true });
		yield frame(chunk([], { usage: USAGE }), { closing: true });
		yield frame('[DONE]', { closing: true });
	},
};

function envelope({ id, model }) {
	return { id: `chatcmpl-${id}`, created: 1_700_000_000, model };
}

function toolCall({ id, name, arguments: given }) {
	return { id: `call_${id}`, type: 'function', function: { name, arguments: JSON.stringify(given) } };
}

function finishReason({ tool }) {
	return tool === null ? 'stop' : 'tool_calls';
}

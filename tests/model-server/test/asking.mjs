// Asking the server as an agent would, in the words of each API.

const SHELL_SCHEMA = {
	type: 'object',
	properties: { command: { type: 'string' }, is_background: { type: 'boolean' } },
	required: ['command', 'is_background'],
};

/**
 * @typedef {object} Dialect how one API is asked, and where its stream has what a test looks for
 * @property {string} api
 * @property {string} path
 * @property {(prompt: string, tools: boolean) => object} body
 * @property {(event: any) => string | undefined} text
 * @property {(event: any) => string | undefined} reasoning
 * @property {(event: any) => { name: string, arguments: object } | undefined} tool
 * @property {(events: any[]) => boolean} ended
 * @property {(body: any) => unknown} errorKind
 */

/** @type {Dialect[]} */
export const DIALECTS = [
	{
		api: 'openai-responses',
		path: '/v1/responses',
		body: (prompt, tools) => ({
			model: 'mock',
			stream: true,
			input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: prompt }] }],
			tools: tools ? [{ type: 'function', name: 'shell', parameters: SHELL_SCHEMA }] : [],
		}),
		text: (event) => (event.type === 'response.output_text.delta' ? event.delta : undefined),
		reasoning: (event) => (isDone(event, 'reasoning') ? event.item.summary[0].text : undefined),
		tool: (event) => (isDone(event, 'function_call') ? called(event.item) : undefined),
		ended: (events) => events.at(-1).type === 'response.completed',
		errorKind: (body) => body.error.code ?? body.error.type,
	},
	{
		api: 'openai-chat',
		path: '/v1/chat/completions',
		body: (prompt, tools) => ({
			model: 'mock',
			stream: true,
			messages: [{ role: 'user', content: prompt }],
			tools: tools ? [{ type: 'function', function: { name: 'bash', parameters: SHELL_SCHEMA } }] : undefined,
		}),
		text: (event) => event.choices?.[0]?.delta.content,
		reasoning: (event) => event.choices?.[0]?.delta.reasoning_content,
		tool: (event) => event.choices?.[0]?.delta.tool_calls?.map((call) => called(call.function))[0],
		ended: (events) => events.at(-1) === '[DONE]',
		errorKind: (body) => body.error.code ?? body.error.type,
	},
	{
		api: 'anthropic-messages',
		path: '/v1/messages?beta=true',
		body: (prompt, tools) => ({
			model: 'mock',
			stream: true,
			messages: [{ role: 'user', content: [{ type: 'text', text: prompt }] }],
			tools: tools ? [{ name: 'Bash', input_schema: SHELL_SCHEMA }] : [],
		}),
		text: (event) => event.delta?.text,
		reasoning: (event) => event.delta?.thinking,
		tool: (event) =>
			event.delta?.type === 'input_json_delta'
				? { name: 'Bash', arguments: JSON.parse(event.delta.partial_json) }
				: undefined,
		ended: (events) => events.at(-1).type === 'message_stop',
		errorKind: (body) => body.error.type,
	},
	{
		api: 'gemini',
		path: '/v1beta/models/mock:streamGenerateContent?alt=sse',
		body: (prompt, tools) => ({
			contents: [{ role: 'user', parts: [{ text: prompt }] }],
			tools: tools
				? [{ functionDeclarations: [{ name: 'run_shell_command', parametersJsonSchema: SHELL_SCHEMA }] }]
				: undefined,
		}),
		text: (event) => (part(event)?.thought ? undefined : part(event)?.text),
		reasoning: (event) => (part(event)?.thought ? part(event).text : undefined),
		tool: (event) => {
			const call = part(event)?.functionCall;
			return call && { name: call.name, arguments: call.args };
		},
		ended: (events) => events.at(-1).candidates[0].finishReason === 'STOP',
		errorKind: (body) => body.error.status,
	},
];

const isDone = (event, type) => event.type === 'response.output_item.done' && event.item.type === type;
const called = ({ name, arguments: given }) => ({ name, arguments: JSON.parse(given) });
const part = (event) => event.candidates[0].content.parts[0];

/**
 * @param {string} base
 * @param {Dialect} dialect
 * @param {string} [prompt]
 * @param {{ tools?: boolean }} [options]
 */
export function ask(base, dialect, prompt = 'Which file?', { tools = true } = {}) {
	return fetch(base + dialect.path, { method: 'POST', body: JSON.stringify(dialect.body(prompt, tools)) });
}

/** The events of a stream as far as it came, and whether the connection held to its end. */
export async function read(response) {
	let text = '';
	let whole = true;
	try {
		for await (const bytes of response.body.pipeThrough(new TextDecoderStream())) text += bytes;
	} catch {
		whole = false;
	}
	const events = text
		.split('\n')
		.filter((line) => line.startsWith('data: '))
		.map((line) => line.slice('data: '.length))
		.map((data) => (data === '[DONE]' ? data : JSON.parse(data)));
	return { events, whole };
}

/** What `pick` finds in the events, in order. */
export function found(events, pick) {
	return events.map((event) => pick(event)).filter((one) => one !== undefined && one !== '');
}

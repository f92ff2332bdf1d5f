// A step of the script as an answer of the model, in words that every API can put into its own form.
import { randomUUID } from 'node:crypto';

/**
 * @typedef {{ name: string, parameters: unknown }} OfferedTool a tool as the request offers it, with its JSON schema
 *
 * @typedef {object} Answer
 * @property {string} id
 * @property {string} model
 * @property {string} reasoning
 * @property {string} text
 * @property {{ id: string, name: string, arguments: Record<string, unknown> } | null} tool
 * @property {number} chunk
 */

/** The script asks for something that the request does not offer. */
export class UnplayableStep extends Error {}

/** What the shell tools of agents are called; the first that a request offers is taken. */
const SHELL_TOOLS = ['exec_command', 'shell_command', 'shell', 'Bash', 'bash', 'run_shell_command'];

/**
 * Identifiers are random because an agent may go on with a session that an earlier server has begun.
 *
 * @param {import('./script.mjs').Step} step
 * @param {string} model
 * @param {OfferedTool[]} offered
 * @returns {Answer}
 */
export function answerOf(step, model, offered) {
	return {
		id: randomUUID().replaceAll('-', ''),
		model,
		reasoning: step.reasoning ?? '',
		text: step.text ?? '',
		tool: step.tool === undefined ? null : { id: randomUUID().slice(0, 8), ...toolCall(step.tool, offered) },
		chunk: step.chunk ?? Number.POSITIVE_INFINITY,
	};
}

function toolCall(tool, offered) {
	if ('name' in tool) return { name: tool.name, arguments: tool.arguments };
	const name = SHELL_TOOLS.find((known) => offered.some((one) => one.name === known));
	if (name === undefined) {
		throw new UnplayableStep(`no shell tool among the offered ones: ${offered.map((one) => one.name).join(', ')}`);
	}
	const { parameters } = offered.find((one) => one.name === name);
	return { name, arguments: shellArguments(tool.command, parameters) };
}

/** Agents name the command differently and insist on more than the command: their own schema says what. */
function shellArguments(command, parameters) {
	const properties = parameters?.properties ?? {};
	const key = 'cmd' in properties ? 'cmd' : 'command';
	const call = { [key]: isOfType(properties[key], 'array') ? ['sh', '-c', command] : command };
	for (const required of Array.isArray(parameters?.required) ? parameters.required : []) {
		if (!Object.hasOwn(call, required)) call[required] = fillerFor(properties[required]);
	}
	return call;
}

function fillerFor(schema) {
	if (isOfType(schema, 'boolean')) return false;
	return isOfType(schema, 'number') || isOfType(schema, 'integer') ? 1 : 'Runs the command.';
}

/** Gemini writes the names of types in capitals. */
function isOfType(schema, type) {
	return String(schema?.type).toLowerCase() === type;
}

/**
 * A text in pieces of at most `size` characters, never cut through the middle of one. An empty text has no pieces.
 *
 * @param {string} text
 * @param {number} size
 * @returns {string[]}
 */
export function pieces(text, size) {
	if (text.length <= size) return text === '' ? [] : [text];
	const characters = Array.from(text);
	const cut = [];
	for (let start = 0; start < characters.length; start += size)
		cut.push(characters.slice(start, start + size).join(''));
	return cut;
}

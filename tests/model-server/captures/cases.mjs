// What the captured turns show: prompts, and what the model does about them.

/**
 * @typedef {object} Turn
 * @property {string} name the case as the capture names it
 * @property {import('../script.mjs').Step[]} steps
 * @property {string} [prompt]
 * @property {boolean} [resumes] goes on with the session of the turn before it
 * @property {boolean} [unknownSession] goes on with a session that never was
 * @property {boolean} [down] nothing listens where the model should be
 * @property {boolean} [retries] the agent may try again; it is told not to in all other cases
 * @property {boolean} [loads] a new process loads the session of the turn before it (only over the Agent Client Protocol)
 * @property {boolean} [asksPermission] the agent asks before it runs a tool, and is allowed to (likewise)
 * @property {boolean} [cancels] the agent is asked to stop while the tool `sleep 30` runs (likewise)
 * @property {NodeJS.Signals} [signal] sent to the agent's process group while the tool `sleep 30` runs
 */

export const PROMPT = 'Take one of the two files.';
export const REPLY = 'the second one';
/** The id of a session that never was. */
export const NO_SESSION = '00000000-0000-4000-8000-000000000000';
export const SLEEP = 'sleep 30';
/** Qwen Code refuses a command that only sleeps. */
const SLEEPING_TOOL = { tool: { command: `echo waiting && ${SLEEP}` } };

const ASK = 'There are a.txt and b.txt. Which file shall I take?';
const FINAL = 'I have taken the second file.\n```json\n{"file": "b.txt", "__SKILL_DONE__": true}\n```';
const ECHO = '{"__SKILL_DONE__": true, "file": "x"}';
/** A line separator, an emoji of several code points, right to left, combining marks, and quotes that want escaping. */
const UNICODE = 'Which one?\u2028“a” 👩‍👩‍👧 or 👍🏽, שלום עולם, مرحبا, e\u0301 and n\u0303, \\ and "?';

/** Agents that try again whatever they are told shall meet the same thing each time. */
const always = (step) => Array(400).fill(step);

/** Each list is one sequence of turns in one home. @type {Turn[][]} */
export const CASES = [
	[{ name: 'final', steps: [{ text: FINAL }] }],
	[{ name: 'split', steps: [{ text: FINAL, chunk: 7 }] }],
	[
		{ name: 'ask', steps: [{ text: ASK }] },
		{ name: 'resume', prompt: REPLY, resumes: true, steps: [{ text: FINAL }] },
	],
	[{ name: 'tool_echo', steps: [{ tool: { command: `echo '${ECHO}'` } }, { text: ASK }] }],
	[{ name: 'reasoning_echo', steps: [{ reasoning: `I could say ${ECHO} now.`, text: ASK }] }],
	[{ name: 'two_messages', steps: [{ text: 'I look first.', tool: { command: 'echo a.txt b.txt' } }, { text: ASK }] }],
	[{ name: 'unicode', steps: [{ text: UNICODE }] }],
	[{ name: 'empty', steps: always({}) }],
	[{ name: 'http_401', steps: always({ status: 401 }) }],
	[{ name: 'http_429', steps: always({ status: 429 }) }],
	[{ name: 'http_500', steps: always({ status: 500 }) }],
	[{ name: 'http_429_retried', retries: true, steps: [{ status: 429 }, { text: ASK }] }],
	[{ name: 'http_500_retried', retries: true, steps: [{ status: 500 }, { text: ASK }] }],
	[{ name: 'down', down: true, steps: [] }],
	[{ name: 'broken_off', steps: always({ text: FINAL, drop: true }) }],
	[{ name: 'broken_off_midway', steps: always({ text: FINAL, chunk: 7, drop: 'midway' }) }],
	[{ name: 'broken_off_retried', retries: true, steps: [{ text: FINAL, drop: true }, { text: ASK }] }],
	[{ name: 'unknown_session', unknownSession: true, prompt: REPLY, steps: [{ text: FINAL }] }],
	[{ name: 'sigint', signal: 'SIGINT', steps: [SLEEPING_TOOL, { text: ASK }] }],
	[{ name: 'sigterm', signal: 'SIGTERM', steps: [SLEEPING_TOOL, { text: ASK }] }],
];

/** A process that goes on is not ended by a signal but asked to stop, and it can ask back. @type {Turn[][]} */
export const CONVERSATION_CASES = [
	...CASES.filter(([turn]) => turn.signal === undefined),
	[{ name: 'cancel', cancels: true, steps: [SLEEPING_TOOL, { text: ASK }] }],
	[{ name: 'permission', asksPermission: true, steps: [{ tool: { command: 'touch c.txt' } }, { text: ASK }] }],
	[
		{ name: 'before_load', steps: [{ tool: { command: `echo '${ECHO}'` } }, { text: ASK }] },
		{ name: 'load', prompt: REPLY, loads: true, steps: [{ text: FINAL }] },
	],
];

/** Only the sequences that begin with these, where another format of the same agent has the rest. */
export function casesNamed(...names) {
	return CASES.filter(([first]) => names.includes(first.name));
}

/** The model asks by the agent's own tool for questions; what agents do with that differs. */
export function questionTool(name) {
	const options = [
		{ label: 'a.txt', description: 'The first file' },
		{ label: 'b.txt', description: 'The second file' },
	];
	const questions = [
		{ id: 'file', question: 'Which file shall I take?', header: 'File', type: 'choice', options, multiSelect: false },
	];
	return { name: 'question_tool', steps: [{ tool: { name, arguments: { questions } } }, { text: ASK }] };
}

/** The model answers by the tool that an output schema gives it: at once, never, wrongly at first, wrongly for ever. */
export function structuredOutput(name) {
	const call = (given) => ({ tool: { name, arguments: given } });
	const right = call({ file: 'b.txt', __SKILL_DONE__: true });
	const wrong = call({ file: 7 });
	return [
		[{ name: 'structured_output', steps: [right, { text: 'The second file is taken.' }] }],
		[{ name: 'structured_output_missing', steps: always({ text: ASK }) }],
		[{ name: 'structured_output_corrected', steps: [wrong, right, { text: 'The second file is taken.' }] }],
		[{ name: 'structured_output_invalid', steps: always(wrong) }],
	];
}

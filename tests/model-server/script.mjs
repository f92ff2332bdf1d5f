// A script: what the model says, step by step, and how far it has been played.

/**
 * @typedef {{ command: string } | { name: string, arguments: Record<string, unknown> }} ToolStep
 *
 * @typedef {object} Step
 * @property {string} [text] what the assistant says
 * @property {string} [reasoning] what it thinks before that
 * @property {ToolStep} [tool] a command for the shell tool, or a call of any tool by its name
 * @property {number} [status] answer with this HTTP error instead
 * @property {string} [message] the words of that error
 * @property {true | 'midway'} [drop] break the connection off: before the end of the reply, or in the middle of its text
 * @property {number} [delay_ms] wait before the reply begins
 * @property {number} [chunk] the most characters of one streamed piece of text
 *
 * @typedef {{ steps: Step[] }} Script
 */

/** What is wrong with a script, in words for whoever wrote it. */
export class ScriptError extends Error {}

const isText = (value) => typeof value === 'string';
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isWhole = (least, most) => (value) => Number.isInteger(value) && value >= least && value <= most;
const isTool = (value) =>
	isObject(value) && (isText(value.command) || (isText(value.name) && isObject(value.arguments)));

const MEMBERS = {
	text: [isText, 'a text'],
	reasoning: [isText, 'a text'],
	tool: [isTool, '{"command": "…"} or {"name": "…", "arguments": {…}}'],
	status: [isWhole(400, 599), 'an HTTP error status'],
	message: [isText, 'a text'],
	drop: [(value) => value === true || value === 'midway', 'true or "midway"'],
	delay_ms: [isWhole(0, 600_000), 'milliseconds, at most ten minutes'],
	chunk: [isWhole(1, 1_000_000), 'a number of characters'],
};

/**
 * The script itself, once it is known to be one: a misspelt step would otherwise show up as a puzzling agent.
 *
 * @param {unknown} value
 * @param {string} name
 * @returns {Script}
 */
export function checkScript(value, name) {
	if (!isObject(value) || !Array.isArray(value.steps)) throw new ScriptError(`${name}: a script is {"steps": […]}`);
	value.steps.forEach((step, index) => {
		if (!isObject(step)) throw new ScriptError(`${name}: steps[${index}] must be an object`);
		for (const [key, member] of Object.entries(step)) {
			if (!Object.hasOwn(MEMBERS, key))
				throw new ScriptError(`${name}: steps[${index}] has an unknown member "${key}"`);
			const [fits, form] = MEMBERS[key];
			if (!fits(member)) throw new ScriptError(`${name}: steps[${index}].${key} must be ${form}`);
		}
	});
	return value;
}

/** A script and the position of its next step. */
export class ScriptPlayer {
	#steps;
	#position = 0;

	/** @param {Script} script */
	constructor(script) {
		this.#steps = script.steps;
	}

	get length() {
		return this.#steps.length;
	}

	/** @returns {{ index: number, step: Step } | null} the next step, or null when the script is used up */
	next() {
		if (this.#position === this.#steps.length) return null;
		const index = this.#position++;
		return { index, step: this.#steps[index] };
	}

	rewind() {
		this.#position = 0;
	}
}

// What a turn shows, as good JavaScript finds it: string methods and JSON.parse, and one loop over characters where they do
// not do.
import { MARKER } from './skill.mjs';

const WORDS = '"agent_message"';
const BARE_MARKER = new RegExp(`^${MARKER}$`, 'm');
const [QUOTE, BACKSLASH, OPEN, CLOSE] = ['"', '\\', '{', '}'].map((letter) => letter.charCodeAt(0));

/** Whether the agent says it is done, and its last object. */
export function lookAt(text, isStream) {
	let [marker, output] = [false, undefined];
	for (const message of isStream ? assistantTexts(text) : [text]) {
		const found = objectOf(message);
		if (found !== undefined) {
			marker ||= found[MARKER] === true;
			delete found[MARKER];
			output = found;
		}
		marker ||= message.includes(MARKER) && BARE_MARKER.test(message);
	}
	return { marker, output };
}

/** The assistant's words in what `codex exec --json` printed; rows that cannot have any are not parsed. */
function assistantTexts(stdout) {
	const texts = [];
	for (let at = stdout.indexOf(WORDS); at >= 0; ) {
		const [start, end] = [stdout.lastIndexOf('\n', at) + 1, stdout.indexOf('\n', at)];
		const row = JSON.parse(end < 0 ? stdout.slice(start) : stdout.slice(start, end));
		if (row.item?.type === 'agent_message') texts.push(row.item.text);
		at = end < 0 ? -1 : stdout.indexOf(WORDS, end);
	}
	return texts;
}

/** The whole text, else the last fenced object, else the last one in prose. */
function objectOf(text) {
	const [first, last] = [text.indexOf('{'), text.lastIndexOf('}')];
	const fenced = text.includes('```') ? lastFenced(text) : undefined;
	if (fenced !== undefined) return fenced;
	if (first < 0 || last < 0) return undefined;
	// Most turns have one object, and what stands between the outer braces is it.
	return parse(text.slice(first, last + 1)) ?? lastBalanced(text, first);
}

function lastFenced(text) {
	const parts = text.split('```');
	const lastBlock = parts.length - (parts.length % 2 === 0 ? 1 : 2);
	for (let index = lastBlock; index > 0; index -= 2) {
		const brace = parts[index].indexOf('{');
		const found = brace < 0 ? undefined : parse(parts[index].slice(brace));
		if (found !== undefined) return found;
	}
	return undefined;
}

function lastBalanced(text, first) {
	let [depth, start, quoted, found] = [0, 0, false, undefined];
	for (let at = first; at < text.length; at += 1) {
		const code = text.charCodeAt(at);
		if (quoted) {
			if (code === BACKSLASH) at += 1;
			else if (code === QUOTE) quoted = false;
		} else if (code === QUOTE) quoted = true;
		else if (code === OPEN) {
			if (depth === 0) start = at;
			depth += 1;
		} else if (code === CLOSE && depth > 0) {
			depth -= 1;
			if (depth === 0 && at - start > 1) found = parse(text.slice(start, at + 1)) ?? found;
		}
	}
	return found;
}

function parse(text) {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

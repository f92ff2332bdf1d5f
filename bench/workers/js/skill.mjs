// What every contender is asked: the marker and the words of a short conversation. The schema is in bench/skill.json.

export const MARKER = '__SKILL_DONE__';
export const QUESTION = 'There are three notes. Which one shall I summarise?';
export const DONE = '{"summary":"s","items":[],"__SKILL_DONE__":true}';

/** What is compared with the decision that is right. */
export function decisionOf(status, output) {
	return status === 'succeeded' ? { status, items: output.items.length } : { status };
}

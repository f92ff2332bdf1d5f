/** How a turn was judged, which is told in parts (`src/run.rs`), and most decisions by a number. */

import * as glue from 'turnlatch-glue';
import { askCore, toldNumbers } from './desk.js';
import type { Handle } from './instance.js';

/** The place of a decision's number. */
const DECISION = 63;

/** The decisions that were told by their numbers; there are some dozens. A number stands for the same text in every instance. */
const decisions = new Map<number, string>();

/** Learns the decision of the step that was just told, if its number is new. */
export function learnDecision(about: Handle | undefined): void {
	const number = toldNumbers()[DECISION] as number;
	if (number < 0 || about === undefined || decisions.has(number)) return;
	decisions.set(
		number,
		askCore(() => glue.run_decision(about.id), about),
	);
}

/** JSON text of the parts, each of which has to be decoded. */
export function joinJudged(text: string, decoded: (part: string) => string): string {
	const first = text.indexOf('\n');
	const second = text.indexOf('\n', first + 1);
	const [decision, question] = [text.slice(0, first), text.slice(first + 1, second)];
	const output = decoded(text.slice(second + 1));
	const members = [`"decision":${decisions.get(Number(decision)) ?? decoded(decision)}`];
	if (output !== '') members.push(`"data_text":${JSON.stringify(output)}`);
	if (question !== '') members.push(`"question":${decoded(question)}`);
	return `{${members.join()}}`;
}

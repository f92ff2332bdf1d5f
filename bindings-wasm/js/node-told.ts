/**
 * What `told.ts` does, for the build that Node has. A step's text has a character for each byte, and only what is read is
 * decoded: to decode a question of many scripts takes as long as all the rest of its turn, and to copy its bytes thirty
 * times less. How a turn was judged is told in parts (`src/run.rs`), and most decisions by a number.
 */

import { Buffer } from 'node:buffer';
import * as glue from 'turnlatch-glue';
import { askCore, toldNumbers } from './desk.js';
import { toldError } from './errors.js';
import { call, type Handle, memory } from './instance.js';

/** The place of a decision's number. */
const DECISION = 63;

let bytes = Buffer.alloc(0);
/** The decisions that were told by their numbers; there are some dozens. A number stands for the same text in every instance. */
const decisions = new Map<number, string>();

export function askStep(work: () => number, about?: Handle): string {
	const length = call(work, about);
	const at = call(() => glue.desk_told());
	// When the memory grows it becomes another one.
	const { buffer } = memory();
	if (bytes.buffer !== buffer) bytes = Buffer.from(buffer);
	if (length < 0) throw toldError(bytes.toString('utf8', at, at - length));
	const text = bytes.toString('latin1', at, at + length);
	const number = toldNumbers()[DECISION] as number;
	if (number >= 0 && about !== undefined && !decisions.has(number)) {
		decisions.set(
			number,
			askCore(() => glue.run_decision(about.id), about),
		);
	}
	return text;
}

export function decoded(text: string): string {
	return Buffer.from(text, 'latin1').toString('utf8');
}

export function judgedText(text: string): string {
	const first = text.indexOf('\n');
	const second = text.indexOf('\n', first + 1);
	const [decision, question] = [text.slice(0, first), text.slice(first + 1, second)];
	const output = decoded(text.slice(second + 1));
	const members = [`"decision":${decisions.get(Number(decision)) ?? decoded(decision)}`];
	if (output !== '') members.push(`"data_text":${JSON.stringify(output)}`);
	if (question !== '') members.push(`"question":${decoded(question)}`);
	return `{${members.join()}}`;
}

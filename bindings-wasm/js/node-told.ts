/**
 * What `told.ts` does, for the build that Node has. A step's text has a character for each byte, and only what is read is
 * decoded: to decode a question of many scripts takes as long as all the rest of its turn, and to copy its bytes thirty
 * times less.
 */

import { Buffer } from 'node:buffer';
import * as glue from 'turnlatch-glue';
import { toldError } from './errors.js';
import { call, type Handle, memory } from './instance.js';
import { joinJudged, learnDecision } from './judged.js';

let bytes = Buffer.alloc(0);

export function askStep(work: () => number, about?: Handle): string {
	const length = call(work, about);
	const at = call(() => glue.desk_told());
	// When the memory grows it becomes another one.
	const { buffer } = memory();
	if (bytes.buffer !== buffer) bytes = Buffer.from(buffer);
	if (length < 0) throw toldError(bytes.toString('utf8', at, at - length));
	const text = bytes.toString('latin1', at, at + length);
	learnDecision(about);
	return text;
}

export function decoded(text: string): string {
	return Buffer.from(text, 'latin1').toString('utf8');
}

export function judgedText(text: string): string {
	return joinJudged(text, decoded);
}

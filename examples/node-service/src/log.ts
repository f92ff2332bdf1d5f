/**
 * One line on stderr for each event: for people, with whatever strangers wrote in it made visible, or as JSON, without it.
 * Messages are tagged templates, so that what the program itself wrote can be told from what was put into it.
 */

import { displayText, type Observation, TurnlatchError } from 'turnlatch';
import { compact } from './errors.js';

export type LogForm = 'text' | 'json';
type Level = 'INFO' | 'WARNING' | 'ERROR';
type Write = (words: TemplateStringsArray, ...values: readonly unknown[]) => void;

let form: LogForm = 'text';

export const log = {
	info: writer('INFO'),
	warning: writer('WARNING'),
	/** With what was thrown, and where. */
	error: (thrown: unknown): Write => writer('ERROR', thrown),
};

/** How everything is written from now on. */
export function logAs(chosen: LogForm): void {
	form = chosen;
}

/**
 * What was observed, in which there is no word of a user or an agent. People read what a run does in its timeline; these
 * lines are for programs.
 */
export function logStep(observation: Observation): void {
	if (form !== 'json') return;
	const { rejected, left, status } = observation;
	const wentWrong = rejected !== undefined || (left !== undefined && status === 'failed');
	writeJson(wentWrong ? 'WARNING' : 'INFO', { ...observation });
}

/** An error in a few words. */
export function inWords(thrown: unknown): string {
	return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
}

function writer(level: Level, thrown?: unknown): Write {
	return (words, ...values) => {
		if (form === 'json') return writeJson(level, withoutWords(words, values, thrown));
		const shown = String.raw(words, ...values.map((value) => (value instanceof Error ? inWords(value) : value)));
		const line = `${localTime(new Date())} ${level} ${shown}${thrown === undefined ? '' : `\n${stackOf(thrown)}`}`;
		process.stderr.write(`${displayText(line.replaceAll('\n', '\\n').replaceAll('\t', '\\t'))}\n`);
	};
}

function writeJson(level: Level, told: Readonly<Record<string, unknown>>): void {
	process.stderr.write(`${compact({ time: new Date().toISOString(), level: level.toLowerCase(), ...told })}\n`);
}

/** Only what the program itself wrote: the message with its blanks, the names of errors and their codes. */
function withoutWords(
	words: TemplateStringsArray,
	values: readonly unknown[],
	thrown: unknown,
): Record<string, unknown> {
	const told: Record<string, unknown> = { event: 'log', logger: 'turnlatch.service', message: words.join('%s') };
	if (words[0] === 'run ') told.run_id = String(values[0]);
	for (const error of [...values, thrown]) {
		if (error instanceof Error) told.error = error.name;
		if (error instanceof TurnlatchError) told.code = error.code;
	}
	return told;
}

function stackOf(thrown: unknown): string {
	return thrown instanceof Error ? (thrown.stack ?? inWords(thrown)) : inWords(thrown);
}

function localTime(now: Date): string {
	const shifted = new Date(now.getTime() - now.getTimezoneOffset() * 60_000);
	return shifted.toISOString().replace('T', ' ').replace('.', ',').replace('Z', '');
}

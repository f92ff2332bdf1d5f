/** One line on stderr for each event, with whatever strangers wrote in it made visible. */

import { displayText } from 'turnlatch';

type Level = 'INFO' | 'WARNING' | 'ERROR';

export const log = {
	info: (message: string) => write('INFO', message),
	warning: (message: string) => write('WARNING', message),
	/** With what was thrown, and where. */
	error: (message: string, thrown: unknown) => write('ERROR', `${message}\n${stackOf(thrown)}`),
};

/** An error in a few words. */
export function inWords(thrown: unknown): string {
	return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
}

function stackOf(thrown: unknown): string {
	return thrown instanceof Error ? (thrown.stack ?? inWords(thrown)) : inWords(thrown);
}

function write(level: Level, message: string): void {
	const line = `${localTime(new Date())} ${level} ${message}`;
	process.stderr.write(`${displayText(line.replaceAll('\n', '\\n').replaceAll('\t', '\\t'))}\n`);
}

function localTime(now: Date): string {
	const shifted = new Date(now.getTime() - now.getTimezoneOffset() * 60_000);
	return shifted.toISOString().replace('T', ' ').replace('.', ',').replace('Z', '');
}

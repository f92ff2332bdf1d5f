/** The words of the console for the words of the wire, and how times are written. */

import codes from 'virtual:codes';
import { type CodeInfo, displayText, type ResolutionMode, type Status } from 'turnlatch/slim';

export const STATUSES: readonly Status[] = ['queued', 'running', 'waiting_user', 'succeeded', 'failed', 'canceled'];

export const STATUS_WORDS: Readonly<Record<Status, string>> = {
	queued: 'Queued',
	running: 'Running',
	waiting_user: 'Waiting for you',
	succeeded: 'Succeeded',
	failed: 'Failed',
	canceled: 'Canceled',
};

export const RESOLUTION_WORDS: Readonly<Record<ResolutionMode, string>> = {
	user_reply: 'answered by a person',
	auto_decide_timeout: 'decided automatically, because nobody answered in time',
	canceled: 'never answered: the run ended first',
	expired: 'never answered: its time was up',
};

/** Text from agents, users and files, with every character that could deceive made visible. */
export function visible(text: string): string {
	return displayText(text.toWellFormed());
}

/** A reason as the core gives it, with the time in it written for people. */
export function reasonText(reason: string): string {
	return visible(reason).replace(/(?<=\buntil )\d{11,15}$/, (at) => dateAndTime(Number(at)));
}

const table = new Map<string, CodeInfo>(codes.map((info) => [info.code, info]));

/** What a code means and what to do about it; nothing for the codes that agents make up. */
export function codeInfo(code: string): CodeInfo | undefined {
	return table.get(code);
}

const clockTime = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const dayAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

export const timeOfDay = (at: number): string => (isDate(at) ? clockTime.format(at) : String(at));
export const dateAndTime = (at: number): string => (isDate(at) ? dayAndTime.format(at) : String(at));
/** The machine-readable form, where the time is one that a date can hold. */
export const isoTime = (at: number): string | undefined => (isDate(at) ? new Date(at).toISOString() : undefined);

export function ago(at: number, now: number): string {
	const past = Math.max(0, Math.round((now - at) / 1000));
	if (past < 5) return 'just now';
	if (past < 60) return relative.format(-past, 'second');
	if (past < 3600) return relative.format(-Math.floor(past / 60), 'minute');
	if (past < 86_400) return relative.format(-Math.floor(past / 3600), 'hour');
	return relative.format(-Math.floor(past / 86_400), 'day');
}

/** A length of time, to two units: `3 min 20 s`. */
export function duration(ms: number): string {
	if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
	if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
	const all = Math.round(ms / 1000);
	const units: [number, string][] = [
		[Math.floor(all / 86_400), 'd'],
		[Math.floor(all / 3600) % 24, 'h'],
		[Math.floor(all / 60) % 60, 'min'],
		[all % 60, 's'],
	];
	const first = units.findIndex(([count]) => count > 0);
	return units
		.slice(first, first + 2)
		.filter(([count]) => count > 0)
		.map(([count, unit]) => `${count} ${unit}`)
		.join(' ');
}

/** A countdown: `4:05`, or `2:04:05` when it is long. */
export function countdown(ms: number): string {
	const left = Math.max(0, Math.ceil(ms / 1000));
	const [hours, minutes, rest] = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60];
	const two = (count: number): string => String(count).padStart(2, '0');
	return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

function isDate(at: number): boolean {
	return Math.abs(at) <= 8.64e15;
}

/** Events as the core takes them fastest: what is long stays as it is, behind the JSON text of everything else. */

import { lay } from './desk.js';
import { eventText } from './input.js';
import { escapeHalfPairs, isPlain, isWellFormed } from './json.js';

/** How an event crosses; the numbers are those of `src/run.rs`. */
export const Form = { Whole: 0, WithText: 1, WithStdout: 2, Created: 3 } as const;

export interface ToldEvent {
	readonly form: (typeof Form)[keyof typeof Form];
	/** JSON text. */
	readonly report: string;
	/** The turn's text or what its program printed, if that is not in the report. */
	readonly words: string;
}

/** What a run says of itself when it is made. */
export const CREATED: ToldEvent = { form: Form.Created, report: '{"type":"created"}', words: '' };

/** An event given as JSON text. Half of a surrogate pair is no text; as an escape it reaches the core, which refuses it. */
export function eventOfText(text: string): ToldEvent {
	if (typeof text !== 'string') throw new TypeError(`expected a text, found ${typeof text}`);
	return { form: Form.Whole, report: escapeHalfPairs(text), words: '' };
}

/** An event given as data. */
export function eventOfData(event: unknown): ToldEvent {
	try {
		const told = writtenAtOnce(event as Members);
		if (told !== undefined) return told;
	} catch {
		// Written member by member, it says what is wrong.
	}
	return { form: Form.Whole, report: eventText(event), words: '' };
}

/** Lays an event down for the next call of the core, behind what stands before it. */
export function layEvent({ form, report, words }: ToldEvent, before: string): number {
	const hasWords = form === Form.WithText || form === Form.WithStdout;
	return lay(hasWords ? `${before}${report}\n` : before + report, words);
}

/** The event's whole JSON text. */
export function wholeText({ form, report, words }: ToldEvent): string {
	// A byte order mark may stand before an event's text, but not inside that of its entry.
	if (form === Form.Whole) return report.replace(/^\uFEFF/, '');
	if (form === Form.WithText) return `${report.slice(0, -1)},"text":${JSON.stringify(words)}}`;
	if (form === Form.WithStdout) return `${report.slice(0, -2)},"stdout":${JSON.stringify(words)}}}`;
	return report;
}

interface Members {
	readonly [name: string]: unknown;
}

/** What may stand beside a text or a stream; another content is for the core to refuse. */
const BESIDE_WORDS = namesOf(
	'type attempt_number slot_id exit_code failure_reason session_handle artifacts usage diagnostics',
);
const BESIDE_STDOUT = namesOf('format stderr exit_code');
/** In these nothing needs an escape. */
const NAMES = new Set([
	...BESIDE_WORDS,
	...BESIDE_STDOUT,
	...namesOf('interaction_id response idempotency_key expected_revision reason'),
]);

function namesOf(words: string): Set<string> {
	return new Set(words.split(' '));
}

/** An event of plain data; none for what is not, and for whatever is strange about it. */
function writtenAtOnce(event: Members): ToldEvent | undefined {
	if (!isPlain(event)) return undefined;
	const isTurn = event.type === 'turn_finished';
	let form: ToldEvent['form'] = Form.Whole;
	let [report, words, stream] = ['', '', ''];
	let isBeside = true;
	for (const name of Object.keys(event)) {
		const value = event[name];
		if (isTurn && form === Form.Whole && name === 'text' && typeof value === 'string') {
			[form, words] = [Form.WithText, value];
		} else if (isTurn && form === Form.Whole && name === 'stream' && isStream(value)) {
			[form, words, stream] = [Form.WithStdout, value.stdout, `,"stream":{${streamText(value)}}`];
		} else {
			report += member(report, name, value);
			isBeside &&= BESIDE_WORDS.has(name);
		}
	}
	if (form !== Form.Whole && !(isBeside && isWellFormed(words))) return undefined;
	return { form, report: `{${report}${stream}}`, words };
}

/** A stream of what is known, with what was printed. */
function isStream(stream: unknown): stream is Members & { stdout: string } {
	if (typeof stream !== 'object' || stream === null || !isPlain(stream)) return false;
	for (const name of Object.keys(stream)) if (name !== 'stdout' && !BESIDE_STDOUT.has(name)) return false;
	return (
		Object.hasOwn(stream, 'format') && Object.hasOwn(stream, 'stdout') && typeof (stream as Members).stdout === 'string'
	);
}

function streamText(stream: Members): string {
	let text = '';
	for (const name of Object.keys(stream)) if (name !== 'stdout') text += member(text, name, stream[name]);
	return text;
}

/** A member behind those that are written already. */
function member(before: string, name: string, value: unknown): string {
	const comma = before === '' ? '' : ',';
	if (NAMES.has(name)) {
		if (typeof value === 'string' && isWellFormed(value)) return `${comma}"${name}":${JSON.stringify(value)}`;
		if (typeof value === 'number' && Number.isFinite(value)) return `${comma}"${name}":${value}`;
	}
	return `${comma}${eventText({ [name]: value }).slice(1, -1)}`;
}

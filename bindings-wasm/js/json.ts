/**
 * JSON text of what callers hand in. `JSON.stringify` alone would drop functions, write NaN as null, ask `toJSON`, refuse bigints, and
 * recurse without a bound.
 */

import { EventRejectedError } from './errors.js';

/** Deeper than anything that the core takes; far less than what the stack holds. */
const MAX_DEPTH = 300;
/** Data may share its parts, and a few shared arrays can stand for more values than there are atoms. */
const MAX_VALUES = 1 << 22;
const MAX_PATH = 200;

/** What cannot be written as JSON, with the place as a JSON pointer. */
class NotJson extends Error {
	constructor(
		message: string,
		readonly path: string,
	) {
		super(message);
	}
}

/** What stands for what JSON has no word for, so that the core refuses it by a code of its own; undefined refuses it here. */
type Stand = (value: unknown) => string | undefined;

class Writer {
	readonly #standIn: Stand;
	readonly #path: (string | number)[] = [];
	#values = 0;

	constructor(standIn: Stand) {
		this.#standIn = standIn;
	}

	write(value: unknown): string {
		this.#values += 1;
		if (this.#values > MAX_VALUES) throw this.#invalid(`expected JSON data, found more than ${MAX_VALUES} values`);
		switch (typeof value) {
			case 'string':
				return this.#string(value);
			case 'number':
				return Number.isFinite(value) ? String(value) : this.#other(value, 'a number is not finite');
			case 'boolean':
			case 'bigint':
				return String(value);
			case 'object':
				if (value === null) return 'null';
				if (this.#path.length >= MAX_DEPTH) return this.#other([], 'the data is nested too deep, or contains itself');
				return Array.isArray(value) ? this.#array(value) : this.#object(value);
			default:
				throw this.#invalid(`expected JSON data, found ${typeof value}`);
		}
	}

	#string(text: string): string {
		return isWellFormed(text) ? JSON.stringify(text) : this.#other(text, 'a string has half of a surrogate pair');
	}

	#array(items: readonly unknown[]): string {
		let text = '';
		for (let index = 0; index < items.length; index += 1) {
			this.#path.push(index);
			text += `${index === 0 ? '' : ','}${this.write(items[index])}`;
			this.#path.pop();
		}
		return `[${text}]`;
	}

	/** Own members only; one that is `undefined` is absent, as TypeScript has it for optional members. */
	#object(members: object): string {
		if (!isPlain(members)) throw this.#invalid(`expected JSON data, found ${nameOf(members)}`);
		let text = '';
		for (const [key, value] of Object.entries(members)) {
			if (value === undefined) continue;
			this.#path.push(key);
			text += `${text === '' ? '' : ','}${this.#string(key)}:${this.write(value)}`;
			this.#path.pop();
		}
		return `{${text}}`;
	}

	#other(value: unknown, message: string): string {
		const text = this.#standIn(value);
		if (text === undefined) throw this.#invalid(message);
		return text;
	}

	#invalid(message: string): NotJson {
		const pointer = this.#path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
		const path = pointer.length > MAX_PATH ? `${pointer.slice(0, MAX_PATH)}…` : pointer;
		return new NotJson(`${message} at ${path === '' ? 'the top' : escapeHalfPairs(path)}`, path);
	}
}

/** An event's JSON text; what is no JSON data is rejected. */
export function eventText(event: unknown): string {
	try {
		return new Writer(() => undefined).write(event);
	} catch (error) {
		// A getter or a proxy of the caller's may throw anything.
		const { message, path } =
			error instanceof NotJson ? error : { message: 'the data cannot be read', path: undefined };
		throw new EventRejectedError('EVENT_MALFORMED', message, { path, cause: error });
	}
}

/**
 * A document's text: the text itself, or that of its data. What is wrong with the data is written so that the core finds it, as it
 * would in a text.
 */
export function documentText(document: unknown, name: string): string {
	if (typeof document === 'string') return document;
	if (document === undefined) throw new TypeError(`${name} is missing`);
	try {
		return new Writer((value) => (typeof value === 'number' ? String(value) : JSON.stringify(value))).write(document);
	} catch (error) {
		throw error instanceof NotJson ? new TypeError(`${name}: ${error.message}`) : error;
	}
}

const encoder = new TextEncoder();

/** A text as bytes. */
export function encode(text: string): Uint8Array {
	if (typeof text !== 'string') throw new TypeError(`expected a string, found ${typeof text}`);
	return encoder.encode(escapeHalfPairs(text));
}

const scratch = new Uint8Array(1 << 18);

/** Two texts as bytes, until the next two: memory that is there already takes a fraction of what new memory does. */
export function encodeTwo(first: string, second = ''): [Uint8Array, Uint8Array] {
	if (3 * (first.length + second.length) > scratch.length) return [encode(first), encode(second)];
	const middle = encodeInto(first, 0);
	return [scratch.subarray(0, middle), scratch.subarray(middle, encodeInto(second, middle))];
}

function encodeInto(text: string, start: number): number {
	return start + encoder.encodeInto(escapeHalfPairs(text), scratch.subarray(start)).written;
}

const HALF_PAIR = /[\uD800-\uDFFF]/u;
const HALF_PAIRS = /[\uD800-\uDFFF]/gu;

/** Engines since 2023 know it themselves, a hundred times faster than by a pattern. */
const ofEngine = (String.prototype as { isWellFormed?: () => boolean }).isWellFormed;

/** Whether no half of a surrogate pair is in it. */
export function isWellFormed(text: string): boolean {
	return ofEngine === undefined ? !HALF_PAIR.test(text) : ofEngine.call(text);
}

/** Half of a surrogate pair is no text; as an escape it reaches the core, which refuses it by its code. */
function escapeHalfPairs(text: string): string {
	if (isWellFormed(text)) return text;
	return text.replace(HALF_PAIRS, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}

/** An object of this or another window's `Object`, or of none. */
export function isPlain(members: object): boolean {
	const prototype: unknown = Object.getPrototypeOf(members);
	return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOf(members: object): string {
	const name: unknown = members.constructor?.name;
	return typeof name === 'string' && name !== ''
		? `an object of class ${name.slice(0, MAX_PATH)}`
		: 'an object without a class';
}

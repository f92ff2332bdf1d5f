/**
 * JSON text of data, and back. `JSON.stringify` alone would drop functions and `undefined`, write NaN as null, refuse
 * bigints, and recurse without a bound; `JSON.parse` alone would round large integers.
 */

/** What to do about data that JSON has no word for: answer with a text instead, or throw. */
export interface Faults {
	/** NaN or infinite. */
	number(value: number, place: string): string;
	/** A text with half of a surrogate pair. */
	text(value: string, place: string): string;
	/** Nested deeper than `MAX_DEPTH`, as everything is that contains itself. */
	deep(place: string): string;
	/** No JSON data at all, or more than `MAX_VALUES` of it. */
	foreign(found: string, place: string): never;
}

/** Deeper than anything that the core takes; far less than what the stack holds. */
const MAX_DEPTH = 300;
/** Data may share its parts, and a few shared lists can stand for more values than there are atoms. */
const MAX_VALUES = 1 << 22;
const MAX_PLACE = 200;

/** The JSON text of data: what `JSON.stringify` would give, for data that has such a text. */
export function writeJson(data: unknown, faults: Faults): string {
	return new JsonWriter(faults).write(data);
}

class JsonWriter {
	readonly #faults: Faults;
	readonly #path: (string | number)[] = [];
	#values = 0;

	constructor(faults: Faults) {
		this.#faults = faults;
	}

	write(value: unknown): string {
		this.#values += 1;
		if (this.#values > MAX_VALUES) return this.#faults.foreign(`more than ${MAX_VALUES} values`, this.#place());
		switch (typeof value) {
			case 'string':
				return this.#string(value);
			case 'number':
				return Number.isFinite(value) ? JSON.stringify(value) : this.#faults.number(value, this.#place());
			case 'boolean':
			case 'bigint':
				return String(value);
			case 'object':
				if (value === null) return 'null';
				if (this.#path.length >= MAX_DEPTH) return this.#faults.deep(this.#place());
				return Array.isArray(value) ? this.#list(value) : this.#object(value);
			default:
				return this.#faults.foreign(typeof value, this.#place());
		}
	}

	#string(value: string): string {
		return isWellFormed(value) ? JSON.stringify(value) : this.#faults.text(value, this.#place());
	}

	#list(items: readonly unknown[]): string {
		let text = '';
		for (let index = 0; index < items.length; index += 1) {
			this.#path.push(index);
			text += `${index === 0 ? '' : ','}${this.write(items[index])}`;
			this.#path.pop();
		}
		return `[${text}]`;
	}

	#object(members: object): string {
		if (!isPlain(members)) return this.#faults.foreign(nameOf(members), this.#place());
		let text = '';
		for (const key of Object.keys(members)) {
			this.#path.push(key);
			text += `${text === '' ? '' : ','}${this.#string(key)}:${this.write((members as Record<string, unknown>)[key])}`;
			this.#path.pop();
		}
		return `{${text}}`;
	}

	#place(): string {
		const pointer = this.#path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
		return pointer.length > MAX_PLACE ? `${pointer.slice(0, MAX_PLACE)}…` : pointer;
	}
}

/** Data of JSON text that the core wrote. Integers that a number cannot hold exactly come back as bigints. */
export function readJson(text: string): unknown {
	// Almost no answer has a long row of digits, and `JSON.parse` is the fastest reader there is.
	if (!/\d{16}/.test(text)) return JSON.parse(text);
	return new ExactReader(text).value();
}

/** Reads JSON text that is known to be well formed and not too deep, in one pass. */
class ExactReader {
	#at = 0;
	readonly #text: string;

	constructor(text: string) {
		this.#text = text;
	}

	value(): unknown {
		this.#skipSpace();
		switch (this.#text[this.#at]) {
			case '{':
				return this.#object();
			case '[':
				return this.#list();
			case '"':
				return this.#string();
			default:
				return this.#literal();
		}
	}

	#object(): object {
		const members: Record<string, unknown> = {};
		while (this.#next() !== '}') {
			this.#skipSpace();
			const key = this.#string();
			this.#next();
			// `__proto__` is a key like any other.
			Object.defineProperty(members, key, {
				value: this.value(),
				writable: true,
				enumerable: true,
				configurable: true,
			});
			this.#skipSpace();
		}
		return members;
	}

	#list(): unknown[] {
		const items: unknown[] = [];
		while (this.#next() !== ']') {
			items.push(this.value());
			this.#skipSpace();
		}
		return items;
	}

	#string(): string {
		const start = this.#at;
		do {
			this.#at += this.#text[this.#at] === '\\' ? 2 : 1;
		} while (this.#text[this.#at] !== '"');
		this.#at += 1;
		return JSON.parse(this.#text.slice(start, this.#at)) as string;
	}

	#literal(): unknown {
		const start = this.#at;
		while (this.#at < this.#text.length && !',]} \n\r\t'.includes(this.#text[this.#at] as string)) this.#at += 1;
		const literal = this.#text.slice(start, this.#at);
		const large = /^-?\d+$/.test(literal) && !Number.isSafeInteger(Number(literal));
		return large ? BigInt(literal) : (JSON.parse(literal) as unknown);
	}

	/** Goes past the bracket, comma or colon that stands here; what closes the value may follow it directly. */
	#next(): string {
		this.#skipSpace();
		const mark = this.#text[this.#at] as string;
		if (mark === '}' || mark === ']') {
			this.#at += 1;
			return mark;
		}
		this.#at += 1;
		this.#skipSpace();
		const closing = this.#text[this.#at] as string;
		if ((mark === '{' && closing === '}') || (mark === '[' && closing === ']')) {
			this.#at += 1;
			return closing;
		}
		return mark;
	}

	#skipSpace(): void {
		while (' \n\r\t'.includes(this.#text[this.#at] ?? '.')) this.#at += 1;
	}
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
export function escapeHalfPairs(text: string): string {
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
		? `an object of class ${name.slice(0, MAX_PLACE)}`
		: 'a strange object';
}

/** JSON for the tests: what `JSON.parse` and `JSON.stringify` would change without a word is an error here. */

type Json = unknown;

/** A number with a fraction or an exponent, a long one, or minus zero. */
const NEEDS_CARE = /(?:^|[:[,])\s*-?(?:\d+[.eE]|\d{16}|(?<=-)0)/;

/** Reads JSON. Integers beyond 2^53 are bigints; a number that would be written in another way is refused. */
export function read(text: string): Json {
	// The fastest reader there is, unless a number may need care; a number that stands in a text does no harm here.
	if (!NEEDS_CARE.test(text)) return JSON.parse(text) as Json;
	let at = 0;
	const space = () => {
		while (/\s/.test(text[at] ?? '.')) at += 1;
	};
	const expect = (mark: string) => {
		space();
		if (text[at] !== mark) throw new Error(`expected ${mark} at ${at}`);
		at += 1;
	};
	const string = (): string => {
		const start = at;
		at += 1;
		while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
		at += 1;
		return JSON.parse(text.slice(start, at)) as string;
	};
	const scalar = (): Json => {
		const literal = /[^\s,\]}]+/y;
		literal.lastIndex = at;
		const found = literal.exec(text)?.[0] ?? '';
		at += found.length;
		if (!/^-?\d/.test(found)) return JSON.parse(found) as Json;
		if (/^-?\d+$/.test(found) && !Number.isSafeInteger(Number(found))) return BigInt(found);
		if (String(Number(found)) !== found) throw new Error(`${found} cannot be carried by a number: write it as text`);
		return Number(found);
	};
	const value = (): Json => {
		space();
		if (text[at] === '"') return string();
		if (text[at] === '[') {
			const items: Json[] = [];
			at += 1;
			for (space(); text[at] !== ']'; space()) {
				if (items.length > 0) expect(',');
				items.push(value());
			}
			at += 1;
			return items;
		}
		if (text[at] === '{') {
			const members: Record<string, Json> = {};
			at += 1;
			let first = true;
			for (space(); text[at] !== '}'; space()) {
				if (!first) expect(',');
				first = false;
				space();
				const key = string();
				expect(':');
				define(members, key, value());
			}
			at += 1;
			return members;
		}
		return scalar();
	};
	const found = value();
	space();
	if (at !== text.length) throw new Error(`more text at ${at}`);
	return found;
}

/** Writes JSON as the core does: compact, in the order of the keys. */
export function compact(value: Json): string {
	return write(value, (keys) => keys);
}

/** Writes JSON so that the same value is the same text, in every language: compact, keys in the order of their characters. */
export function canonical(value: Json): string {
	return write(value, (keys) => keys.sort(byCodePoint));
}

/** Sets a member as data, whatever its name is. */
export function define(members: Record<string, Json>, key: string, value: Json): void {
	Object.defineProperty(members, key, { value, writable: true, enumerable: true, configurable: true });
}

function write(value: Json, order: (keys: string[]) => string[]): string {
	if (typeof value === 'bigint') return String(value);
	if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${value} is no JSON`);
	if (Array.isArray(value)) return `[${value.map((item) => write(item, order)).join(',')}]`;
	if (typeof value === 'object' && value !== null) {
		const members = value as Record<string, Json>;
		return `{${order(Object.keys(members))
			.map((key) => `${JSON.stringify(key)}:${write(members[key], order)}`)
			.join(',')}}`;
	}
	const text = JSON.stringify(value);
	if (text === undefined) throw new Error(`${typeof value} is no JSON`);
	return text;
}

function byCodePoint(left: string, right: string): number {
	const [a, b] = [[...left], [...right]];
	for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
		const difference = (a[index]?.codePointAt(0) ?? 0) - (b[index]?.codePointAt(0) ?? 0);
		if (difference !== 0) return difference;
	}
	return a.length - b.length;
}

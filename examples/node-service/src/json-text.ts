/** JSON as text: `JSON.parse` would round large integers and put keys that look like numbers first. */

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[^\s"{}[\],:]+|[{}[\],:]/g;

/** One member of the object that the text is, laid out on lines of its own; `undefined` if there is no such member. */
export function memberLaidOut(object: string, name: string): string | undefined {
	const tokens = object.match(TOKENS) ?? [];
	let depth = 0;
	let begin = -1;
	for (const [place, token] of tokens.entries()) {
		if (depth === 1 && begin >= 0 && (token === ',' || token === '}')) return laidOut(tokens.slice(begin, place));
		if (token === '{' || token === '[') depth += 1;
		if (token === '}' || token === ']') depth -= 1;
		if (depth === 1 && begin < 0 && token === ':' && JSON.parse(tokens[place - 1] ?? '') === name) begin = place + 1;
	}
	return undefined;
}

function laidOut(tokens: readonly string[]): string {
	let text = '';
	let depth = 0;
	const newLine = () => `\n${'  '.repeat(depth)}`;
	for (const [place, token] of tokens.entries()) {
		const [before, after] = [tokens[place - 1], tokens[place + 1]];
		if (token === '{' || token === '[') {
			const isEmpty = after === '}' || after === ']';
			if (!isEmpty) depth += 1;
			text += isEmpty ? token : token + newLine();
		} else if (token === '}' || token === ']') {
			const isEmpty = before === '{' || before === '[';
			if (!isEmpty) depth -= 1;
			text += isEmpty ? token : newLine() + token;
		} else if (token === ',') {
			text += token + newLine();
		} else {
			text += token === ':' ? ': ' : token;
		}
	}
	return text;
}

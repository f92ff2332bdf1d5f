/** Reads server-sent events from text. */

export interface StreamEvent {
	id: string;
	event: string;
	data: string;
}

/** Puts events together from the pieces in which they arrive. */
export class EventParser {
	#rest = '';
	#id = '';
	#event = '';
	#data: string[] = [];
	readonly #take: (event: StreamEvent) => void;

	constructor(take: (event: StreamEvent) => void) {
		this.#take = take;
	}

	push(piece: string): void {
		const text = this.#rest + piece;
		let start = 0;
		for (const match of text.matchAll(/\r\n|\n|\r/g)) {
			// A carriage return at the very end may be half of a pair.
			if (match[0] === '\r' && match.index === text.length - 1) break;
			this.#line(text.slice(start, match.index));
			start = match.index + match[0].length;
		}
		this.#rest = text.slice(start);
	}

	#line(line: string): void {
		if (line === '') {
			this.#dispatch();
			return;
		}
		const colon = line.indexOf(':');
		const name = colon === -1 ? line : line.slice(0, colon);
		const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
		if (name === 'id') this.#id = value;
		else if (name === 'event') this.#event = value;
		else if (name === 'data') this.#data.push(value);
	}

	#dispatch(): void {
		if (this.#data.length > 0) {
			this.#take({ id: this.#id, event: this.#event || 'message', data: this.#data.join('\n') });
		}
		this.#event = '';
		this.#data = [];
	}
}

/** What a process prints, as the text of turns: decoded as it comes, and cut at the lines that end a turn. */

import { isUtf8 } from 'node:buffer';

/**
 * Takes the output of one process in chunks. Where they are cut makes no difference to what comes of them.
 *
 * A turn with more than `limit` bytes is cut after the first character above it (`tooLarge`); what is not UTF-8 ends the
 * text in front of it (`notUtf8`). After either, nothing more is taken. With `endOfTurn` a line that is equal to it ends
 * a turn and belongs to none.
 */
export class TurnOutput {
	tooLarge = false;
	notUtf8 = false;
	readonly #limit: number;
	readonly #endOfTurn: string | undefined;
	/** The beginning of a character whose rest has not come yet. */
	#half: Buffer = Buffer.alloc(0);
	/**
	 * A turn is kept with the line break before it (for the first one there is none, but it is put there), so that its
	 * first line is found like all others. The tail may be the beginning of the line that ends the turn: a line break
	 * and what follows. It is neither counted nor searched again before that is known.
	 */
	#tail: string;
	#parts: string[] = [];
	#bytes: number;

	constructor(limit: number, endOfTurn?: string) {
		this.#limit = limit;
		this.#endOfTurn = endOfTurn;
		this.#tail = endOfTurn === undefined ? '' : '\n';
		this.#bytes = -this.#tail.length;
	}

	/** Whether nothing more is taken. */
	get stopped(): boolean {
		return this.tooLarge || this.notUtf8;
	}

	/** The text of the turn that has not ended. */
	get text(): string {
		const text = this.#parts.join('') + this.#tail;
		return this.#endOfTurn === undefined ? text : text.slice(1);
	}

	/** Takes the next chunk. Gives the texts of the turns that ended with it. */
	feed(chunk: Uint8Array): string[] {
		if (this.stopped) return [];
		const data = Buffer.concat([this.#half, chunk]);
		const whole = data.length - halfAtEnd(data);
		if (isUtf8(data.subarray(0, whole))) {
			this.#half = data.subarray(whole);
			return this.#take(data.toString('utf8', 0, whole));
		}
		// What is in front of the fault still counts: a turn may have ended there.
		const turns = this.#take(data.toString('utf8', 0, validLength(data)));
		this.notUtf8 = !this.tooLarge;
		return turns;
	}

	/** There is no more. */
	end(): void {
		this.notUtf8 ||= !this.stopped && this.#half.length > 0;
	}

	#take(chunk: string): string[] {
		if (this.#endOfTurn === undefined) {
			this.#keep(chunk);
			return [];
		}
		const turns: string[] = [];
		let text = this.#tail + chunk;
		this.#tail = '';
		const lastLine = `\n${this.#endOfTurn}`;
		let start = 0;
		for (let found = text.indexOf(lastLine); found >= 0; ) {
			const after = found + lastLine.length;
			const end = text.startsWith('\r\n', after) ? after + 1 : after;
			if (!text.startsWith('\n', end)) {
				// A longer line, or one that goes on in the next chunk.
				found = text.indexOf(lastLine, found + 1);
				continue;
			}
			this.#keep(text.slice(start, found + 1));
			if (this.tooLarge) return turns;
			turns.push(this.#parts.join('').slice(1));
			this.#parts = [];
			this.#bytes = -1;
			start = end;
			found = text.indexOf(lastLine, start);
		}
		const tail = text.lastIndexOf('\n');
		if (tail >= start && `${this.#endOfTurn}\r`.startsWith(text.slice(tail + 1))) {
			this.#tail = text.slice(tail);
			text = text.slice(0, tail);
		}
		this.#keep(text.slice(start));
		if (this.tooLarge) this.#tail = '';
		return turns;
	}

	#keep(text: string): void {
		const room = this.#limit - this.#bytes;
		const size = Buffer.byteLength(text);
		this.#bytes += size;
		if (size <= room) {
			this.#parts.push(text);
			return;
		}
		this.tooLarge = true;
		const data = Buffer.from(text);
		let end = room + 1;
		// The rest of a character.
		while (((data[end] ?? 0) & 0xc0) === 0x80) end += 1;
		this.#parts.push(data.toString('utf8', 0, end));
	}
}

/** How many bytes at the end begin a character that is not complete. */
function halfAtEnd(data: Buffer): number {
	for (let back = 1; back <= Math.min(3, data.length); back += 1) {
		const byte = data[data.length - back] ?? 0;
		if ((byte & 0xc0) === 0x80) continue;
		// No character begins with one of the last bytes.
		if (byte > 0xf4) return 0;
		const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
		return needs > back ? back : 0;
	}
	return 0;
}

/** How many bytes from the beginning are whole characters, of data that is not UTF-8. */
function validLength(data: Buffer): number {
	const whole = (length: number) => length - halfAtEnd(data.subarray(0, length));
	let [good, bad] = [0, data.length];
	while (bad - good > 1) {
		const middle = (good + bad) >> 1;
		if (isUtf8(data.subarray(0, whole(middle)))) good = middle;
		else bad = middle;
	}
	return whole(good);
}

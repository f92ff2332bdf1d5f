/** What agents say while their turns are under way, for those who look on. Nothing of it is stored, and little is kept. */

import type { Piece } from 'turnlatch';
import type { Said } from 'turnlatch/node';

const KEPT_BYTES = 64 * 1024;

interface Message extends Piece {
	/** How much was said in the turn before what is kept of this message. */
	start: number;
	bytes: number;
}

/** The words of one turn: the last of them, and how much was said in all. */
class Turn {
	readonly attemptNumber: number;
	#messages: Message[] = [];
	#bytes = 0;
	#end = 0;

	constructor(attemptNumber: number) {
		this.attemptNumber = attemptNumber;
	}

	/** How much was said. */
	get end(): number {
		return this.#end;
	}

	/** How much was said before what is kept. */
	get start(): number {
		return this.#messages[0]?.start ?? 0;
	}

	add({ message, role, text }: Piece): void {
		const bytes = Buffer.byteLength(text);
		const last = this.#messages.at(-1);
		if (last?.message === message && last.role === role) {
			last.text += text;
			last.bytes += bytes;
		} else {
			this.#messages.push({ message, role, text, bytes, start: this.#end });
		}
		this.#end += text.length;
		this.#bytes += bytes;
		this.#cut();
	}

	/** What was said after this much, joined by message. */
	after(position: number): Piece[] {
		return this.#messages
			.filter(({ start, text }) => start + text.length > position)
			.map(({ message, role, text, start }) => ({ message, role, text: text.slice(Math.max(position - start, 0)) }));
	}

	/** The oldest messages go first; of a single one that is too long, its end stays. */
	#cut(): void {
		while (this.#bytes > KEPT_BYTES && this.#messages.length > 1) {
			this.#bytes -= this.#messages.shift()?.bytes ?? 0;
		}
		const [only] = this.#messages;
		if (only === undefined || this.#bytes <= KEPT_BYTES) return;
		const kept = endOf(only.text);
		only.start += only.text.length - kept.length;
		only.text = kept;
		only.bytes = Buffer.byteLength(kept);
		this.#bytes = only.bytes;
	}
}

/** How far somebody has read; the words of a turn that came to its end are no longer there to be read. */
export interface Position {
	readonly turn: Turn;
	readonly read: number;
}

/** What is new to a reader: of a turn that it has not begun to read, or could not follow, all that is kept. */
export interface News {
	readonly said: { attempt_number: number; from_start: boolean; pieces: Piece[] };
	readonly position: Position;
}

/** The words of every turn under way, by its run. */
export class LiveWords {
	readonly #turns = new Map<string, Turn>();

	take({ run_id: runId, attempt_number: attemptNumber, pieces }: Said): void {
		let turn = this.#turns.get(runId);
		if (turn?.attemptNumber !== attemptNumber) {
			turn = new Turn(attemptNumber);
			this.#turns.set(runId, turn);
		}
		for (const piece of pieces) turn.add(piece);
	}

	/** What is new of this turn since a position; `undefined` if nothing is. */
	newsOf(runId: string, attemptNumber: number, position: Position | undefined): News | undefined {
		const turn = this.#turns.get(runId);
		if (turn?.attemptNumber !== attemptNumber || (position?.turn === turn && position.read === turn.end)) {
			return undefined;
		}
		const isNew = position?.turn !== turn || position.read < turn.start;
		const pieces = turn.after(isNew ? 0 : position.read);
		return {
			said: { attempt_number: turn.attemptNumber, from_start: isNew, pieces },
			position: { turn, read: turn.end },
		};
	}

	/** The turn is over. */
	forget(runId: string): void {
		this.#turns.delete(runId);
	}
}

/** The last words, cut between characters. */
function endOf(text: string): string {
	const bytes = Buffer.from(text);
	let start = bytes.length - KEPT_BYTES;
	// The rest of a character.
	while (((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
	return bytes.toString('utf8', start);
}

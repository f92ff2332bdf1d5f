/** What the agent says while its turn is under way. It is looked at and forgotten: what counts is the turn's step. */

import { type ReadonlySignal, signal } from '@preact/signals';
import type { Piece } from 'turnlatch';

/** The data of an event `said`. */
export interface Said {
	attempt_number: number;
	/** Everything that is still known of the turn, in place of what came before. */
	from_start: boolean;
	pieces: Piece[];
}

/** As much as the service keeps. */
const KEPT = 64 * 1024;

export class AgentWords {
	readonly #messages = signal<readonly Piece[]>([]);
	#attempt = 0;
	#arrived: Said[] = [];

	/** The turn's messages so far, oldest first; none when no turn is under way. */
	get messages(): ReadonlySignal<readonly Piece[]> {
		return this.#messages;
	}

	take(said: Said): void {
		// Words come in many small pieces; those that arrive together are shown together.
		if (this.#arrived.length === 0) queueMicrotask(() => this.#show());
		this.#arrived.push(said);
	}

	/** The turn is over. */
	forget(): void {
		this.#arrived = [];
		this.#messages.value = [];
	}

	#show(): void {
		let messages = this.#messages.value;
		for (const { attempt_number, from_start, pieces } of this.#arrived) {
			if (from_start || attempt_number !== this.#attempt) messages = [];
			this.#attempt = attempt_number;
			messages = joined(messages, pieces);
		}
		this.#arrived = [];
		this.#messages.value = lastOf(messages);
	}
}

function joined(messages: readonly Piece[], pieces: readonly Piece[]): Piece[] {
	const all = [...messages];
	for (const piece of pieces) {
		const last = all.at(-1);
		const goesOn = last?.message === piece.message && last.role === piece.role;
		if (goesOn) all[all.length - 1] = { ...last, text: last.text + piece.text };
		else all.push(piece);
	}
	return all;
}

/** A long turn must not fill the tab: the oldest messages go first, and of one that is too long its end stays. */
function lastOf(messages: readonly Piece[]): readonly Piece[] {
	let length = messages.reduce((sum, { text }) => sum + text.length, 0);
	let first = 0;
	while (length > KEPT && first < messages.length - 1) {
		length -= messages[first]?.text.length ?? 0;
		first += 1;
	}
	if (length <= KEPT) return messages.slice(first);
	return messages.slice(first).map((message) => ({ ...message, text: message.text.slice(-KEPT) }));
}

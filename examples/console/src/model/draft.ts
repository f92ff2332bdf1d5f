/** An answer in the making: what a person has put together so far, and what would be sent. */

import type { Interaction, Json } from 'turnlatch';

export interface Choice {
	label: string;
	response: Json;
}

/** Of the ways to answer, the one that was used last counts. */
export interface Draft {
	from: 'choice' | 'fields' | 'words' | undefined;
	choice: number;
	fields: ReadonlyMap<string, string>;
	words: string;
}

export const EMPTY: Draft = { from: undefined, choice: -1, fields: new Map(), words: '' };

/** The answers that can be given by one button: the agent's, or those that lie in the question's kind. */
export function choicesOf({ kind, options }: Interaction): Choice[] {
	if (options.length > 0) return options.map(({ label, value }) => ({ label, response: value ?? label }));
	if (kind === 'confirm') return ['Yes', 'No'].map((label) => ({ label, response: label.toLowerCase() }));
	if (kind === 'risk_ack') {
		return [
			{ label: 'I accept the risk: go on', response: 'I accept the risk, go on' },
			{ label: 'Do not go on', response: 'do not go on' },
		];
	}
	return [];
}

/** What would be sent; undefined while there is nothing. */
export function responseOf({ from, choice, fields, words }: Draft, choices: readonly Choice[]): Json | undefined {
	switch (from) {
		case 'choice':
			return choices[choice]?.response;
		case 'fields':
			return [...fields.values()].some((value) => value !== '') ? Object.fromEntries(fields) : undefined;
		case 'words':
			return words === '' ? undefined : words;
		case undefined:
			return undefined;
	}
}

/** A name for one attempt to answer, so that sending it twice is harmless. Works on pages without https, too. */
export function freshKey(): string {
	return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

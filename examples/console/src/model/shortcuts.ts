/** Single keys, for people who like them. They can be switched off, because voice control and slips type keys, too. */

import { signal } from '@preact/signals';
import { keep, kept } from './kept.js';
import { go } from './route.js';
import { nextTheme } from './theme.js';

export const keysOn = signal(kept('local', 'keys') !== 'off');

export function switchKeys(on: boolean): void {
	keysOn.value = on;
	keep('local', 'keys', on ? null : 'off');
}

interface Shortcut {
	keys: string;
	words: string;
	act: (key: string) => void;
}

const focus = (selector: string): void => document.querySelector<HTMLElement>(selector)?.focus();
const click = (selector: string): void => document.querySelector<HTMLElement>(selector)?.click();

/** Moves the focus through the list of runs. */
function moveInList(by: number): void {
	const rows = [...document.querySelectorAll<HTMLElement>('.run-list a')];
	const at = rows.indexOf(document.activeElement as HTMLElement);
	rows[at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))]?.focus();
}

export const SHORTCUTS: readonly Shortcut[] = [
	{ keys: 'r', words: 'The list of runs', act: () => go('#/') },
	{ keys: 'n', words: 'New job', act: () => go('#/new') },
	{ keys: 'o', words: 'Open a recorded run', act: () => go('#/file') },
	{ keys: 'j', words: 'Next run in the list', act: () => moveInList(1) },
	{ keys: 'k', words: 'Previous run in the list', act: () => moveInList(-1) },
	{ keys: 'f', words: 'To the filters', act: () => focus('.filters button') },
	{ keys: 'a', words: 'To the answer of the question', act: () => focus('#answer') },
	{ keys: '123456789', words: 'Choose a suggested answer', act: (key) => click(`[data-choice="${key}"]`) },
	{ keys: 'w', words: 'To the reasons', act: () => focus('#why') },
	{ keys: '[', words: 'One step back in a recorded run', act: () => click('[data-step="back"]') },
	{ keys: ']', words: 'One step on in a recorded run', act: () => click('[data-step="next"]') },
	{ keys: 't', words: 'Change the theme', act: nextTheme },
];

const TYPED_INTO = 'input:not([type="radio"], [type="range"], [type="checkbox"]), textarea, select, dialog[open]';

/** Listens until the returned function is called. `?` always works; it shows how to switch the others on. */
export function listenForKeys(showShortcuts: () => void): () => void {
	const listen = (event: KeyboardEvent): void => {
		const target = event.target as HTMLElement;
		// A closed dialog keeps the focus until the browser next draws the page, so only an open one counts.
		const typing = target.closest(TYPED_INTO) !== null;
		if (typing || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
		if (event.key === '?') {
			event.preventDefault();
			showShortcuts();
			return;
		}
		const shortcut = SHORTCUTS.find(({ keys }) => event.key.length === 1 && keys.includes(event.key));
		if (shortcut === undefined || !keysOn.value) return;
		event.preventDefault();
		shortcut.act(event.key);
	};
	addEventListener('keydown', listen);
	return () => removeEventListener('keydown', listen);
}

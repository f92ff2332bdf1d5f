/** Light, dark, or as the system has it. `theme.js` applies the choice before the first paint. */

import { effect, signal } from '@preact/signals';
import { keep, kept } from './kept.js';

type Theme = 'system' | 'light' | 'dark';

const ORDER: readonly Theme[] = ['system', 'light', 'dark'];

export const theme = signal<Theme>(ORDER.find((name) => name === kept('local', 'theme')) ?? 'system');

export function nextTheme(): void {
	theme.value = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length] ?? 'system';
	keep('local', 'theme', theme.value === 'system' ? null : theme.value);
}

effect(() => {
	if (theme.value === 'system') delete document.documentElement.dataset.theme;
	else document.documentElement.dataset.theme = theme.value;
});

/** What a screen reader is told while something else has the focus. */

import { signal } from '@preact/signals';

export interface Announcement {
	readonly id: number;
	readonly text: string;
}

/** One that a screen reader has not come to yet must still be there, however soon the next one follows. */
const KEPT = 10;

export const announcements = signal<readonly Announcement[]>([]);

export function announce(text: string): void {
	const id = (announcements.value.at(-1)?.id ?? 0) + 1;
	announcements.value = [...announcements.value, { id, text }].slice(-KEPT);
}

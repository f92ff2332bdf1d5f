/** What a screen reader is told while something else has the focus. */

import { signal } from '@preact/signals';

export const announcement = signal('');

export function announce(text: string): void {
	// The same words twice would not be read a second time; a space that cannot be heard makes them new.
	announcement.value = announcement.value === text ? `${text}\u00a0` : text;
}

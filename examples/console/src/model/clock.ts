/** The service's time. Deadlines are its own, and a browser's clock may be minutes off. */

import { signal } from '@preact/signals';

let offset = 0;

/** The time now, once a second: what a countdown is drawn from. */
export const seconds = signal(Date.now());

/** Milliseconds since the Unix epoch by the service's clock, as far as it is known. */
export function serviceNow(): number {
	return Date.now() + offset;
}

/** Takes the time of an answer. The header counts whole seconds, so a small difference says nothing. */
export function learnTime(header: string | null): void {
	const told = header === null ? Number.NaN : Date.parse(header);
	if (Number.isNaN(told)) return;
	const difference = told + 500 - Date.now();
	offset = Math.abs(difference) > 2000 ? difference : 0;
}

setInterval(() => {
	seconds.value = serviceNow();
}, 1000);

/** What the header shows of the service: its slots, and whether the page is connected to it. */

import { type ReadonlySignal, signal } from '@preact/signals';
import * as api from './api.js';
import type { Connection } from './stream.js';

export const serviceHealth = signal<api.Health | undefined>(undefined);
/** The stream of the page that is open. There is one at a time: a browser has few connections to one host. */
export const activeConnection = signal<ReadonlySignal<Connection> | undefined>(undefined);

const EVERY_MS = 10_000;
let asked = false;

/** Asks the service how it is, once for any number of calls in a moment. */
export function refreshHealth(): void {
	if (asked) return;
	asked = true;
	setTimeout(async () => {
		asked = false;
		try {
			serviceHealth.value = await api.health();
		} catch {
			// The connection's state tells it already.
		}
	}, 100);
}

setInterval(() => {
	if (document.visibilityState === 'visible') refreshHealth();
}, EVERY_MS);

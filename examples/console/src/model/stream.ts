/** Server-sent events by `fetch`, because an `EventSource` cannot send a token. */

import type { ReadonlySignal } from '@preact/signals';
import { signal } from '@preact/signals';
import { ApiError, request } from './api.js';
import { EventParser, type StreamEvent } from './event-parser.js';

/** `ended`: nothing more will come. `refused`: the service said no, and asking again would not help. */
export type Connection =
	| { state: 'connecting' }
	| { state: 'live' }
	| { state: 'retrying' }
	| { state: 'ended' }
	| { state: 'refused'; error: ApiError };

export interface Stream {
	readonly connection: ReadonlySignal<Connection>;
	close(): void;
}

const SHORTEST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 10_000;
/** The service says something every 15 seconds; a connection that is silent for longer is dead. */
const SILENCE_MS = 40_000;
/** A browser has six connections to one host, so a tab that nobody sees only looks in from time to time. */
const LOOK_MS = 2000;
const REST_MS = 20_000;

/** Follows a stream until it ends, and takes it up again where it broke off. */
export function follow(path: string, take: (event: StreamEvent) => void): Stream {
	const connection = signal<Connection>({ state: 'connecting' });
	const closing = new AbortController();
	let lastId = '';
	let failures = 0;
	let ended = false;

	const taken = (event: StreamEvent): void => {
		failures = 0;
		if (event.id !== '') lastId = event.id;
		if (event.event === 'end') ended = true;
		else take(event);
	};
	const opened = (): void => {
		connection.value = { state: 'live' };
	};
	const run = async (): Promise<void> => {
		while (!closing.signal.aborted) {
			try {
				ended = (await connect(path, lastId, closing.signal, opened, taken)) || ended;
			} catch (error) {
				if (error instanceof ApiError && isFinal(error.status)) {
					connection.value = { state: 'refused', error };
					return;
				}
			}
			if (ended) {
				connection.value = { state: 'ended' };
				return;
			}
			if (isHidden()) {
				await pause(REST_MS, closing.signal);
				continue;
			}
			failures += 1;
			connection.value = { state: 'retrying' };
			const longest = Math.min(LONGEST_WAIT_MS, SHORTEST_WAIT_MS * 2 ** (failures - 1));
			await pause(longest * (0.75 + Math.random() / 4), closing.signal);
		}
	};
	void run();
	return { connection, close: () => closing.abort() };
}

/** One connection, until it breaks. Whether the service says that nothing more can come. */
async function connect(
	path: string,
	lastId: string,
	closing: AbortSignal,
	opened: () => void,
	take: (event: StreamEvent) => void,
): Promise<boolean> {
	const leaving = new AbortController();
	const leave = (): void => leaving.abort();
	let silence = setTimeout(leave, SILENCE_MS);
	let look: ReturnType<typeof setTimeout> | undefined;
	const seen = (): void => {
		clearTimeout(look);
		look = isHidden() ? setTimeout(leave, LOOK_MS) : undefined;
	};
	document.addEventListener('visibilitychange', seen);
	seen();
	try {
		const headers = { accept: 'text/event-stream', ...(lastId === '' ? {} : { 'last-event-id': lastId }) };
		const response = await request(path, { headers, signal: AbortSignal.any([closing, leaving.signal]) });
		if (response.status === 204 || response.body === null) return true;
		opened();
		const parser = new EventParser(take);
		const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
		for (;;) {
			const { done, value } = await reader.read();
			if (done) return false;
			clearTimeout(silence);
			silence = setTimeout(leave, SILENCE_MS);
			parser.push(value);
		}
	} finally {
		clearTimeout(silence);
		clearTimeout(look);
		document.removeEventListener('visibilitychange', seen);
	}
}

function isHidden(): boolean {
	return document.visibilityState === 'hidden';
}

/** A request that was wrong stays wrong; a service that stops or starts does not. */
function isFinal(status: number): boolean {
	return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

/** Waits, but not once the browser is on the network again or the tab is looked at. */
function pause(ms: number, closing: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		const woken = new AbortController();
		const wake = (): void => {
			clearTimeout(timer);
			woken.abort();
			resolve();
		};
		const timer = setTimeout(wake, ms);
		const { signal } = woken;
		addEventListener('online', wake, { signal });
		document.addEventListener('visibilitychange', () => isHidden() || wake(), { signal });
		closing.addEventListener('abort', wake, { signal });
	});
}

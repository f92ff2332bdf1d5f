/** Who may ask, and how much may be sent. */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { NotServed } from './errors.js';
import type { Settings } from './settings.js';

const BODY_BYTES = 2 * 1024 * 1024;
const READ_PAST_BYTES = 8 * 1024 * 1024;
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
const PUBLIC = '/v1/health';
const METRICS = '/metrics';
const REPLACEMENT = Buffer.from('\ufffd');

/** What marks every answer. */
export const SAFE_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

/** The client has closed its connection in the middle of its request. */
export class ClientGone extends Error {}

/** Turns strangers away. */
export function admitRequest({ headers, headersDistinct }: IncomingMessage, path: string, settings: Settings): void {
	const host = (headers.host ?? '').toLowerCase();
	// A page of a stranger's name that resolves to this machine sends that name.
	if (settings.onLoopback && ![...LOOPBACK_NAMES, settings.host.toLowerCase()].includes(nameOf(host))) {
		throw new NotServed('ORIGIN_FORBIDDEN', 'this service answers to localhost only');
	}
	for (const origin of headersDistinct.origin ?? []) {
		if (![`http://${host}`, `https://${host}`].includes(origin.toLowerCase())) {
			throw new NotServed('ORIGIN_FORBIDDEN', 'pages of other origins may not use this service');
		}
	}
	const isForAll = path === PUBLIC || !(path.startsWith('/v1/') || path === METRICS);
	if (settings.token !== undefined && !isForAll) {
		const [, scheme = '', given = ''] = /^([^ ]*) ?(.*)$/s.exec(headers.authorization ?? '') ?? [];
		// Node reads headers as Latin-1; a token is UTF-8.
		const known = isSame(Buffer.from(given.trim(), 'latin1'), Buffer.from(settings.token));
		if (scheme.toLowerCase() !== 'bearer' || !known) {
			const message = "send the service's token as a bearer token";
			throw new NotServed('UNAUTHORIZED', message, { headers: { 'WWW-Authenticate': 'Bearer' } });
		}
	}
}

/** A request's JSON text, or why it is not taken. What it says is for the core to read. */
export async function readBody(request: IncomingMessage): Promise<string> {
	const body = await bytesOf(request);
	if (body.length > 0 && !isJson(request.headers['content-type'] ?? '')) {
		throw new NotServed('MEDIA_TYPE_UNSUPPORTED', 'a body is sent as application/json');
	}
	const text = body.toString();
	const fault = faultIn(text, body);
	if (fault !== undefined) throw new NotServed('REQUEST_MALFORMED', `the body is not UTF-8 at byte ${fault}`);
	return text;
}

/**
 * Where a request's address leads, in one spelling: escapes that are not needed make no difference, neither to the
 * routes nor to those who look at the path before them.
 */
export function plainAddress(url: string): string {
	const [, path = '', query = ''] = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/?]*)?([^?]*)(.*)$/is.exec(url) ?? [];
	const bytes = path.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
		String.fromCharCode(Number.parseInt(hex, 16)),
	);
	const decoded = Buffer.from(bytes, 'latin1').toString();
	return decoded.split('/').map(encodeURIComponent).join('/') + query;
}

function bytesOf(request: IncomingMessage): Promise<Buffer> {
	return new Promise((resolve, reject) => {
		const tooLarge = new NotServed('BODY_TOO_LARGE', `a body has at most ${BODY_BYTES} bytes`);
		const chunks: Buffer[] = [];
		let size = 0;
		request.on('data', (chunk: Buffer) => {
			size += chunk.length;
			if (size <= BODY_BYTES) chunks.push(chunk);
			// A little more than the limit is read and forgotten: a client that is still sending would not see the answer.
			else if (size > BODY_BYTES + READ_PAST_BYTES) {
				request.pause();
				// Nobody reads on: the rest may never end.
				reject(new NotServed(tooLarge.code, tooLarge.message, { headers: { Connection: 'close' } }));
			}
		});
		request.on('end', () => (size > BODY_BYTES ? reject(tooLarge) : resolve(Buffer.concat(chunks))));
		request.on('close', () => reject(new ClientGone()));
		request.on('error', () => reject(new ClientGone()));
	});
}

/** Where the bytes that were decoded to this text are not UTF-8. */
function faultIn(text: string, body: Buffer): number | undefined {
	let [at, start] = [0, 0];
	for (let found = text.indexOf('\ufffd'); found >= 0; found = text.indexOf('\ufffd', found + 1)) {
		start += Buffer.byteLength(text.slice(at, found));
		at = found;
		// It may have been sent as it is.
		if (!body.subarray(start, start + REPLACEMENT.length).equals(REPLACEMENT)) return start;
	}
	return undefined;
}

function isJson(contentType: string): boolean {
	const [kind, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
	const taken = ['', 'charset=utf-8', 'charset="utf-8"'];
	return kind === 'application/json' && parameters.every((part) => taken.includes(part));
}

/** The host without its port. */
function nameOf(host: string): string {
	return host.replace(/:[0-9]*$/, '');
}

/** Takes the same time whatever is given. */
function isSame(one: Buffer, other: Buffer): boolean {
	const [first, second] = [one, other].map((bytes) => createHash('sha256').update(bytes).digest());
	return first !== undefined && second !== undefined && timingSafeEqual(first, second);
}

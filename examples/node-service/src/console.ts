/** The console's files. No path leads out of its folder. */

import { readFile } from 'node:fs/promises';
import { extname, join, resolve } from 'node:path';
import { NotServed } from './errors.js';
import { realFileIn, realPath } from './paths.js';

const POLICY =
	"default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self' data:; object-src 'none'; " +
	"base-uri 'none'; frame-ancestors 'none'; form-action 'none'";
const NOT_BUILT = 'The console is not built. The API is at /v1; its description is at /v1/openapi.json.\n';
const TYPES: Readonly<Record<string, string>> = {
	'.css': 'text/css; charset=utf-8',
	'.html': 'text/html; charset=utf-8',
	'.ico': 'image/vnd.microsoft.icon',
	'.js': 'text/javascript; charset=utf-8',
	'.json': 'application/json',
	'.map': 'application/json',
	'.png': 'image/png',
	'.svg': 'image/svg+xml',
	'.txt': 'text/plain; charset=utf-8',
	'.wasm': 'application/wasm',
	'.webmanifest': 'application/manifest+json',
	'.woff2': 'font/woff2',
};

/** A file as it is sent. */
export interface FileAnswer {
	readonly headers: Readonly<Record<string, string>>;
	readonly content: Buffer;
}

/** A file of the console, or `PATH_UNKNOWN`. */
export async function consoleFile(folder: string, path: string): Promise<FileAnswer> {
	const real = (await realPath(folder)) ?? folder;
	const index = join(folder, 'index.html');
	// A zero byte is the one character that no path can have.
	const wanted = path.includes('\0') ? undefined : await realFileIn(real, path === '' ? index : resolve(folder, path));
	if (path === '' && wanted === undefined) return answer('.txt', Buffer.from(NOT_BUILT));
	if (wanted === undefined) throw new NotServed('PATH_UNKNOWN', 'there is nothing at this path');
	return answer(extname(wanted), await readFile(wanted));
}

function answer(extension: string, content: Buffer): FileAnswer {
	const type = TYPES[extension] ?? 'application/octet-stream';
	return { headers: { 'Content-Security-Policy': POLICY, 'Content-Type': type }, content };
}

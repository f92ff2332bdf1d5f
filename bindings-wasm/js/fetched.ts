/** Fetches the wasm in a browser, and says what was found where something else is. */

import { initFrom } from './instance.js';
import type { InitInput } from './public.js';

type Source = Awaited<ReturnType<Parameters<typeof initFrom>[0]>>;

const MAGIC = [0x00, 0x61, 0x73, 0x6d];

/** Makes the core of what was given, or of the file beside the module; `file` is its name in the package. */
export function initFetched(
	input: InitInput | Promise<InitInput> | undefined,
	beside: URL,
	file: string,
): Promise<void> {
	return initFrom(async () => {
		const given = await input;
		return given === undefined ? wasmBeside(beside, file) : wasmOf(given, file);
	});
}

/**
 * The dev server of Vite 5 to 7 moves modules out of their package into `node_modules/.vite/deps` and leaves the wasm behind,
 * which it serves where it is.
 */
async function wasmBeside(beside: URL, file: string): Promise<Source> {
	try {
		return await wasmOf(beside, file);
	} catch (error) {
		if (!beside.pathname.includes('/node_modules/.vite/deps/')) throw error;
		return wasmOf(new URL(`../../turnlatch/dist/${file}`, beside), file);
	}
}

/** What `initFrom` takes. A response is checked, because servers of pages answer what they do not know with a page. */
async function wasmOf(input: InitInput, file: string): Promise<Source> {
	const isAddress = typeof input === 'string' || input instanceof URL || input instanceof Request;
	const found = isAddress ? await fetch(input) : input;
	if (!(found instanceof Response)) return found as Source;
	const type = found.headers.get('content-type') ?? 'no content type';
	if (found.ok && type.startsWith('application/wasm')) return found;
	const bytes = new Uint8Array(await found.arrayBuffer());
	if (found.ok && MAGIC.every((byte, index) => bytes[index] === byte)) return bytes;
	throw new TypeError(
		`turnlatch: ${found.url} is not the wasm file: found ${type}, status ${found.status}. In the dev server of Vite, write ` +
			"`optimizeDeps: { exclude: ['turnlatch'] }` into its configuration; elsewhere give init the file's address, as in " +
			`\`import url from 'turnlatch/${file}?url'; await init(url)\``,
	);
}

/** The entry without the schema engine, for browsers and bundlers. It checks no turn against a schema. */

import { initFetched } from './fetched.js';
import type { InitInput } from './public.js';

export * from './public.js';
export * from './slim-codes.js';

/** Fetches and compiles the wasm, by default the file beside this one. Call it once, before anything else. */
export async function init(input?: InitInput | Promise<InitInput>): Promise<void> {
	await initFetched(input, new URL('./turnlatch_slim_bg.wasm', import.meta.url), 'turnlatch_slim_bg.wasm');
}

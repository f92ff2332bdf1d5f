/** The entry for browsers, by themselves and by bundlers. */

import { initFetched } from './fetched.js';
import type { InitInput } from './public.js';

export * from './public.js';

/** Fetches and compiles the wasm, by default the file beside this one. Call it once, before anything else. */
export async function init(input?: InitInput | Promise<InitInput>): Promise<void> {
	await initFetched(input, new URL('./turnlatch_bg.wasm', import.meta.url), 'turnlatch_bg.wasm');
}

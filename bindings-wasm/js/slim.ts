/** The entry for pages that show runs and predict replies: the core without the schema engine, admission and streams. */

import type { InitInput } from './common.js';
import { initFetched } from './fetched.js';

export * from './common.js';

/** Fetches and compiles the wasm, by default the file beside this one. Call it once, before anything else. */
export async function init(input?: InitInput | Promise<InitInput>): Promise<void> {
	await initFetched(input, new URL('./turnlatch_slim_bg.wasm', import.meta.url), 'turnlatch_slim_bg.wasm');
}

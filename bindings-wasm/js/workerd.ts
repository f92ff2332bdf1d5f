/** The entry for edge workers, where a wasm file is imported as a compiled module. */

import { initSync } from './instance.js';
import type { InitInput } from './public.js';
import wasm from './turnlatch_bg.wasm';

export * from './public.js';

initSync(wasm);

/** Does nothing here; in browsers it fetches the wasm. */
export async function init(_input?: InitInput | Promise<InitInput>): Promise<void> {}

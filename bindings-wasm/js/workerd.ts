/** The entry for edge workers, where a wasm file is imported as a compiled module. */

import { initSync } from './instance.js';
import wasm from './turnlatch_bg.wasm';

export * from './public.js';
export { init } from './ready.js';

initSync(wasm);

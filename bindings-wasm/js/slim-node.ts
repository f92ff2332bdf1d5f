/** The entry without the schema engine, for Node, Deno and Bun: the wasm is read from disk. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { initSync } from './instance.js';

export * from './common.js';
export { init } from './ready.js';

initSync(readFileSync(join(__dirname, 'turnlatch_slim_bg.wasm')));

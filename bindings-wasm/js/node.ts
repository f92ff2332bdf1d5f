/** The entry for Node, Deno and Bun: the wasm is read from disk, and everything can be used at once. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { initSync } from './instance.js';

export * from './public.js';
export { init } from './ready.js';

initSync(readFileSync(join(__dirname, 'turnlatch_node.wasm')));

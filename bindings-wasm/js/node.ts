/** The entry for Node, Deno and Bun: the wasm is read from disk, and everything can be used at once. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { initSync } from './instance.js';
import type { InitInput } from './public.js';

export * from './public.js';

initSync(readFileSync(join(__dirname, 'turnlatch_node.wasm')));

/** Does nothing here; in browsers it fetches the wasm. */
export async function init(_input?: InitInput | Promise<InitInput>): Promise<void> {}

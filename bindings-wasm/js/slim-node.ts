/** The entry without the schema engine, for Node, Deno and Bun: the wasm is read from disk. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { initSync } from './instance.js';
import type { InitInput } from './slim-public.js';

export * from './slim-public.js';

initSync(readFileSync(join(__dirname, 'turnlatch_slim_bg.wasm')));

/** Does nothing here; in browsers it fetches the wasm. */
export async function init(_input?: InitInput | Promise<InitInput>): Promise<void> {}

/** The entry with the wasm inside: larger, but nothing has to be fetched or copied, and everything can be used at once. */

import base64 from 'inline:wasm';
import { initSync } from './instance.js';
import type { InitInput } from './public.js';

export * from './public.js';

initSync(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));

/** Does nothing here; the wasm is there already. */
export async function init(_input?: InitInput | Promise<InitInput>): Promise<void> {}

/** For entries that have their wasm at once. */

import type { InitInput } from './common.js';

/** Does nothing here; in browsers it fetches the wasm. */
export async function init(_input?: InitInput | Promise<InitInput>): Promise<void> {}

/** The entry with the wasm inside: larger, but nothing has to be fetched or copied, and everything can be used at once. */

import base64 from 'inline:wasm';
import { initSync } from './instance.js';

export * from './public.js';
export { init } from './ready.js';

initSync(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));

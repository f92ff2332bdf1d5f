/** What the entries with the schema engine offer, but for how they get their wasm. */

import * as glue from 'turnlatch-glue';
import { call } from './instance.js';
import type { CodeInfo } from './types.js';

export * from './admission.js';
export * from './common.js';
export * from './hosting.js';
export * from './stream.js';

/** Every stable code with its HTTP status, its meaning and what to do about it. */
export function codes(): CodeInfo[] {
	return call(() => glue.codes());
}

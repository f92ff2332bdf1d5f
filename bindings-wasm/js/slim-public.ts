/** What the slim entries offer, but for how they get their wasm. */

import * as glue from 'turnlatch-glue';
import { call } from './instance.js';
import type { CodeStatus } from './types.js';

export * from './common.js';

/** Every stable code with its HTTP status. What it means, and what to do about it, stands in `codes` of `turnlatch` itself. */
export function codes(): CodeStatus[] {
	return call(() => glue.codes());
}

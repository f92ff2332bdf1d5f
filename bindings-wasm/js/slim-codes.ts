/** The table of codes as the slim entry has it. */

import * as glue from 'turnlatch-glue';
import { call } from './instance.js';
import type { CodeStatus } from './types.js';

/** Every stable code with its HTTP status. What it means, and what to do about it, is told by `turnlatch` itself. */
export function codes(): CodeStatus[] {
	return JSON.parse(call(() => glue.codes())) as CodeStatus[];
}

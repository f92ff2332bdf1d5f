/** The table of codes. */

import * as glue from 'turnlatch-glue';
import { call } from './instance.js';
import type { CodeInfo } from './types.js';

/** Every stable code with its HTTP status, its meaning and what to do about it. */
export function codes(): CodeInfo[] {
	return JSON.parse(call(() => glue.codes())) as CodeInfo[];
}

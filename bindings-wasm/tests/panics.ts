/** The package's own modules on one build's glue, with the glue itself, so that a test can break the instance. */

import * as glue from 'turnlatch-glue';
import { call } from '../js/instance.js';

export * from '../js/common.js';

/** An object that lies beyond the instance's memory: the call ends in a trap of the engine. */
export function breakByTrap(): void {
	const beyond = Object.create(glue.Run.prototype) as glue.Run & { __wbg_ptr: number };
	beyond.__wbg_ptr = 0xffff_fff0;
	call(() => beyond.snapshot());
}

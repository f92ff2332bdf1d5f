/** What every entry of the package offers, but for how it gets its wasm. */

import * as instance from './instance.js';

export {
	appendInstructions,
	displayText,
	evaluateTurn,
	Run,
	readJob,
	replay,
	requestEvent,
	requestEventJson,
	runOfSlot,
	type Transition,
	unreadableReport,
	version,
} from './core.js';
export { AdmissionError, CorePanicked, EventRejectedError, LoadError, TurnlatchError } from './errors.js';
export { Entry, Journal, readRecord, recordJson } from './journal.js';
export { admit, describeSkill, Plan } from './plan.js';
export { type DecoderOptions, decodeStream, StreamDecoder } from './stream.js';
export type * from './types.js';

/** Where the wasm comes from: a URL, a request, a response, bytes, or a compiled `WebAssembly.Module`. */
export type InitInput = string | object;

/** Makes the core of bytes or a compiled `WebAssembly.Module`, without waiting; the second time it does nothing. */
export function initSync(module: object): void {
	instance.initSync(module as WebAssembly.Module);
}

/** How many bytes of memory the core has taken; it grows and never shrinks. */
export function memoryBytes(): number {
	return instance.memoryBytes();
}

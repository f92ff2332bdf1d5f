/** What every entry of the package offers, the slim ones too. */

import * as glue from 'turnlatch-glue';
import * as instance from './instance.js';
import { encode } from './json.js';

export { AdmissionError, CorePanickedError, EventRejectedError, LoadError, TurnlatchError } from './errors.js';
export { exportRun, importRun, Journal, Replayer, replay } from './journal.js';
export { Plan } from './plan.js';
export { Run, type Transition } from './run.js';
export type * from './types.js';

/** Where the wasm comes from: a URL, a request, a response, bytes, or a compiled `WebAssembly.Module`. */
export type InitInput = string | object;

/** Makes the core of bytes or a compiled `WebAssembly.Module`, without waiting; the second time it does nothing. */
export function initSync(module: object): void {
	instance.initSync(module as WebAssembly.Module);
}

/** Replaces a core that panicked. Runs and plans made before it cannot be used any more: load them from where they were saved. */
export function reset(): void {
	instance.reset();
}

/** How many bytes of memory the core has taken; it grows and never shrinks. */
export function memoryBytes(): number {
	return instance.memoryBytes();
}

/** The run that asked for this slot; undefined if no run can have. */
export function runOfSlot(slotId: string): string | undefined {
	return instance.call(() => glue.run_of_slot(slotId));
}

/** The text with terminal escapes, control and bidi characters made visible. */
export function displayText(text: string): string {
	const bytes = encode(text);
	return instance.call(() => glue.display_text(bytes));
}

/** The version of the package. */
export function version(): string {
	return instance.call(() => glue.version());
}

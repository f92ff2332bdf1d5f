/**
 * The one instance of the compiled core, and what happens if it breaks.
 *
 * No input reaches a panic. If one happens anyway, or the stack runs out in the middle of a call, what the instance holds may be
 * half changed. It is thrown away at once, and every call fails until the host calls {@link reset} and loads its runs anew.
 */

import * as glue from 'turnlatch-glue';
import { CorePanickedError, coreError } from './errors.js';

let memory: WebAssembly.Memory | undefined;
export let broken: CorePanickedError | undefined;
/** The instance is broken, and no other has taken its place yet. */
export let stale = false;
/** Counts instances: what an earlier one made cannot be used in this one. */
export let generation = 0;

/** Makes the instance of a compiled module, or of bytes; the second time it does nothing. */
export function initSync(module: WebAssembly.Module | BufferSource): void {
	if (memory === undefined) memory = glue.initSync({ module }).memory;
}

/** The same from a response or any other source of the module, which is only asked for if it is needed. */
export async function initFrom(source: () => Promise<glue.InitInput>): Promise<void> {
	if (memory === undefined) memory = (await glue.default({ module_or_path: source() })).memory;
}

/** Calls the core, and nothing else: what is thrown and is no error of the core's is a panic. */
export function call<T>(work: () => T): T {
	if (broken !== undefined) throw new CorePanickedError(broken.message, broken);
	if (memory === undefined) throw new TypeError('turnlatch is not ready: call `await init()` first');
	try {
		return work();
	} catch (thrown) {
		const error = coreError(thrown);
		if (error !== undefined) throw error;
		const message = thrown instanceof Error ? thrown.message : String(thrown);
		broken = new CorePanickedError(
			`the core panicked (${message}): call reset() and load the runs that were saved`,
			thrown,
		);
		discard();
		throw broken;
	}
}

/** Replaces a core that panicked. Runs and plans made before it cannot be used any more: load them from where they were saved. */
export function reset(): void {
	if (stale) renew();
	broken = undefined;
}

/** A finalizer would run in the broken instance and could throw where no one can catch it, so the instance goes at once. */
function discard(): void {
	stale = true;
	try {
		renew();
	} catch {
		// Too little stack is left here.
		queueMicrotask(() => stale && renew());
	}
}

function renew(): void {
	glue.__wbg_reset_state();
	memory = glue.initSync(undefined as never).memory;
	generation += 1;
	stale = false;
}

/** How many bytes of memory the core has taken; it grows and never shrinks. */
export function memoryBytes(): number {
	return memory?.buffer.byteLength ?? 0;
}

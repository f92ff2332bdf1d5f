/**
 * The one instance of the compiled core that this module works with, and what happens if it breaks.
 *
 * No input reaches a panic. If one happens anyway, or the stack runs out in the middle of a call, the instance cannot be
 * trusted with another step. But a run changes only when its step is over (`src/run.rs`), so its memory still holds every run as it was:
 * they are asked for their snapshots, and read into a fresh instance of the same module when they are used next.
 */

import * as glue from 'turnlatch-glue';
import { CorePanicked, coreError } from './errors.js';

/** Where a run or a plan lives. Both change when the instance is replaced. */
export interface Handle {
	generation: number;
	id: number;
}

interface Exports {
	readonly __stack_pointer: WebAssembly.Global<'i32'>;
	readonly memory: WebAssembly.Memory;
}

let exports: Exports | undefined;
let stackTop = 0;
let generation = 0;
/**
 * Whether a call is on its way into the core. Nobody calls it while it computes, so if this still holds when the next
 * call begins, the one before did not return: nothing has to run at the moment of the break for it to be noticed.
 */
let calling = false;
/** How often the runs of the broken instance could not be rescued; the second time, those that cannot be read are given up. */
let failedRescues = 0;
/** The snapshots of runs that have not been used since their instance broke; null where that failed. */
const rescued = new Map<number, Map<number, string | null>>();

/** Makes the instance of a compiled module, or of bytes; the second time it does nothing. */
export function initSync(module: WebAssembly.Module | BufferSource): void {
	if (exports === undefined) begin(glue.initSync({ module }));
}

/** The same from a response or any other source of the module, which is only asked for if it is needed. */
export async function initFrom(source: () => Promise<glue.InitInput>): Promise<void> {
	if (exports === undefined) begin(await glue.default({ module_or_path: source() }));
}

function begin(instance: unknown): void {
	exports = instance as Exports;
	stackTop = exports.__stack_pointer.value;
}

/** Calls the core, and nothing else: whatever is thrown by `work` but a text counts as a break. */
export function call<T>(work: () => T, about?: Handle): T {
	replaceIfBroken();
	calling = true;
	try {
		const answer = work();
		calling = false;
		return answer;
	} catch (thrown) {
		if (typeof thrown !== 'string') throw panicked(thrown, about);
		calling = false;
		throw coreError(thrown);
	}
}

/** The generation that new handles belong to. */
export function currentGeneration(): number {
	replaceIfBroken();
	return generation;
}

/** The snapshot of a run whose instance broke. */
export function takeRescued(handle: Handle): string {
	const text = rescued.get(handle.generation)?.get(handle.id);
	if (typeof text === 'string') return text;
	throw new CorePanicked(
		'the instance broke and this run could not be rescued; load its last snapshot',
		undefined,
		undefined,
	);
}

export function forgetRescued(handle: Handle): void {
	const runs = rescued.get(handle.generation);
	runs?.delete(handle.id);
	if (runs?.size === 0) rescued.delete(handle.generation);
}

/** How many bytes of memory the instance has; it grows and never shrinks. */
export function memoryBytes(): number {
	return exports?.memory.buffer.byteLength ?? 0;
}

function replaceIfBroken(): void {
	if (exports === undefined) throw new TypeError('turnlatch is not ready: call `await init()` first');
	if (calling) replace();
}

function panicked(cause: unknown, about: Handle | undefined): CorePanicked {
	const { generation: brokenGeneration, id } = about ?? { generation: -1, id: -1 };
	let message = cause instanceof Error ? cause.message : String(cause);
	let snapshot: string | undefined;
	try {
		message = replace() ?? message;
		snapshot = rescued.get(brokenGeneration)?.get(id) ?? undefined;
		if (about !== undefined && snapshot === undefined) message += ' (and the run could not be rescued)';
	} catch (again) {
		// Too little stack is left here; there will be more when the caller has returned.
		message += ` (runs are rescued at the next call, because now that failed: ${String(again)})`;
	}
	return new CorePanicked(message, snapshot, cause);
}

/** Saves the runs of the broken instance and replaces it. Answers with the message of the panic, if it was one. */
function replace(): string | undefined {
	const texts = new Map<number, string | null>();
	let message: string | undefined;
	try {
		message = fromBroken(() => glue.last_panic());
		for (const id of fromBroken(() => glue.live_runs())) texts.set(id, null);
		for (const id of texts.keys()) texts.set(id, snapshotOf(id));
	} catch (failure) {
		// For want of stack nothing is given up, however often the caller tries again from down there.
		if (isWantOfStack(failure)) throw failure;
		failedRescues += 1;
		if (failedRescues === 1) throw failure;
	}
	glue.__wbg_reset_state();
	// The glue answers with the instance that it has.
	begin(glue.initSync(undefined as never));
	if (texts.size > 0) rescued.set(generation, texts);
	generation += 1;
	failedRescues = 0;
	calling = false;
	return message;
}

/** The run as the broken instance holds it. One that cannot be read at the last try is lost and will say so when it is used. */
function snapshotOf(id: number): string | null {
	try {
		return fromBroken(() => glue.run_snapshot(id));
	} catch (failure) {
		if (failedRescues === 0 || isWantOfStack(failure)) throw failure;
		return null;
	}
}

/** Firefox calls it InternalError, all others RangeError. */
function isWantOfStack(failure: unknown): boolean {
	return failure instanceof RangeError || (failure instanceof Error && failure.name === 'InternalError');
}

/** A call that did not return has left the stack pointer where it was, maybe beyond the end of the stack. */
function fromBroken<T>(work: () => T): T {
	if (exports !== undefined) exports.__stack_pointer.value = stackTop;
	return work();
}

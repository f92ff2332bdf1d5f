/** The ways to say no. Each has a stable `code`, a `message` and `details`. */

import { readJson } from './json.js';
import type { Observation, Problem } from './types.js';

/** Something was not done; nothing has changed. */
export class TurnlatchError extends Error {
	static {
		// On the prototype, so that it is no member of every error and survives minification.
		TurnlatchError.prototype.name = 'TurnlatchError';
	}
	/** Says which case it is; stable. */
	readonly code: string;
	/** More about this one case; what it is depends on the class. */
	readonly details: unknown;

	constructor(code: string, message: string, details: unknown = null, options?: ErrorOptions) {
		super(message, options);
		this.code = code;
		this.details = details;
	}
}

/** Admission said no; there is no run. `details` lists every problem. */
export class AdmissionError extends TurnlatchError {
	static {
		AdmissionError.prototype.name = 'AdmissionError';
	}
	declare readonly details: Problem[];
}

/**
 * An event was not applied, because it is malformed or cannot belong to the run; the run is unchanged. A reply or cancel
 * that is refused throws nothing: it has a receipt. `observation` is what is worth measuring, if a run has rejected it.
 */
export class EventRejectedError extends TurnlatchError {
	static {
		EventRejectedError.prototype.name = 'EventRejectedError';
	}
	declare readonly details: null;
	declare observation?: Observation;
}

/** A snapshot or journal was not loaded. `details.place` says where it is wrong. */
export class LoadError extends TurnlatchError {
	static {
		LoadError.prototype.name = 'LoadError';
	}
	declare readonly details: { place: string };
}

/**
 * The compiled core broke in the middle of a call: a bug of turnlatch, or a stack that was almost used up. The call has
 * changed nothing, and the next one works again: runs move to a fresh instance.
 */
export class CorePanicked extends TurnlatchError {
	static {
		CorePanicked.prototype.name = 'CorePanicked';
	}
	/** The run as it was before the call, to be read by `Run.fromJson`, if the call was about a run. */
	readonly snapshot: string | undefined;

	constructor(message: string, snapshot: string | undefined, cause: unknown) {
		super('CORE_PANICKED', message, null, { cause });
		this.snapshot = snapshot;
	}
}

/**
 * Data that cannot be an event, found before the core could look at it.
 * @internal
 */
export function malformed(message: string, cause?: unknown): EventRejectedError {
	return new EventRejectedError('EVENT_MALFORMED', message, null, cause === undefined ? undefined : { cause });
}

const KINDS = { refused: AdmissionError, rejected: EventRejectedError, not_loaded: LoadError } as const;

/**
 * The error that the core threw as JSON text (`src/errors.rs`).
 * @internal
 */
export function coreError(text: string): Error {
	const thrown = readJson(text) as {
		kind: keyof typeof KINDS | 'misuse';
		code: string;
		message: string;
		details: unknown;
	};
	return thrown.kind === 'misuse'
		? new TypeError(thrown.message)
		: new KINDS[thrown.kind](thrown.code, thrown.message, thrown.details);
}

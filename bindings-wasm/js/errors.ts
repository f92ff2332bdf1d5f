/** The ways to say no. Each has a stable `code`, a `message`, and where it is known a `path`. */

import type { Observation, Problem } from './types.js';

/** Something was not done; nothing has changed. */
export class TurnlatchError extends Error {
	static {
		// On the prototype, so that it is no member of every error and survives minification.
		TurnlatchError.prototype.name = 'TurnlatchError';
	}
	/** Says which case it is; stable. */
	readonly code: string;
	/** Where the input is wrong, if that is known. */
	readonly path: string | undefined;
	/** More about this one case; what it is depends on the class. */
	readonly details: unknown;

	constructor(
		code: string,
		message: string,
		{ path, details = null, cause }: { path?: string | undefined; details?: unknown; cause?: unknown } = {},
	) {
		super(message, cause === undefined ? undefined : { cause });
		this.code = code;
		this.path = path;
		this.details = details;
	}
}

/** Admission said no; there is no run. `details` lists every problem, and `code` and `path` are those of the first. */
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
	declare observation?: Observation;
}

/** A snapshot, plan or journal was not loaded. `path` says where it is wrong. */
export class LoadError extends TurnlatchError {
	static {
		LoadError.prototype.name = 'LoadError';
	}
}

/**
 * The compiled core broke in the middle of a call: a bug of turnlatch, or a stack that was almost used up. Nothing of it can be
 * trusted any more. Every call throws this until `reset()`, after which runs are loaded from where they were saved.
 */
export class CorePanickedError extends TurnlatchError {
	static {
		CorePanickedError.prototype.name = 'CorePanickedError';
	}

	constructor(message: string, cause?: unknown) {
		super('CORE_PANICKED', message, { cause });
	}
}

const CLASSES = { admission: AdmissionError, rejected: EventRejectedError, load: LoadError } as const;

interface Thrown {
	readonly kind: keyof typeof CLASSES | 'misuse';
	readonly code: string;
	readonly message: string;
	readonly path?: string | null;
	readonly details?: unknown;
}

/**
 * The error that the core threw as plain data (`src/errors.rs`); undefined for anything else.
 * @internal
 */
export function coreError(thrown: unknown): Error | undefined {
	if (typeof thrown !== 'object' || thrown === null || thrown instanceof Error || !('kind' in thrown)) return undefined;
	const { kind, code, message, path, details } = thrown as Thrown;
	if (kind === 'misuse') return new TypeError(message);
	return new CLASSES[kind](code, message, { path: path ?? undefined, details });
}

/**
 * Knows whether a call comes from inside of a run's callback, where waiting for that run would be waiting for oneself.
 *
 * Node, Deno, Bun and workers can tell to the end of the callback. Browsers cannot tell who calls after the callback's
 * first `await`: there only the part before it is recognised.
 */

interface Frame {
	readonly runId: string;
	over: boolean;
}

/** A callback of one driver may be called inside of that of another. */
type Frames = ReadonlyMap<Inside, Frame>;

interface Storage {
	run<T>(frames: Frames, work: () => T): T;
	getStore(): Frames | undefined;
}

interface AsyncHooks {
	readonly AsyncLocalStorage: new () => Storage;
}

/** One for all drivers: each of them makes every promise of the program a little slower, for as long as it lives. */
let storage: Storage | undefined;

export class Inside {
	/** The callback whose part before the first `await` is being run. */
	#now: Frame | undefined;

	constructor() {
		storage ??= asyncStorage();
	}

	/** Calls a part for a run. */
	async call<T>(runId: string, work: () => T | PromiseLike<T>): Promise<T> {
		const frame: Frame = { runId, over: false };
		const outer = this.#now;
		try {
			let result: T | PromiseLike<T>;
			this.#now = frame;
			try {
				result = storage === undefined ? work() : storage.run(new Map(storage.getStore()).set(this, frame), work);
			} finally {
				this.#now = outer;
			}
			return await result;
		} finally {
			frame.over = true;
		}
	}

	/** The run whose callback makes this call. */
	get runId(): string | undefined {
		const frame = this.#now ?? storage?.getStore()?.get(this);
		// What a callback has left behind may wait: the run can go on.
		return frame === undefined || frame.over ? undefined : frame.runId;
	}
}

/** Asked for in this way because bundles for browsers cannot import it. */
function asyncStorage(): Storage | undefined {
	const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
	const hooks = process?.getBuiltinModule?.('node:async_hooks') as AsyncHooks | undefined;
	return hooks === undefined ? undefined : new hooks.AsyncLocalStorage();
}

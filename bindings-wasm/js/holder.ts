/// <reference lib="esnext.disposable" preserve="true" />
import { CorePanickedError } from './errors.js';
import { broken, call, generation, stale } from './instance.js';

/** The object of the core that something holds. Throws if it was freed, or lost with its instance. */
export let use: <T extends Freed>(holder: Holder) => T;

/** Calls the core with it. */
export function callWith<T extends Freed, R>(holder: Holder, work: (core: T) => R): R {
	const core = use<T>(holder);
	return call(() => work(core));
}

interface Freed {
	free(): void;
}

/** Holds an object of the core. Its memory is given back when it is collected, or freed. */
export abstract class Holder {
	static {
		use = <T extends Freed>(holder: Holder) => holder.#use() as T;
	}
	readonly #name: string;
	readonly #generation = generation;
	#core: Freed | undefined;

	/** @internal */
	constructor(name: string, core: Freed) {
		this.#name = name;
		this.#core = core;
	}

	#use(): Freed {
		const core = this.#core;
		if (core === undefined) throw new TypeError(`the ${this.#name} was freed`);
		if (broken === undefined && this.#generation !== generation)
			throw new CorePanickedError(`the ${this.#name} was lost when the core panicked; load it from where it was saved`);
		return core;
	}

	/** Gives its memory back at once; it cannot be used afterwards. Runs of a freed plan are not affected. */
	free(): void {
		const core = this.#core;
		this.#core = undefined;
		if (!stale && this.#generation === generation) core?.free();
	}

	/** The same as {@link Holder.free}, for `using`. */
	declare [Symbol.dispose]: () => void;
}

if (Symbol.dispose) Object.defineProperty(Holder.prototype, Symbol.dispose, { value: Holder.prototype.free });
// What Node prints of it.
Object.defineProperty(Holder.prototype, Symbol.for('nodejs.util.inspect.custom'), {
	value(this: Holder & { runId?: string }): string {
		return `${this.constructor.name} { ${this.runId === undefined ? '' : `runId: '${this.runId}' `}}`;
	},
});

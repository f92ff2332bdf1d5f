/// <reference lib="esnext.disposable" preserve="true" />
import * as glue from 'turnlatch-glue';
import { call, Held } from './instance.js';
import { documentText, encode } from './json.js';
import type * as types from './types.js';

let heldBy: (plan: Plan) => Held<glue.Plan>;
let make: (core: glue.Plan) => Plan;

/** An admitted run's settings. It never changes. */
export class Plan {
	static {
		heldBy = (plan) => plan.#held;
		make = (core) => new Plan(core);
	}
	readonly #held: Held<glue.Plan>;

	/** Use `admit`, or {@link Plan.restore}. */
	private constructor(core: glue.Plan) {
		if (!(core instanceof glue.Plan))
			throw new TypeError('plans are made by admit(skill, request, host) and Plan.restore');
		this.#held = new Held('plan', core);
	}

	/** Reads back what {@link Plan.toJSON} gave, as text or as data, or throws {@link LoadError}. */
	static restore(plan: types.JsonDocument): Plan {
		const bytes = encode(documentText(plan, 'the plan'));
		return new Plan(call(() => glue.Plan.restore(bytes)));
	}

	/** The run's id. */
	get runId(): string {
		return this.#held.call((plan) => plan.runId);
	}

	/** What admission warned of. */
	get warnings(): types.Note[] {
		return this.toJSON().warnings as unknown as types.Note[];
	}

	/** Every setting, as a snapshot holds it. */
	toJSON(): { [key: string]: types.Json } {
		return this.#held.call((plan) => plan.toJSON());
	}

	/** Gives its memory back at once, instead of when it is collected. Runs made of it continue. */
	free(): void {
		this.#held.free();
	}

	/** The same as {@link Plan.free}, for `using`. */
	declare [Symbol.dispose]: () => void;
}

if (Symbol.dispose) Object.defineProperty(Plan.prototype, Symbol.dispose, { value: Plan.prototype.free });

/** @internal */
export function planOf(core: glue.Plan): Plan {
	return make(core);
}

/** @internal */
export function corePlan(plan: Plan): glue.Plan {
	if (!(plan instanceof Plan)) throw new TypeError('expected a Plan, as `admit` returns it');
	return heldBy(plan).use();
}

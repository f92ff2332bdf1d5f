import * as glue from 'turnlatch-glue';
import { callWith, Holder, use } from './holder.js';
import { call } from './instance.js';
import { documentText, encode } from './json.js';
import type * as types from './types.js';

/** An admitted run's settings. It never changes. */
export class Plan extends Holder {
	/** Use `admit`, or {@link Plan.restore}. */
	private constructor(core: glue.Plan) {
		if (!(core instanceof glue.Plan))
			throw new TypeError('plans are made by admit(skill, request, host) and Plan.restore');
		super('plan', core);
	}

	/** @internal */
	static of(core: glue.Plan): Plan {
		return new Plan(core);
	}

	/** Reads back what {@link Plan.toJSON} gave, as text or as data, or throws {@link LoadError}. */
	static restore(plan: types.JsonDocument): Plan {
		const bytes = encode(documentText(plan, 'the plan'));
		return new Plan(call(() => glue.Plan.restore(bytes)));
	}

	/** The run's id. */
	get runId(): string {
		return callWith(this, (plan: glue.Plan) => plan.run_id);
	}

	/** What admission warned of. */
	get warnings(): types.Note[] {
		return this.toJSON().warnings as unknown as types.Note[];
	}

	/** Every setting, as a snapshot holds it. */
	toJSON(): { [key: string]: types.Json } {
		return callWith(this, (plan: glue.Plan) => plan.to_json());
	}
}

/** @internal */
export function corePlan(plan: Plan): glue.Plan {
	if (!(plan instanceof Plan)) throw new TypeError('expected a Plan, as `admit` returns it');
	return use(plan);
}

/** The schema engine of the full build as a validator: with it, the slim entry decides to the byte like this one. */

import * as glue from 'turnlatch-glue';
import { encode } from './input.js';
import { call } from './instance.js';
import type { Problem, Violation } from './types.js';
import type { SchemaRefused, Validator } from './validator.js';

export type { SchemaCheck, SchemaRefused, Validator, Verdict } from './validator.js';

/** For `useValidator` of `turnlatch/slim`, where this entry is loaded later, or only where turns are evaluated. */
export const engineValidator: Validator = {
	compile(_schema, text) {
		const bytes = encode(text);
		const problems = JSON.parse(call(() => glue.schema_problems(bytes))) as Problem[];
		if (problems.length > 0) {
			throw Object.assign(new Error('the schema cannot be used'), { problems }) satisfies SchemaRefused;
		}
		return (_instance, instance) => {
			const given = encode(instance);
			const verdict = JSON.parse(call(() => glue.schema_check(bytes, given))) as
				| 'valid'
				| 'too_much_work'
				| Violation[];
			return verdict === 'valid' || verdict;
		};
	},
};

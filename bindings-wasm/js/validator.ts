/** What checks instances against schemas in the slim entry: a validator that the host brings. */

import * as glue from 'turnlatch-glue';
import { call, outside, whenReady } from './instance.js';
import type { Json, Problem, Violation } from './types.js';

/** What a check says: whether the instance fits, the reasons why it does not, or that finding out would take too long. */
export type Verdict = boolean | 'too_much_work' | readonly Violation[];

/** Checks instances against one schema. `text` is the instance's exact JSON text; `instance` has JavaScript's numbers. */
export type SchemaCheck = (instance: Json, text: string) => Verdict;

/** Makes checks of schemas. An error that it throws refuses the skill; one with `problems` says why, each with its code. */
export interface Validator {
	compile(schema: Json, text: string): SchemaCheck;
}

/** What `compile` may throw to say more than a message. */
export interface SchemaRefused extends Error {
	readonly problems: readonly Problem[];
}

/** Some more than the core remembers; what was forgotten is compiled again. */
const REMEMBERED = 64;

let current: ((schema: string, instance?: string) => string) | undefined;

/**
 * Brings a validator, or takes it away. Do it before runs are made or loaded: a run that was loaded without one can be
 * shown, answered and cancelled, but its turns cannot be evaluated (`VALIDATOR_MISSING`).
 */
export function useValidator(validator: Validator | undefined): void {
	current = validator && answers(validator);
	hand();
	// A fresh instance, after one that broke, needs it too.
	whenReady(hand);
}

function hand(): void {
	call(() => glue.use_validator(current));
}

/** The validator as the core asks it: texts in, texts out, and nothing thrown. */
function answers(validator: Validator): (schema: string, instance?: string) => string {
	const checks = new Map<string, SchemaCheck>();
	const compile = (schema: string): SchemaCheck => {
		const check = checks.get(schema) ?? validator.compile(JSON.parse(schema) as Json, schema);
		checks.delete(schema);
		checks.set(schema, check);
		for (const oldest of checks.keys()) {
			if (checks.size <= REMEMBERED) break;
			checks.delete(oldest);
		}
		return check;
	};
	return (schema, instance) =>
		outside(() => {
			try {
				const check = compile(schema);
				if (instance === undefined) return '[]';
				const verdict = check(JSON.parse(instance) as Json, instance);
				return JSON.stringify(verdict === true ? 'valid' : verdict === false ? [] : verdict);
			} catch (error) {
				const { message, problems } = error as Partial<SchemaRefused>;
				const what = `the validator says: ${message ?? String(error)}`;
				if (instance !== undefined) return JSON.stringify([{ instance_path: '', schema_path: '', message: what }]);
				return JSON.stringify(problems ?? [{ code: 'SKILL_MANIFEST_INVALID', path: '', message: what }]);
			}
		});
}

/** What is needed of Ajv, of the class for the draft that the schemas follow. */
export interface AjvLike {
	compile(schema: never): {
		(instance: unknown): unknown;
		errors?: readonly { instancePath: string; schemaPath: string; message?: string }[] | null;
	};
}

/** A validator of an Ajv instance: `ajvValidator(new Ajv2020())`. */
export function ajvValidator(ajv: AjvLike): Validator {
	return {
		compile(schema) {
			const check = ajv.compile(schema as never);
			return (instance) =>
				check(instance) === true ||
				(check.errors ?? []).map(({ instancePath, schemaPath, message }) => ({
					instance_path: instancePath,
					schema_path: schemaPath.replace(/^#/, ''),
					message: message ?? '',
				}));
		},
	};
}

/** What is needed of the class `Validator` of @cfworker/json-schema. */
export type CfworkerLike = new (
	schema: never,
	draft: '2020-12',
	shortCircuit: boolean,
) => {
	validate(instance: unknown): {
		valid: boolean;
		errors: readonly { instanceLocation: string; keywordLocation: string; error: string }[];
	};
};

/** A validator of @cfworker/json-schema: `cfworkerValidator(Validator)`. */
export function cfworkerValidator(Class: CfworkerLike): Validator {
	return {
		compile(schema) {
			const check = new Class(schema as never, '2020-12', false);
			return (instance) => {
				const { valid, errors } = check.validate(instance);
				return (
					valid ||
					errors.map(({ instanceLocation, keywordLocation, error }) => ({
						instance_path: instanceLocation.replace(/^#/, ''),
						schema_path: keywordLocation.replace(/^#/, ''),
						message: error,
					}))
				);
			};
		},
	};
}

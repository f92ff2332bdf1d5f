/** What is asked before there is a run. */

import * as glue from 'turnlatch-glue';
import { call } from './instance.js';
import { documentText, encode, eventText } from './json.js';
import { corePlan, Plan } from './plan.js';
import type * as types from './types.js';

/** Makes a plan of a skill and a request, or throws {@link AdmissionError} with every problem. */
export function admit(skill: types.Skill, request: string | types.RunRequest, host: types.HostSettings): Plan {
	const bytes = encode(documentText(request, 'the request'));
	return Plan.of(withSkill(skill, host, (core) => core.admit(bytes)));
}

/** What can be asked of a skill, without a request. */
export function describeSkill(skill: types.Skill, host: types.HostSettings): types.SkillView {
	return withSkill(skill, host, (core) => core.describe());
}

function withSkill<R>(skill: types.Skill, host: types.HostSettings, work: (core: glue.Skill) => R): R {
	const runner = encode(documentText(skill?.runner, 'skill.runner'));
	const [output, input, parameter] = [skill.output_schema, skill.input_schema, skill.parameter_schema].map((schema) =>
		schema === undefined ? undefined : encode(documentText(jsonSchema(schema), 'a schema')),
	);
	if (typeof host?.engines !== 'object')
		throw new TypeError("the host is missing: {engines: ['codex'], limits?}, with an array of names");
	const settings = encode(documentText({ ...host, engines: [...host.engines] }, 'the host'));
	return call(() => {
		const core = new glue.Skill(runner, output, input, parameter, settings);
		try {
			return work(core);
		} finally {
			core.free();
		}
	});
}

/** An agent writes what a library's schema reads. */
function jsonSchema(schema: types.Schema | types.StandardSchema): types.Schema {
	// Callers may hand in anything, and some libraries' schemas are functions.
	const standard = (schema as Partial<types.StandardSchema> | null)?.['~standard'];
	if (standard === undefined) return schema as types.Schema;
	if (typeof standard.jsonSchema?.input !== 'function')
		throw new TypeError('the schema cannot be given as a JSON Schema: zod can since 4.2');
	return standard.jsonSchema.input({ target: 'draft-2020-12' });
}

/**
 * The result of a run that has succeeded, as the schema of a library makes it of the data. What the library finds wrong beyond
 * the JSON Schema is an error here and never changes the run.
 */
export async function parseResult<Data>(schema: types.StandardSchema<Data>, view: types.StatusView): Promise<Data> {
	if (view.status !== 'succeeded' || view.data === undefined)
		throw new TypeError(`run ${view.run_id} is ${view.status}: there is no result to parse`);
	const result = await schema['~standard'].validate(view.data);
	if (result.issues === undefined) return result.value;
	throw new Error(result.issues.map(({ message }) => message).join('; '), { cause: result.issues });
}

/** Reads the body of a request for a new run, or throws {@link AdmissionError}. `runId` is for a client that has chosen none. */
export function readJob(body: string, runId: string): types.Job {
	const [bytes, id] = [encode(body), encode(runId)];
	return call(() => glue.read_job(bytes, id));
}

/** Reads the body of a request to a run as its event, or throws {@link EventRejectedError}. */
export function requestEvent(kind: 'reply' | 'cancel', body: string): types.RunEvent {
	return JSON.parse(requestEventJson(kind, body));
}

/** The same as JSON text, in which a response of numbers or objects stays as it was sent; for `applyJson`, `tellJson`. */
export function requestEventJson(kind: 'reply' | 'cancel', body: string): string {
	const [name, bytes] = [String(kind), encode(body)];
	return call(() => glue.request_event(name, bytes));
}

/** Evaluates one turn by itself: the gates alone, without a run. */
export function evaluateTurn(plan: Plan, report: types.TurnReport): types.Evaluation {
	const event = encode(eventText({ attempt_number: 1, ...report, type: 'turn_finished' }));
	const of = corePlan(plan);
	return call(() => glue.evaluate_turn(of, event));
}

/** The skill's text with the instructions for this mode at its end, and the plan's output schema and required artifacts. */
export function appendInstructions(skill: string, mode: types.ExecutionMode, plan?: Plan): string {
	const [bytes, name] = [encode(skill), String(mode)];
	if (plan === undefined) return call(() => glue.append_instructions(bytes, name));
	const of = corePlan(plan);
	return call(() => of.append_instructions(bytes, name));
}

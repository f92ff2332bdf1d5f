/// <reference lib="esnext.disposable" preserve="true" />
import * as glue from 'turnlatch-glue';
import { documentText, encode, optionalDocument } from './input.js';
import { call, currentGeneration, type Handle } from './instance.js';
import { readJson } from './json.js';
import type * as types from './types.js';

interface PlanHandle extends Handle {
	/** A plan never changes, so its text is enough to make it again in a fresh instance. */
	readonly text: string;
	/** The run's id, once somebody has asked for it. */
	runId: string | undefined;
	freed: boolean;
}

const abandoned = new FinalizationRegistry<PlanHandle>((handle) => {
	try {
		release(handle);
	} catch {
		// Only a broken instance throws here. Its memory goes with it, and nobody is there to be told.
	}
});
const handles = new WeakMap<Plan, PlanHandle>();

/** An admitted run's settings. */
export class Plan {
	/** Use {@link admit}. */
	private constructor() {}

	/** The run's id. */
	get runId(): string {
		const handle = handleOf(this);
		handle.runId ??= this.toData().run_id as string;
		return handle.runId;
	}

	/** What admission warned of. */
	get warnings(): types.Note[] {
		return this.toData().warnings as unknown as types.Note[];
	}

	/** Every setting, as a snapshot holds it. */
	toData(): { [key: string]: types.Json } {
		return readJson(handleOf(this).text) as { [key: string]: types.Json };
	}

	/** Gives its memory back at once, instead of when it is collected. Runs made of it go on. */
	free(): void {
		const handle = handles.get(this);
		if (handle === undefined || handle.freed) return;
		abandoned.unregister(handle);
		release(handle);
	}

	/** The same as {@link Plan.free}, for `using`. */
	declare [Symbol.dispose]: () => void;
}

if (Symbol.dispose) Object.defineProperty(Plan.prototype, Symbol.dispose, { value: Plan.prototype.free });

/** Makes a plan of a skill and a request, or throws {@link AdmissionError} with every problem. */
export function admit(manifest: types.Skill, request: string | types.RunRequest, host: types.HostSettings): Plan {
	const parts = [encode(documentText(manifest.runner)), encode(documentText(request))] as const;
	const [schemas, [engines, limits]] = [schemasOf(manifest), settings(host)];
	return planOf(call(() => glue.admit(...parts, engines, ...schemas, limits)));
}

/** What can be asked of a skill, without a request. */
export function describeSkill(manifest: types.Skill, host: types.HostSettings): types.SkillView {
	const runner = encode(documentText(manifest.runner));
	const [schemas, [engines, limits]] = [schemasOf(manifest), settings(host)];
	return readJson(call(() => glue.describe_skill(runner, engines, ...schemas, limits))) as types.SkillView;
}

function schemasOf(manifest: types.Skill): [Schema, Schema, Schema] {
	const { output_schema, input_schema, parameter_schema } = manifest;
	return [optionalDocument(output_schema), optionalDocument(input_schema), optionalDocument(parameter_schema)];
}

type Schema = Uint8Array | undefined;

function settings(host: types.HostSettings): [Uint8Array, Uint8Array] {
	if (typeof host.engines === 'string') throw new TypeError('engines is a list of names, not one text');
	return [encode(documentText([...host.engines])), encode(documentText(host.limits ?? {}))];
}

/**
 * A plan that has just come to be in the instance of now.
 * @internal
 */
export function planOf(id: number): Plan {
	const generation = currentGeneration();
	const text = call(() => glue.plan_text(id));
	const handle: PlanHandle = { generation, id, text, runId: undefined, freed: false };
	const plan: Plan = Object.create(Plan.prototype) as Plan;
	handles.set(plan, handle);
	abandoned.register(plan, handle, handle);
	return plan;
}

/**
 * Where the plan lives, after it has been moved into the instance of now.
 * @internal
 */
export function planId(plan: Plan): number {
	const handle = handleOf(plan);
	const generation = currentGeneration();
	if (handle.generation !== generation) {
		const bytes = encode(handle.text);
		handle.id = call(() => glue.plan_restore(bytes));
		handle.generation = generation;
	}
	return handle.id;
}

function handleOf(plan: Plan): PlanHandle {
	const handle = handles.get(plan);
	if (handle === undefined) throw new TypeError('expected a plan, as `admit` gives it');
	if (handle.freed) throw new TypeError('the plan was freed');
	return handle;
}

function release(handle: PlanHandle): void {
	handle.freed = true;
	if (handle.generation === currentGeneration()) call(() => glue.plan_free(handle.id));
}

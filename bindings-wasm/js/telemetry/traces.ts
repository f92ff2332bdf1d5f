/**
 * Observations as OpenTelemetry spans, one for each time a run left a status. A span is made at its end, from the times that
 * the run itself counts, so that a worker that was restarted in the middle of a turn still tells all of it.
 */

import { createHash } from 'node:crypto';
import {
	type Attributes,
	type Context,
	type HrTime,
	ROOT_CONTEXT,
	SpanStatusCode,
	TraceFlags,
	type Tracer,
	type TracerProvider,
	trace,
} from '@opentelemetry/api';
import { version } from '../public.js';
import type { DecisionSummary, Observation, Status } from '../types.js';

const SPANS: Partial<Record<Status, string>> = {
	queued: 'turnlatch.slot_wait',
	running: 'turnlatch.turn',
	waiting_user: 'turnlatch.waiting',
};
const MEMBERS = [
	'run_id',
	'revision',
	'event',
	'by',
	'engine',
	'execution_mode',
	'attempt_number',
	'status',
	'resolution_mode',
	'code',
] as const;

/** Tells a tracer what a driver observes; `observe` is for its `onObservation`. */
export class Traces {
	readonly #tracer: Tracer;

	constructor(provider: TracerProvider = trace.getTracerProvider()) {
		this.#tracer = provider.getTracer('turnlatch', version());
	}

	/** Takes what a driver observed. It need not be called as a method. */
	readonly observe = (observation: Observation): void => {
		const { left, at, lasted_ms = 0, decision } = observation;
		const name = left === undefined ? undefined : SPANS[left];
		if (name === undefined) return;
		const startTime = timeOf(at - lasted_ms);
		const attributes = attributesOf(observation);
		const span = this.#tracer.startSpan(name, { startTime, attributes }, traceOf(observation.run_id));
		if (decision !== undefined) span.addEvent('turnlatch.decision', decided(decision), timeOf(at));
		if (observation.status === 'failed') {
			span.setStatus({ code: SpanStatusCode.ERROR, message: observation.code ?? '' });
		}
		span.end(timeOf(at));
	};
}

/** The id of the trace that all spans of a run are in, whoever makes them: 32 hexadecimal digits. */
export function traceIdOf(runId: string): string {
	return digest(runId).slice(0, 32);
}

function digest(runId: string): string {
	return createHash('sha256').update(`turnlatch trace ${runId}`).digest('hex');
}

/** A context whose parent is the run itself: nobody makes a span of it, but all of its workers name it. */
function traceOf(runId: string): Context {
	const spanId = digest(runId).slice(32, 48);
	const run = { traceId: traceIdOf(runId), spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
	return trace.setSpanContext(ROOT_CONTEXT, run);
}

/** Not as a number: one from before this process began would be read as a time since then. */
function timeOf(milliseconds: number): HrTime {
	return [Math.floor(milliseconds / 1000), (milliseconds % 1000) * 1_000_000];
}

function attributesOf(observation: Observation): Attributes {
	const told: Attributes = {};
	for (const member of MEMBERS) {
		const value = observation[member];
		if (value !== undefined) told[`turnlatch.${member}`] = value;
	}
	if (observation.usage !== undefined) {
		told['gen_ai.usage.input_tokens'] = Number(observation.usage.input_tokens);
		told['gen_ai.usage.output_tokens'] = Number(observation.usage.output_tokens);
	}
	return told;
}

function decided({ outcome, rule, code, warnings }: DecisionSummary): Attributes {
	return {
		'turnlatch.outcome': outcome,
		'turnlatch.rule': rule,
		...(code === undefined ? {} : { 'turnlatch.code': code }),
		...(warnings.length === 0 ? {} : { 'turnlatch.warnings': warnings }),
	};
}

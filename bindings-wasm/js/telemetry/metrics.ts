/** Observations as Prometheus metrics. Label values come from short lists, so the number of series does not grow. */

import { Counter, Gauge, Histogram, type Registry, register } from 'prom-client';
import type { Observation } from '../types.js';

const UNFINISHED = ['queued', 'running', 'waiting_user'];
const SLOT_WAIT = [0.1, 0.5, 1, 5, 15, 60, 300, 1800, 7200];
const TURN = [1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600];
const WAITING = [1, 10, 60, 300, 900, 3600, 14400, 86400, 604800];

/** How many runs have not ended, by their status. */
export type CountUnfinished = () => Readonly<Record<string, number>> | Promise<Readonly<Record<string, number>>>;

export interface MetricsOptions {
	/** Where the metrics are registered; the library's own registry unless told. */
	readonly registry?: Registry;
	/** Asked at every scrape; a driver's method of this name will do. */
	readonly countUnfinished?: CountUnfinished;
}

/** Counts and measures what a driver observes; `observe` is for its `onObservation`. */
export class Metrics {
	readonly #started;
	readonly #ended;
	readonly #decisions;
	readonly #warnings;
	readonly #autoDecisions;
	readonly #refused;
	readonly #tokens;
	readonly #slotWait;
	readonly #turn;
	readonly #waiting;

	constructor({ registry = register, countUnfinished }: MetricsOptions = {}) {
		const registers = [registry];
		const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
			new Counter({ name: `turnlatch_${name}`, help, labelNames, registers });
		const histogram = <L extends string>(name: string, help: string, buckets: number[], ...labelNames: L[]) =>
			new Histogram({ name: `turnlatch_${name}`, help, buckets, labelNames, registers });
		this.#started = counter('started_total', 'Runs that were made', 'engine', 'execution_mode');
		this.#ended = counter('ended_total', 'Runs that ended', 'status', 'code');
		this.#decisions = counter('decisions_total', 'Turns that the gates judged', 'outcome', 'rule');
		this.#warnings = counter('warnings_total', 'Warnings of the gates', 'code');
		this.#autoDecisions = counter('auto_decisions_total', 'Questions that a deadline answered');
		this.#refused = counter('refused_total', 'Events that a run rejected', 'event', 'code');
		this.#tokens = counter('tokens_total', 'Tokens that turns reported', 'engine', 'kind');
		this.#slotWait = histogram('slot_wait_seconds', 'How long runs waited for a slot', SLOT_WAIT, 'engine');
		this.#turn = histogram('turn_seconds', 'How long turns took', TURN, 'engine', 'status');
		this.#waiting = histogram('waiting_seconds', 'How long runs waited for a person', WAITING, 'resolution_mode');
		if (countUnfinished !== undefined) gaugeRuns(registers, countUnfinished);
	}

	/** Takes what a driver observed. It need not be called as a method. */
	readonly observe = (observation: Observation): void => {
		const { event, engine, execution_mode, status, decision, rejected } = observation;
		if (rejected !== undefined) {
			this.#refused.inc({ event, code: rejected });
			return;
		}
		if (event === 'created') this.#started.inc({ engine, execution_mode });
		this.#measure(observation);
		if (decision !== undefined) {
			this.#decisions.inc({ outcome: decision.outcome, rule: decision.rule });
			for (const code of decision.warnings) this.#warnings.inc({ code });
		}
		if (observation.resolution_mode === 'auto_decide_timeout') this.#autoDecisions.inc();
		for (const [kind, tokens] of Object.entries(observation.usage ?? {})) {
			this.#tokens.inc({ engine, kind: kind.replace(/_tokens$/, '') }, Number(tokens));
		}
		if (observation.left !== undefined && !UNFINISHED.includes(status)) {
			this.#ended.inc({ status, code: observation.code ?? '' });
		}
	};

	#measure({ left, lasted_ms = 0, engine, status, resolution_mode = '' as never }: Observation): void {
		const seconds = lasted_ms / 1000;
		if (left === 'queued') this.#slotWait.observe({ engine }, seconds);
		if (left === 'running') this.#turn.observe({ engine, status }, seconds);
		if (left === 'waiting_user') this.#waiting.observe({ resolution_mode }, seconds);
	}
}

/** Asked at a scrape, because what counts is what is stored and not what this process has seen. */
function gaugeRuns(registers: Registry[], countUnfinished: CountUnfinished): void {
	new Gauge({
		name: 'turnlatch_runs',
		help: 'Runs that have not ended, by their status',
		labelNames: ['status'],
		registers,
		async collect() {
			const counts: Record<string, number> = { queued: 0, running: 0, waiting_user: 0, ...(await countUnfinished()) };
			this.reset();
			for (const [status, count] of Object.entries(counts)) this.set({ status }, count);
		},
	});
}

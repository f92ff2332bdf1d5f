/** What the service tells of itself: metrics, traces and, as JSON, a line in the log for each step. */

import type { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { Registry } from 'prom-client';
import type { Observation } from 'turnlatch';
import { type CountUnfinished, Metrics, Traces } from 'turnlatch/telemetry';
import { logStep } from './log.js';

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
const LAST_SPANS_MS = 2000;

type Environment = Readonly<Record<string, string | undefined>>;

/** Takes what the driver observes. Spans are sent in the background, and dropped if nobody takes them. */
export class Telemetry {
	readonly #registry = new Registry();
	readonly #metrics: Metrics;
	readonly #environment: Environment;
	#provider: BasicTracerProvider | undefined;
	#traces: Traces | undefined;

	constructor(environment: Environment, countUnfinished: CountUnfinished) {
		this.#environment = environment;
		this.#metrics = new Metrics({ registry: this.#registry, countUnfinished });
	}

	/** Before anything is observed: loads what sends spans, if somebody is named who takes them. */
	async start(): Promise<void> {
		if (!ENDPOINTS.some((name) => this.#environment[name])) return;
		this.#provider = await exporting(this.#environment);
		this.#traces = new Traces(this.#provider);
	}

	/** For the driver's `onObservation`. */
	observe(observation: Observation): void {
		this.#metrics.observe(observation);
		this.#traces?.observe(observation);
		logStep(observation);
	}

	/** The metrics as Prometheus reads them, and what they are. */
	async metrics(): Promise<{ type: string; text: string }> {
		return { type: this.#registry.contentType, text: await this.#registry.metrics() };
	}

	/** Sends the last spans, if somebody takes them soon. */
	async close(): Promise<void> {
		if (this.#provider === undefined) return;
		const late = new Promise<void>((resolve) => {
			setTimeout(resolve, LAST_SPANS_MS).unref();
		});
		await Promise.race([this.#provider.shutdown().catch(() => {}), late]);
	}
}

async function exporting(environment: Environment): Promise<BasicTracerProvider> {
	// Loaded here because it takes long, and most services send no spans.
	const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
	const { resourceFromAttributes } = await import('@opentelemetry/resources');
	const { BasicTracerProvider, BatchSpanProcessor } = await import('@opentelemetry/sdk-trace-base');
	const name = environment.OTEL_SERVICE_NAME || 'turnlatch-service';
	return new BasicTracerProvider({
		resource: resourceFromAttributes({ 'service.name': name }),
		spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
	});
}

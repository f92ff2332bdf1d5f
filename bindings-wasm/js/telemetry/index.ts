/**
 * The entry `turnlatch/telemetry`, for Node: metrics for Prometheus (`prom-client`) and traces for OpenTelemetry
 * (`@opentelemetry/api`), from what a driver observes. Names, labels, buckets and attributes are those of the Python package;
 * docs/operations.md lists them.
 */

export { type CountUnfinished, Metrics, type MetricsOptions } from './metrics.js';
export { Traces, traceIdOf } from './traces.js';

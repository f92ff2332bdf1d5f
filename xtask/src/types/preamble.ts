/** The data that goes in and comes out, as it stands on the wire. Everything is a plain object: `switch` on `type`. */
// Generated from the core's types by `make types`; changes here are lost.

/** JSON data as `JSON.parse` returns it. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
/**
 * Data that is handed in: anything that `JSON.stringify` writes, and bigints. What is none is refused when it is handed in,
 * with its path, because TypeScript cannot tell an interface of data from a class.
 */
export type JsonInput = unknown;

/** Milliseconds since the Unix epoch, or a date. */
export type Time = number | bigint | Date;

/** A document: its text as it is, or data that stands for its JSON text. */
export type JsonDocument = string | object;
/** A JSON Schema; `true` and `false` are schemas too. */
export type Schema = JsonDocument | boolean;

/**
 * A schema of a library, such as zod 4.2 and later, that can give itself as a JSON Schema and check data
 * (Standard Schema and Standard JSON Schema).
 */
export interface StandardSchema<Data = unknown> {
	readonly '~standard': {
		readonly validate: (value: unknown) => StandardResult<Data> | Promise<StandardResult<Data>>;
		readonly jsonSchema: { readonly input: (options: { readonly target: 'draft-2020-12' }) => object };
	};
}
/** What such a schema makes of data. */
export type StandardResult<Data> =
	| { readonly value: Data; readonly issues?: undefined }
	| { readonly issues: readonly { readonly message: string }[] };

/** What a skill declares: its `runner.json` and its schemas. */
export interface Skill {
	readonly runner: string | RunnerManifest;
	readonly output_schema?: Schema | StandardSchema | undefined;
	readonly input_schema?: Schema | StandardSchema | undefined;
	readonly parameter_schema?: Schema | StandardSchema | undefined;
}

/** What the host can do. */
export interface HostSettings {
	/** The names of the engines it can run. */
	readonly engines: Iterable<string>;
	/** Sizes beyond which input is refused or cut. */
	readonly limits?: Limits | undefined;
}

/** What may be said beside a reply. */
export type ReplyOptions = Pick<Reply, 'idempotency_key' | 'expected_revision'>;

/** What the entries with the schema engine offer. */

export * from './codes.js';
export * from './public.js';

/** What the entries with the schema engine offer. */

export * from './engine.js';
export * from './public.js';

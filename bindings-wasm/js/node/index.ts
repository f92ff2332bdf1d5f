/** The entry `turnlatch/node`: parts for a driver that need Node. */

export type { Said } from '../public.js';
export type { Command } from './command.js';
export { type SubprocessOptions, SubprocessRunner } from './processes.js';
export { type SqliteDatabase, type SqliteStatement, SqliteStore, type SqliteStoreOptions } from './sqlite-store.js';

/** The entry `turnlatch/node`: parts for a driver that need Node. */

export { type Command, type SubprocessOptions, SubprocessRunner, singleLine } from './processes.js';
export { type SqliteDatabase, type SqliteStatement, SqliteStore } from './sqlite-store.js';

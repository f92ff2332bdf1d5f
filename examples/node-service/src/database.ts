/** The service's SQLite files. */

import { DatabaseSync } from '@photostructure/sqlite';

/** An open file. */
export type Database = InstanceType<typeof DatabaseSync>;

/** A connection for what stands beside the store's own tables. FULL, because what was answered survives a power cut. */
export function openDatabase(path: string): Database {
	const db = new DatabaseSync(path, { timeout: 30_000 });
	db.exec('PRAGMA synchronous = FULL');
	return db;
}

/**
 * Makes this process the only one that uses a data folder; `undefined` if another one does.
 *
 * The lock is SQLite's, because every language's service can take it and the kernel frees it with the process.
 */
export function own(path: string): Database | undefined {
	const db = new DatabaseSync(path, { timeout: 0 });
	try {
		db.exec('BEGIN EXCLUSIVE');
	} catch {
		db.close();
		return undefined;
	}
	return db;
}

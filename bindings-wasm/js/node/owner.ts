/**
 * Keeps a SQLite database to one process at a time.
 *
 * Two hosts on one database would take each other's turns for lost. So a host holds `<database>.owner`, an SQLite file of
 * its own, by `BEGIN EXCLUSIVE`: a lock of the operating system that ends with its process, even by SIGKILL, and that
 * hosts in every language can take. Nothing can be read from a file that is locked so; `<database>.owner.pid` beside it
 * has the owner's process id as text. The Python package does the same, so that hosts of both languages exclude each other
 * (HOST-11).
 */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DriverUsageError } from '../driver/index.js';
import type { SqliteDatabase } from './sqlite-store.js';

/**
 * What this process owns. SQLite finds a second owner in the same process too, but not if that one comes with another copy
 * of SQLite (`node:sqlite` beside better-sqlite3): its attempt alone would free the lock, as POSIX has it.
 */
const owned = new Set<string>();

/** The ownership of a database, from construction until {@link DatabaseOwner.release}. Throws `DATABASE_IN_USE`. */
export class DatabaseOwner {
	readonly #path: string;
	readonly #lock: SqliteDatabase;

	/** `path` is the absolute path of the database; `open` opens any file of SQLite. */
	constructor(path: string, open: (path: string) => SqliteDatabase) {
		if (owned.has(path)) throw inUse(path, process.pid);
		this.#path = path;
		this.#lock = open(`${path}.owner`);
		try {
			this.#lock.exec('PRAGMA busy_timeout = 0');
			this.#lock.exec('BEGIN EXCLUSIVE');
			writeFileSync(pidFile(path), `${process.pid}\n`);
			owned.add(path);
		} catch (error) {
			this.#lock.close();
			throw error instanceof Error && error.message.includes('locked') ? inUse(path, ownerOf(path)) : error;
		}
	}

	/** Lets the next owner in. The lock's file stays: removing it could take it from under that owner. */
	release(): void {
		if (!owned.delete(this.#path)) return;
		rmSync(pidFile(this.#path), { force: true });
		this.#lock.close();
	}
}

function inUse(path: string, pid: number | undefined): DriverUsageError {
	const owner = pid === undefined ? 'another process' : `process ${pid}`;
	const message = `${owner} uses ${path}: a SQLite file is for one host at a time, several need PostgreSQL`;
	return new DriverUsageError('DATABASE_IN_USE', message, pid === undefined ? undefined : { pid });
}

/** Nothing, if the owner is about to write it, or to leave. */
function ownerOf(path: string): number | undefined {
	try {
		const pid = Number.parseInt(readFileSync(pidFile(path), 'ascii'), 10);
		return Number.isNaN(pid) ? undefined : pid;
	} catch {
		return undefined;
	}
}

function pidFile(path: string): string {
	return `${path}.owner.pid`;
}

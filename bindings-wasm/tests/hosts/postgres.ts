/** A PostgreSQL server of the tests' own, on loopback, in a folder of its own. */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, chownSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';

const BINARIES = '/usr/lib/postgresql';

export class Postgres {
	readonly #folder: string;
	readonly #port: number;
	readonly #user: { readonly name: string; readonly uid?: number; readonly gid?: number };
	#databases = 0;

	private constructor(folder: string, port: number, user: { name: string; uid?: number; gid?: number }) {
		this.#folder = folder;
		this.#port = port;
		this.#user = user;
	}

	/**
	 * Debian's binaries, run as a user that is not root: the server refuses to be root's. It listens on loopback, and on
	 * this address if there is one.
	 */
	static async start(otherAddress?: string): Promise<Postgres> {
		const folder = mkdtempSync(join(tmpdir(), 'turnlatch-postgres-'));
		const user = notRoot();
		if (user.uid !== undefined) chownSync(folder, user.uid, user.gid ?? user.uid);
		const postgres = new Postgres(folder, await freePort(), user);
		await postgres.#run('initdb', '--auth=trust', `--username=${user.name}`, '--no-sync', `--pgdata=${folder}/data`);
		const others = otherAddress === undefined ? [] : [otherAddress];
		for (const other of others) appendFileSync(join(folder, 'data/pg_hba.conf'), `host all all ${other}/24 trust\n`);
		appendFileSync(
			join(folder, 'data/postgresql.conf'),
			`listen_addresses = '${['127.0.0.1', ...others].join()}'\nport = ${postgres.port}\nunix_socket_directories = '${folder}'\n` +
				'max_connections = 300\nfsync = off\n',
		);
		await postgres.#control('start');
		return postgres;
	}

	get port(): number {
		return this.#port;
	}

	/** The address of a new database. */
	async database(): Promise<string> {
		this.#databases += 1;
		const name = `test${this.#databases}`;
		await asked(this.url('postgres'), `CREATE DATABASE ${name}`);
		return this.url(name);
	}

	url(database: string): string {
		return `postgresql://${this.#user.name}@127.0.0.1:${this.#port}/${database}`;
	}

	/** As an administrator does it: every connection is broken off. */
	restart(): Promise<void> {
		return this.#control('restart', '--mode=fast');
	}

	async close(): Promise<void> {
		await this.#control('stop', '--mode=immediate');
		rmSync(this.#folder, { recursive: true, force: true });
	}

	#control(action: string, ...options: string[]): Promise<void> {
		const where = [`--pgdata=${this.#folder}/data`, `--log=${this.#folder}/log`, '--wait'];
		return this.#run('pg_ctl', ...where, ...options, action);
	}

	async #run(program: string, ...options: string[]): Promise<void> {
		// Output goes to a file and not into a pipe, which the server would keep open.
		const output = join(this.#folder, 'output');
		const file = openSync(output, 'w');
		const { uid, gid } = this.#user;
		const child = spawn(join(binaries(), program), options, {
			cwd: this.#folder,
			stdio: ['ignore', file, file],
			...(uid === undefined ? {} : { uid, gid: gid ?? uid }),
		});
		assert.equal(await exitCode(child), 0, readFileSync(output, 'utf8'));
	}
}

/** The rows that a statement gives. */
export async function asked<T>(url: string, statement: string, ...values: unknown[]): Promise<T[]> {
	const client = new Client(url);
	await client.connect();
	try {
		return (await client.query(statement, values)).rows;
	} finally {
		await client.end();
	}
}

export function exitCode(child: ChildProcess): Promise<number | null> {
	if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
	return new Promise((resolve, reject) => {
		child.once('exit', resolve);
		child.once('error', reject);
	});
}

function binaries(): string {
	// No skip: a machine without PostgreSQL has not tested what this is about. `make setup-postgres` installs it.
	const versions = readdirSync(BINARIES).sort((left, right) => Number(left) - Number(right));
	return join(BINARIES, versions.at(-1) ?? 'none', 'bin');
}

function notRoot(): { name: string; uid?: number; gid?: number } {
	const { uid, username } = userInfo();
	if (uid !== 0) return { name: username };
	const line = readFileSync('/etc/passwd', 'utf8').match(/^postgres:[^:]*:(\d+):(\d+):/m);
	assert.ok(line, 'PostgreSQL is needed: make setup-postgres');
	return { name: 'postgres', uid: Number(line[1]), gid: Number(line[2]) };
}

function freePort(): Promise<number> {
	return new Promise((resolve) => {
		const probe = createServer().listen(0, '127.0.0.1', () => {
			const { port } = probe.address() as { port: number };
			probe.close(() => resolve(port));
		});
	});
}

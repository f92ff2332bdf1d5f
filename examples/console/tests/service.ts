/** The job service as a real process, with skills and agents for these tests. */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Status, StatusView } from 'turnlatch';
import { ROOT } from '../../../bindings-wasm/tests/files.js';

const TESTS = join(ROOT, 'examples/console/tests');
/** `SERVICE_PYTHON` names the interpreter that has the service's packages, if it is not the one that make sets up. */
const PYTHON = process.env.SERVICE_PYTHON ?? join(ROOT, 'target/python-service/bin/python');
const LAUNCHERS: Record<string, [string, ...string[]]> = {
	python: [PYTHON, '-m', 'turnlatch_service'],
	// It lives for as long as one test, which is not worth optimising the core's code for.
	node: [process.execPath, '--liftoff-only', join(ROOT, 'examples/node-service/dist/main.js')],
};
/** Which of the two services stands behind the console: `SERVICE=node`, or the one in Python. */
export const KIND = process.env.SERVICE ?? 'python';
/** Scripted agents are run by the interpreter of the service in Python: what a shell calls python3 may be a slow script. */
const PATH = `${dirname(PYTHON)}${delimiter}${process.env.PATH}`;

export class Service {
	url = '';
	readonly #data = mkdtempSync(join(tmpdir(), 'turnlatch-console-'));
	readonly #token: string | undefined;
	#process: ChildProcess | undefined;

	private constructor(token: string | undefined) {
		this.#token = token;
	}

	static async start(token?: string): Promise<Service> {
		const service = new Service(token);
		await service.begin();
		return service;
	}

	/** Starts the process: the first time on any port, later on the same one and the same data. */
	async begin(): Promise<void> {
		const port = this.url === '' ? '0' : new URL(this.url).port;
		const folders = ['--data', this.#data, '--skills', join(TESTS, 'skills')];
		const files = ['--engines', join(TESTS, 'engines.json'), '--console', join(ROOT, 'examples/console/dist')];
		const launcher = LAUNCHERS[KIND];
		if (launcher === undefined) throw new Error(`there is no service ${KIND}`);
		const [program, ...first] = launcher;
		const child = spawn(program, [...first, '--port', port, '--slots', '2', ...folders, ...files], {
			env: {
				...process.env,
				PATH,
				...(this.#token === undefined ? {} : { TURNLATCH_TOKEN: this.#token }),
			},
			stdio: ['ignore', 'pipe', 'pipe'],
		});
		this.#process = child;
		let log = '';
		child.stderr.on('data', (piece) => {
			log += piece;
		});
		for await (const line of createInterface({ input: child.stdout })) {
			this.url = line.replace(/^listening on /, '');
			return;
		}
		throw new Error(`the service did not start:\n${log}`);
	}

	/** Ends the process as an operator does; the data stays. */
	async stop(): Promise<void> {
		const child = this.#process;
		if (child === undefined || child.exitCode !== null) return;
		const ended = new Promise((resolve) => child.once('exit', resolve));
		child.kill('SIGTERM');
		await ended;
	}

	/** Ends it for good. */
	async close(): Promise<void> {
		await this.stop();
		rmSync(this.#data, { recursive: true, force: true });
	}

	async create(skill: string, members: object = {}): Promise<string> {
		const body = { skill, engine: 'scripted', execution_mode: 'interactive', ...members };
		return ((await this.post('/v1/jobs', body)) as StatusView).run_id;
	}

	/** Makes the file that the run's scripted agent waits for. */
	async letGoOn(runId: string, file: string): Promise<void> {
		await writeFile(join(this.#data, 'runs', runId, 'work', file), '');
	}

	/** Waits until the run has one of these statuses. */
	async until(runId: string, ...statuses: Status[]): Promise<StatusView> {
		for (;;) {
			const view = (await this.get(`/v1/jobs/${runId}`).then((text) => JSON.parse(text))) as StatusView;
			if (statuses.includes(view.status)) return view;
			await new Promise((resolve) => setTimeout(resolve, 50));
		}
	}

	async get(path: string): Promise<string> {
		const response = await fetch(this.url + path, { headers: this.#headers() });
		if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
		return response.text();
	}

	async post(path: string, body: object): Promise<unknown> {
		const headers = { ...this.#headers(), 'content-type': 'application/json' };
		const response = await fetch(this.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
		if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
		return response.json();
	}

	#headers(): Record<string, string> {
		return this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` };
	}
}

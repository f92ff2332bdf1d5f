/** The host of the README's section "Restarting by hand", killed in the middle of a turn, begins no turn twice. */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import type { StatusView } from 'turnlatch';
import { PACKAGE } from './files.js';
import { until } from './hosting.js';

/** Notes its start, and which of those before it are alive (a zombie has no command line), and waits until it may go. */
const AGENT = `cd "$0"
for pid in $(cat starts 2>/dev/null); do
	test -n "$(tr -d '\\0' 2>/dev/null < /proc/$pid/cmdline)" && echo "$pid $$" >> together
done
echo $$ >> starts
while ! test -e go; do sleep 0.01; done
echo '{"answer": 42}'`;

/** Starts the run, or goes on with it. */
const MAIN = `
import { existsSync } from 'node:fs';
import { admit } from 'turnlatch';
const [folder, policy, agent] = process.argv.slice(2);
const known = existsSync(join(folder, 'runs.db'));
const host = new Host(folder, ['sh', '-c', agent, folder]);
const request = { run_id: 'r1', engine: 'test', interrupted_turn: policy };
const run = known ? await host.restart('r1') : await host.start(admit({ runner: {} }, request, { engines: ['test'] }));
console.log(run.statusViewJson());
`;

/** The program that the README has, with something to do. It stands where the package is found by its name. */
function program(): string {
	const page = readFileSync(join(PACKAGE, 'README.md'), 'utf8');
	const code = [...page.matchAll(/^```js\n(.*?)^```$/gms)].map(([, block]) => block ?? '');
	const [host, ...more] = code.filter((block) => block.includes('class Host'));
	assert.ok(host !== undefined && more.length === 0);
	const folder = join(PACKAGE, 'build/readme');
	mkdirSync(folder, { recursive: true });
	const file = join(folder, 'restart-by-hand.mjs');
	writeFileSync(file, host + MAIN);
	return file;
}

function startHost(file: string, folder: string, policy: string): ChildProcess & { stdout: NodeJS.ReadableStream } {
	return spawn(process.execPath, [file, folder, policy, AGENT], { stdio: ['ignore', 'pipe', 'inherit'] });
}

for (const [policy, starts] of [['fail', 1] as const, ['retry', 2] as const]) {
	test(`a turn that was interrupted is begun as often as the policy says: ${policy}`, { timeout: 60_000 }, async () => {
		const [file, folder] = [program(), mkdtempSync(join(tmpdir(), 'turnlatch-'))];
		const inFolder = (name: string) => join(folder, name);
		const started = () =>
			existsSync(inFolder('starts')) ? readFileSync(inFolder('starts'), 'utf8').trim().split('\n').length : 0;
		const hosts: ChildProcess[] = [];
		try {
			const first = startHost(file, folder, policy);
			hosts.push(first);
			await until(() => started() === 1);
			const ended = once(first, 'exit');
			first.kill('SIGKILL');
			await ended;
			const second = startHost(file, folder, policy);
			hosts.push(second);
			const said = text(second.stdout);
			if (policy === 'retry') {
				await until(() => started() === 2);
				writeFileSync(inFolder('go'), '');
			}
			const { status, error, data } = JSON.parse(await said) as StatusView;
			assert.deepEqual([started(), existsSync(inFolder('together'))], [starts, false]);
			const expected = policy === 'fail' ? ['failed', 'ORCHESTRATOR_RESTART_INTERRUPTED', undefined] : undefined;
			assert.deepEqual([status, error?.code, data], expected ?? ['succeeded', undefined, { answer: 42 }]);
		} finally {
			for (const host of hosts) host.kill('SIGKILL');
			rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
		}
	});
}

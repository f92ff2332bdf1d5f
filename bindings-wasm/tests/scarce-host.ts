/**
 * A host that runs out of descriptors, in a process of its own: for each number of them that is left a run is accepted,
 * waits for its start, and succeeds when there are more. Another one may have no process. For out-of-resources.test.ts.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, copyFileSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Run } from 'turnlatch';
import { Driver, LocalSlots, LocalTimers } from 'turnlatch/driver';
import { SubprocessRunner } from 'turnlatch/node';
import { PACKAGE } from './files.js';
import { DONE, openStore, plan } from './hosting.js';

/** What became of a run. */
export interface Outcome {
	readonly waited: boolean;
	readonly meanwhile: string;
	readonly status: string;
	readonly errors: string[];
	/** How many descriptors were open after it. */
	readonly open: number;
}

/** Modes instead of a folder: a runner, and a supervisor, that may have no process more. */
export type Mode = 'runner without processes' | 'supervisor without processes';
const MOST_LEFT = 12;
const NOBODY = 65_534;
const [folder = '', marks] = process.argv.slice(2);

function takeAll(): number[] {
	const taken: number[] = [];
	try {
		while (true) taken.push(openSync('/dev/null', 'r'));
	} catch {
		return taken;
	}
}

async function main(): Promise<Outcome[]> {
	const store = openStore(join(folder, 'runs.db'));
	const command = () => ({ argv: ['echo', DONE], stdin: 'go' });
	const processes = new SubprocessRunner(command, marks === undefined ? {} : { marks });
	const outcomes: Outcome[] = [];
	const errors: string[] = [];
	const driver = new Driver({
		slots: new LocalSlots(1),
		timers: new LocalTimers(),
		processes,
		store,
		onError: (_runId, what, error) => void errors.push(`${what?.type}: ${(error as NodeJS.ErrnoException).code}`),
		retry: { delayMs: 10, pauseMs: 20 },
	});
	for (let left = 0; left < MOST_LEFT; left += 1) {
		errors.length = 0;
		const taken = takeAll();
		for (const descriptor of taken.splice(0, left)) closeSync(descriptor);
		const runId = await driver.start(plan(`r${left}`, { execution_mode: 'auto' }));
		// With the last of them there may be enough.
		while (errors.length < 4 && driver.view(runId).status !== 'succeeded') await sleep(5);
		const waited = errors.length >= 4;
		const meanwhile = driver.view(runId).status;
		for (const descriptor of taken) closeSync(descriptor);
		const { status } = await driver.wait(runId);
		await driver.settled(runId);
		while ((await processes.alive()).length > 0) await sleep(5);
		const open = readdirSync('/proc/self/fd').length;
		outcomes.push({ waited, meanwhile, status, errors: [...new Set(errors)], open });
	}
	await driver.close();
	store.close();
	return outcomes;
}

/** Sets how many processes there may be, when it is called: without starting one. */
function limiter(most: number): () => Promise<unknown> {
	const script = `read -r _ && exec prlimit --pid ${process.pid} --nproc=${most}:`;
	const shell = spawn('sh', ['-c', script], { cwd: '/', stdio: ['pipe', 'ignore', 'inherit'] });
	return () => {
		shell.stdin.end('go\n');
		return once(shell, 'exit');
	};
}

/** Root may have any number of processes. */
function beNobody(): void {
	if (process.getuid?.() === 0) process.setuid?.(NOBODY);
}

/** Becomes the supervisor of what it is told to run, which may be started only after a while. */
async function superviseWithoutProcesses(allowed: string): Promise<void> {
	// Where another user, who cannot look into every folder, can read it.
	const supervisor = join(dirname(allowed), 'supervise.cjs');
	copyFileSync(join(PACKAGE, 'dist/supervise.cjs'), supervisor);
	beNobody();
	const [forbid, allow] = [limiter(0), limiter(1000)];
	await forbid();
	createRequire(import.meta.url)(supervisor);
	await sleep(700);
	writeFileSync(allowed, '');
	await allow();
}

/** What `start` says to a host that may have no process more. */
async function startWithoutProcesses(): Promise<string[]> {
	beNobody();
	await limiter(0)();
	const runner = new SubprocessRunner(() => ({ argv: ['true'] }));
	const effect = { type: 'start_turn', id: 'r1/2/1', attempt_number: 1, slot_id: 'r1/s1' } as const;
	const codes: string[] = [];
	for (let attempt = 0; attempt < 3; attempt += 1) {
		const [run] = Run.create(plan(), 1);
		await runner.start(run, effect, () => codes.push('finished')).catch(({ code }) => codes.push(code));
	}
	return codes;
}

if (folder === ('supervisor without processes' satisfies Mode)) await superviseWithoutProcesses(marks ?? '');
else if (folder === ('runner without processes' satisfies Mode))
	console.log(JSON.stringify(await startWithoutProcesses()));
else console.log(JSON.stringify(await main()));

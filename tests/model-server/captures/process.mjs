// One agent process: its own group and home, nothing on its standard input, and nothing of it left behind.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const LONGEST_START_MS = 60_000;
const LONGEST_GOODBYE_MS = 15_000;
/** An agent starts its tool before it prints that it has. */
const TIME_TO_PRINT_MS = 1_000;

/**
 * @typedef {{ stdout: string, stderr: string, exit_code: number | null, signal: string | null, note?: string }} Outcome
 * @typedef {{ command: string, args: string[], env: Record<string, string>, cwd: string, stdin?: 'pipe' | 'ignore' }} Launch
 */

/** @param {Launch} launch */
export function start({ command, args, env, cwd, stdin = 'ignore' }) {
	const child = spawn(command, args, { cwd, env, detached: true, stdio: [stdin, 'pipe', 'pipe'] });
	const output = { stdout: [], stderr: [] };
	child.stdout.on('data', (bytes) => output.stdout.push(bytes));
	child.stderr.on('data', (bytes) => output.stderr.push(bytes));
	const exited = once(child, 'exit').then(([exit_code, signal]) => ({ exit_code, signal }));
	const closed = once(child, 'close');
	const text = (name) => Buffer.concat(output[name]).toString('utf8');
	return { child, exited, closed, text };
}

/**
 * Runs the agent to its end, or to the end of our patience.
 *
 * @param {Launch} launch
 * @param {number} longest_ms
 * @param {{ signal?: NodeJS.Signals, duringCommand?: string }} [interruption]
 * @returns {Promise<Outcome>}
 */
export async function runToEnd(launch, longest_ms, { signal, duringCommand } = {}) {
	const { child, exited, closed, text } = start(launch);
	let note;
	let patience = longest_ms;
	if (signal !== undefined) {
		if (await appears(launch.env.HOME, duringCommand)) {
			// As hosts and terminals do it: the whole group hears of it, not only the launcher of the agent.
			process.kill(-child.pid, signal);
		} else note = `the tool never ran, so ${signal} was not sent`;
		patience = LONGEST_GOODBYE_MS;
	}
	const end = await within(exited, patience);
	if (end === null) note ??= `still running after ${patience / 1000} s${signal ? ` from ${signal}` : ''}; killed`;
	if (
		end !== null &&
		signal !== undefined &&
		processesOf(launch.env.HOME).some((one) => one.command.includes(duringCommand))
	) {
		note ??= "the tool's process was still running when the agent had exited";
	}
	await endAll(launch.env.HOME);
	// Only now has everybody let go of the pipes, and all that was written has been read.
	await closed;
	const { exit_code, signal: by } = end ?? { exit_code: null, signal: null };
	return { note, stdout: text('stdout'), stderr: text('stderr'), exit_code, signal: by };
}

/** The end of a process if it comes in time, otherwise null. */
export function within(exited, patience_ms) {
	const impatience = new AbortController();
	const late = sleep(patience_ms, null, { signal: impatience.signal }).catch(() => null);
	return Promise.race([exited, late]).finally(() => impatience.abort());
}

/** Whether a process with this in its command line has appeared in this home, and has been told of on the output. */
export async function appears(home, command) {
	for (let waited = 0; waited < LONGEST_START_MS; waited += 100) {
		if (processesOf(home).some((one) => one.command.includes(command))) {
			await sleep(TIME_TO_PRINT_MS);
			return true;
		}
		await sleep(100);
	}
	return false;
}

/** Kills all that has this home. Tools may be in a group of their own and may have lost their parent; the home is left. */
export async function endAll(home) {
	for (;;) {
		const left = processesOf(home);
		if (left.length === 0) return;
		for (const { pid } of left) {
			try {
				process.kill(pid, 'SIGKILL');
			} catch {
				// It has ended by itself in the meantime.
			}
		}
		await sleep(50);
	}
}

function processesOf(home) {
	const found = [];
	for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
		try {
			const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
			if (!environment.includes(`HOME=${home}`)) continue;
			const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
			if (command !== '') found.push({ pid: Number(pid), command });
		} catch {
			// It has ended while we looked.
		}
	}
	return found;
}

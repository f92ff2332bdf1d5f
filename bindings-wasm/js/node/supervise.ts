/**
 * Runs one command so that nothing of it is left behind. A script of its own, started by `SubprocessRunner`.
 *
 * Descriptor 3 is the lifeline, whose other end only the host has. Its first line is the command; any further line asks
 * for a gentle end (SIGTERM, grace, SIGKILL); its end means that the host is dead, and then everything is killed at
 * once. A separate process does this because nothing inside of a host survives the host's SIGKILL. Descriptors 4, 5 and
 * 6 become the command's input, output and errors.
 *
 * The command gets a process group of its own and a mark in its environment, by which Linux finds what left the group.
 * Not found is a process that left the group and removed the mark; elsewhere than on Linux the group has to do.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, unlinkSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { constants } from 'node:os';
import { isOutOfResources } from '../driver/resources.js';
import { livingProcesses, MARK } from './marked.js';

/** What the host tells in its first line. */
export interface Order {
	readonly argv: readonly string[];
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly cwd?: string;
	readonly input: boolean;
	readonly graceMs: number;
	/** To be removed when nothing of the command is left. */
	readonly markFile?: string;
}

/** A process stuck in the kernel must not keep this one for ever. */
const UNKILLABLE_MS = 10_000;
const LOOK_AGAIN_MS = 5;
const BEGIN_AGAIN_MS = 200;
const COULD_NOT_START = 127;

const mark = process.env[MARK] ?? '';
const lifeline = new Socket({ fd: 3, readable: true, writable: true });
let heard = '';
let order: Order | undefined;
let child: ChildProcess | undefined;
let exitCode: number | undefined;
/** When the end began, and how long it is gentle. */
let ending: { readonly since: number; readonly graceMs: number } | undefined;

lifeline.setEncoding('utf8');
lifeline.on('data', (text: string) => {
	heard += text;
	for (let end = heard.indexOf('\n'); end >= 0; end = heard.indexOf('\n')) {
		const line = heard.slice(0, end);
		heard = heard.slice(end + 1);
		if (order === undefined) begin(JSON.parse(line) as Order);
		else endAll(order.graceMs);
	}
});
lifeline.on('error', () => {});
lifeline.on('close', () => (order === undefined ? process.exit(0) : endAll(0)));

function begin(given: Order): void {
	order = given;
	const [program = '', ...rest] = given.argv;
	try {
		child = spawn(program, rest, {
			env: { ...given.env, [MARK]: mark },
			...(given.cwd === undefined ? {} : { cwd: given.cwd }),
			stdio: [given.input ? 4 : 'ignore', 5, 6],
			detached: true,
		});
	} catch (error) {
		failed(given, program, error);
		return;
	}
	child.on('error', (error) => failed(given, program, error));
	child.on('exit', (code, signal) => {
		exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
		endAll(given.graceMs);
	});
	if (child.pid === undefined) return;
	lifeline.write(`${child.pid}\n`);
	closePipes();
}

/** Only the command holds its pipes: its reader must see their end, and its writer that nobody reads. */
function closePipes(): void {
	for (const fd of order?.input ? [4, 5, 6] : [5, 6]) closeSync(fd);
}

function failed(given: Order, program: string, error: unknown): void {
	if (exitCode !== undefined || child?.pid !== undefined) return;
	if (isOutOfResources(error)) {
		// Until there is a process for it, or the host does not want it any more.
		setTimeout(() => ending === undefined && begin(given), BEGIN_AGAIN_MS);
		return;
	}
	exitCode = COULD_NOT_START;
	writeSync(6, `${program}: ${error instanceof Error ? error.message : String(error)}\n`);
	closePipes();
	endAll(0);
}

function endAll(graceMs: number): void {
	const first = ending === undefined;
	// The host's death makes a gentle end short.
	if (ending === undefined || graceMs < ending.graceMs) ending = { since: ending?.since ?? Date.now(), graceMs };
	if (first) {
		if (graceMs > 0) signalAll('SIGTERM');
		lookAgain();
	}
}

function lookAgain(): void {
	if (ending === undefined) return;
	const waited = Date.now() - ending.since;
	if (!anythingLeft() || waited >= ending.graceMs + UNKILLABLE_MS) leave();
	if (waited >= ending.graceMs) signalAll('SIGKILL');
	setTimeout(lookAgain, LOOK_AGAIN_MS);
}

function anythingLeft(): boolean {
	if (child?.pid === undefined) return false;
	if (process.platform === 'linux') return exitCode === undefined || left()?.length !== 0;
	try {
		process.kill(-child.pid, 0);
		return true;
	} catch {
		return exitCode === undefined;
	}
}

/** Undefined if that cannot be seen just now. */
function left(): { pid: number }[] | undefined {
	try {
		return livingProcesses(mark, child?.pid).filter(({ pid }) => pid !== process.pid);
	} catch {
		return undefined;
	}
}

function signalAll(signal: NodeJS.Signals): void {
	if (child?.pid === undefined) return;
	for (const target of [-child.pid, ...(left() ?? []).map(({ pid }) => pid)]) {
		try {
			process.kill(target, signal);
		} catch {
			// It is gone already.
		}
	}
}

function leave(): never {
	try {
		if (order?.markFile !== undefined) unlinkSync(order.markFile);
	} catch {
		// The next host removes it.
	}
	process.exit(exitCode ?? 128 + constants.signals.SIGKILL);
}

/**
 * Agents as real processes (POSIX).
 *
 * Each process is started through a small supervisor (`supervise.ts`) that ends it with all its children: when the turn
 * is cancelled or too long, when the command itself has ended and left children, and when the host dies, even by
 * SIGKILL. So a restarted host finds no process of its own, and every turn that was under way is lost. What an earlier
 * host left may take some milliseconds to end; with a folder for `marks` the next one waits for that. The supervisor
 * is a Node process of its own: some 100 ms to start it and 6 MB of memory that it shares with nobody. A process that
 * shows no sign of ending for ten seconds after SIGKILL (stuck in the kernel) is given up, and what left its process
 * group and removed the mark from its environment is not found.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Finished, MaybePromise, Processes } from '../driver/index.js';
import { type InjectReply, type Run, type StartTurn, type TurnReport, unreadableReport } from '../public.js';
import { MARK } from './marked.js';
import { SlotMarks } from './slot-marks.js';
import type { Order } from './supervise.js';
import { TurnOutput } from './turn-output.js';

/**
 * How to run a turn. `env` replaces the environment; `timeoutMs` is for one turn.
 *
 * With `endOfTurn` the process is sticky: its input stays open, and a turn ends with a line of output that is equal to
 * it. Without, the turn ends with the process, which reads `stdin` and then the end of its input.
 */
export interface Command {
	readonly argv: readonly string[];
	readonly stdin?: string;
	readonly env?: Readonly<Record<string, string | undefined>>;
	readonly cwd?: string;
	readonly timeoutMs?: number;
	readonly endOfTurn?: string;
}

export interface SubprocessOptions {
	/** Makes the turn's report of the output, for agents that print more than their words. */
	readonly report?: (text: string) => TurnReport;
	/** Makes the one line that a sticky process is given for a reply: {@link singleLine} unless told. */
	readonly replyLine?: (response: string) => string;
	/** The time between SIGTERM and SIGKILL: 2000. */
	readonly graceMs?: number;
	/**
	 * A folder that only this host and its successors use (Linux). With it a turn never runs beside what an earlier host
	 * left behind: `alive` (so a driver's recovery), `start` and `terminate` wait until that is gone, and throw if it
	 * does not go because the earlier host is not dead.
	 */
	readonly marks?: string;
}

const SUPERVISOR = join(__dirname, 'supervise.cjs');
const STDERR_BYTES = 64 * 1024;
const STDERR_KEPT = 256;
/** What a supervisor waits for at most, after the grace: ten seconds for the kernel and two of its own. */
const SUPERVISORS_MS = 12_000;

/** The reply with its line breaks made spaces. `JSON.stringify` in its place loses nothing, if the agent decodes. */
export function singleLine(response: string): string {
	return response.split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/).join(' ');
}

interface Running {
	readonly slotId: string;
	attemptNumber: number;
	readonly command: Command;
	readonly output: TurnOutput;
	readonly supervisor: ChildProcess;
	readonly lifeline: Socket;
	readonly stdin: Socket | undefined;
	readonly gone: Promise<void>;
	finished: Finished;
	inTurn: boolean;
	injected?: string;
	/** The command's process group, when the supervisor has told it. */
	group?: number;
	stderr: Buffer;
	failureReason?: string;
	/** Ended on request: nobody waits for a report. */
	unheard: boolean;
	alarm?: NodeJS.Timeout;
}

/**
 * Runs every turn, or every sticky run, as a process. `command(run, effect)` says what to run.
 *
 * Output over the run's limit of turn text is cut just above it, so that the core says `OUTPUT_TOO_LARGE`, and the
 * process is ended; so is one whose output is not UTF-8.
 */
export class SubprocessRunner implements Processes {
	readonly #command: (run: Run, effect: StartTurn) => MaybePromise<Command>;
	readonly #report: (text: string) => TurnReport;
	readonly #replyLine: (response: string) => string;
	readonly #graceMs: number;
	readonly #marks: SlotMarks | undefined;
	readonly #processes = new Map<string, Running>();
	readonly #stderr = new Map<string, string>();

	constructor(command: (run: Run, effect: StartTurn) => MaybePromise<Command>, options: SubprocessOptions = {}) {
		const { report = (text) => ({ text }), replyLine = singleLine, graceMs = 2000, marks } = options;
		this.#command = command;
		this.#report = report;
		this.#replyLine = replyLine;
		this.#graceMs = graceMs;
		this.#marks = marks === undefined ? undefined : new SlotMarks(marks, graceMs + SUPERVISORS_MS);
	}

	/** Starts the turn's process; a process that runs in this slot already is kept. */
	async start(run: Run, effect: StartTurn, finished: Finished): Promise<void> {
		const slotId = effect.slot_id;
		if (this.#processes.has(slotId)) return this.attach(slotId, finished);
		const command = await this.#command(run, effect);
		checkCommand(command);
		const output = new TurnOutput(turnTextLimit(run), command.endOfTurn);
		const mark = randomUUID();
		const markFile = await this.#marks?.take(slotId, mark);
		try {
			this.#spawn(effect, command, output, finished, mark, markFile);
		} catch (error) {
			this.#marks?.forget(slotId);
			throw error;
		}
	}

	/** Writes the reply as one line to the process; the same effect only once. */
	inject(_run: Run, effect: InjectReply, finished: Finished): void {
		const running = this.#processes.get(effect.slot_id);
		if (running === undefined) {
			finished(null);
			return;
		}
		running.finished = finished;
		if (running.injected === effect.id) return;
		running.injected = effect.id;
		running.attemptNumber = effect.attempt_number;
		running.inTurn = true;
		this.#arm(running);
		running.stdin?.write(`${this.#replyLine(effect.response)}\n`);
	}

	/** Reports to another driver from now on. */
	attach(slotId: string, finished: Finished): void {
		const running = this.#processes.get(slotId);
		if (running === undefined) finished(null);
		else running.finished = finished;
	}

	/** Ends the process and its children, first gently. */
	async terminate(slotId: string): Promise<void> {
		const running = this.#processes.get(slotId);
		if (running === undefined) return this.#marks?.free(slotId);
		running.unheard = true;
		await this.#end(running);
	}

	/** The slots whose process lives. */
	async alive(): Promise<string[]> {
		await this.#marks?.allFree();
		return [...this.#processes.keys()];
	}

	/** The end of what a process wrote to stderr, for diagnosis; the core never sees it. The last 256 are remembered. */
	stderr(slotId: string): string {
		return this.#processes.get(slotId)?.stderr.toString() ?? this.#stderr.get(slotId) ?? '';
	}

	/** Ends every process, without a report. */
	async close(): Promise<void> {
		await Promise.all([...this.#processes.keys()].map((slotId) => this.terminate(slotId)));
	}

	#spawn(
		{ slot_id: slotId, attempt_number: attemptNumber }: StartTurn,
		command: Command,
		output: TurnOutput,
		finished: Finished,
		mark: string,
		markFile: string | undefined,
	): void {
		const { argv, env = process.env, cwd, stdin, endOfTurn } = command;
		const input = stdin !== undefined || endOfTurn !== undefined;
		const supervisor = spawn(process.execPath, [SUPERVISOR], {
			// Its own environment is almost empty: what the command's says to Node is not meant for the supervisor.
			env: { [MARK]: mark },
			stdio: ['ignore', 'ignore', 'ignore', 'pipe', input ? 'pipe' : 'ignore', 'pipe', 'pipe'],
			detached: true,
		});
		const [, , , lifeline, feed, out, err] = supervisor.stdio as unknown as (Socket | undefined)[];
		if (lifeline === undefined || out === undefined || err === undefined) throw new Error('there are no pipes');
		const running: Running = {
			slotId,
			attemptNumber,
			command,
			output,
			supervisor,
			lifeline,
			stdin: input ? feed : undefined,
			gone: new Promise((resolve) => {
				// All pipes have been read to their end by then.
				supervisor.once('close', (code, signal) => resolve(this.#ended(slotId, code, signal)));
				supervisor.once('error', () => resolve(this.#ended(slotId, null, null)));
			}),
			finished,
			inTurn: true,
			stderr: Buffer.alloc(0),
			unheard: false,
		};
		this.#processes.set(slotId, running);
		const order: Order = {
			argv,
			env,
			input,
			graceMs: this.#graceMs,
			...(cwd === undefined ? {} : { cwd }),
			...(markFile === undefined ? {} : { markFile }),
		};
		// A process that does not read, or has ended, is no error here: its end says what there is to say.
		for (const pipe of [lifeline, feed, out, err]) pipe?.on('error', () => {});
		lifeline.write(`${JSON.stringify(order)}\n`);
		lifeline.on('data', (pid: Buffer) => {
			running.group = Number(pid);
		});
		out.on('data', (chunk: Buffer) => this.#take(running, chunk));
		err.on('data', (chunk: Buffer) => {
			running.stderr = Buffer.concat([running.stderr, chunk]).subarray(-STDERR_BYTES);
		});
		this.#arm(running);
		if (stdin !== undefined) running.stdin?.write(stdin);
		if (endOfTurn === undefined) running.stdin?.end();
	}

	#take(running: Running, chunk: Buffer): void {
		const { output } = running;
		// What comes after that is only emptied, so that the process can end.
		if (output.stopped || running.failureReason !== undefined || running.unheard) return;
		for (const turn of output.feed(chunk)) {
			// An end without a turn is the agent's mistake and no result of anything.
			if (!running.inTurn) continue;
			running.inTurn = false;
			clearTimeout(running.alarm);
			running.finished(this.#reportOf(running, turn));
		}
		if (output.stopped) void this.#end(running);
	}

	#ended(slotId: string, code: number | null, signal: NodeJS.Signals | null): void {
		const running = this.#processes.get(slotId);
		if (running === undefined) return;
		const { output, command, stderr } = running;
		clearTimeout(running.alarm);
		running.lifeline.destroy();
		// A supervisor that was killed has not ended its command.
		if (signal !== null && running.group !== undefined) killGroup(running.group);
		if (running.failureReason === undefined) output.end();
		this.#marks?.forget(slotId);
		this.#processes.delete(slotId);
		this.#stderr.delete(slotId);
		this.#stderr.set(slotId, stderr.toString());
		for (const oldest of this.#stderr.keys()) {
			if (this.#stderr.size <= STDERR_KEPT) break;
			this.#stderr.delete(oldest);
		}
		if (running.unheard) return;
		if (running.inTurn) running.finished(this.#lastReport(running, code ?? 128 + constants.signals.SIGKILL));
		if (command.endOfTurn !== undefined) running.finished(null);
	}

	/** The report of a turn that ended with its process. */
	#lastReport(running: Running, code: number): TurnReport {
		const { output, failureReason } = running;
		if (output.tooLarge) return { text: output.text };
		if (output.notUtf8) return { failure_reason: 'OUTPUT_NOT_UTF8' };
		const report = this.#reportOf(running, output.text);
		return failureReason === undefined ? { ...report, exit_code: code } : { ...report, failure_reason: failureReason };
	}

	#reportOf({ attemptNumber, slotId }: Running, text: string): TurnReport {
		try {
			return { ...this.#report(text) };
		} catch {
			return unreadableReport(attemptNumber, slotId);
		}
	}

	#end(running: Running): Promise<void> {
		running.lifeline.write('end\n');
		return running.gone;
	}

	#arm(running: Running): void {
		const { timeoutMs } = running.command;
		if (timeoutMs === undefined) return;
		running.alarm = setTimeout(() => {
			if (running.output.stopped) return;
			running.failureReason = 'TIMEOUT';
			void this.#end(running);
		}, timeoutMs);
	}
}

function turnTextLimit(run: Run): number {
	const { plan } = run.snapshot().run as { plan: { limits: { turn_text_bytes: number } } };
	return plan.limits.turn_text_bytes;
}

function checkCommand({ argv, endOfTurn, timeoutMs }: Command): void {
	if (argv.length === 0) throw new TypeError('argv names no program');
	if (endOfTurn !== undefined && /[\r\n]/.test(endOfTurn)) {
		throw new TypeError('endOfTurn is one line, without its line break');
	}
	// Above that, `setTimeout` would fire at once.
	if (timeoutMs !== undefined && !(timeoutMs >= 0 && timeoutMs < 2 ** 31)) {
		throw new RangeError('timeoutMs is between 0 and 2 147 483 647');
	}
}

function killGroup(group: number): void {
	try {
		process.kill(-group, 'SIGKILL');
	} catch {
		// Nothing of it is left.
	}
}

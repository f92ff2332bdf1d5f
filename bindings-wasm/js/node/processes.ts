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
import { closeSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import { constants, devNull } from 'node:os';
import { join } from 'node:path';
import type { Finished, MaybePromise, Processes } from '../driver/index.js';
import {
	type Decoded,
	type InjectReply,
	type MessagesTurnReport,
	type Progress,
	type Run,
	type Said,
	type StartTurn,
	type StreamDecoder,
	type TurnReport,
	unreadableReport,
} from '../public.js';
import { type Command, checkCommand, decoderOf, isSticky } from './command.js';
import { MARK } from './marked.js';
import { SlotMarks } from './slot-marks.js';
import type { Order } from './supervise.js';

export interface SubprocessOptions {
	/** Told what the agent says, as it comes. Whatever it throws is written to the console and breaks no turn. */
	readonly onSaid?: (said: Said) => MaybePromise<void>;
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

/** Both ends of four pipes, and of the one by which `spawn` hears of an error. */
const DESCRIPTORS = 10;

const NOTHING = new Uint8Array();

interface Running {
	readonly runId: string;
	readonly slotId: string;
	attemptNumber: number;
	readonly command: Command;
	readonly decoder: StreamDecoder;
	readonly supervisor: ChildProcess;
	readonly lifeline: Socket;
	readonly stdin: Socket | undefined;
	readonly gone: Promise<void>;
	finished: Finished;
	inTurn: boolean;
	injected?: string;
	lastReport?: TurnReport;
	/** The command's process group, when the supervisor has told it. */
	group?: number;
	stderr: Buffer;
	/** Nothing more is read: there is too much of it, it is not UTF-8, or its decoder was lost. */
	stopped: boolean;
	timedOut: boolean;
	/** Ended on request: nobody waits for a report. */
	unheard: boolean;
	alarm?: NodeJS.Timeout;
}

/**
 * Runs every turn, or every sticky run, as a process. `command(run, effect)` says what to run.
 *
 * The core decodes the output as it comes ({@link StreamDecoder}). A process that says more than the run's limit of turn
 * text is ended, and the core says `OUTPUT_TOO_LARGE`; so is one whose output is not UTF-8.
 */
export class SubprocessRunner implements Processes {
	readonly #command: (run: Run, effect: StartTurn) => MaybePromise<Command>;
	readonly #onSaid: ((said: Said) => MaybePromise<void>) | undefined;
	readonly #graceMs: number;
	readonly #marks: SlotMarks | undefined;
	readonly #processes = new Map<string, Running>();
	readonly #stderr = new Map<string, string>();

	constructor(command: (run: Run, effect: StartTurn) => MaybePromise<Command>, options: SubprocessOptions = {}) {
		const { onSaid, graceMs = 2000, marks } = options;
		this.#command = command;
		this.#onSaid = onSaid;
		this.#graceMs = graceMs;
		this.#marks = marks === undefined ? undefined : new SlotMarks(marks, graceMs + SUPERVISORS_MS);
	}

	/** Starts the turn's process; a process that runs in this slot already is kept. */
	async start(run: Run, effect: StartTurn, finished: Finished): Promise<void> {
		const slotId = effect.slot_id;
		if (this.#processes.has(slotId)) return this.attach(slotId, finished);
		const command = await this.#command(run, effect);
		checkCommand(command);
		const mark = randomUUID();
		const markFile = await this.#marks?.take(slotId, mark);
		try {
			await this.#spawn(run, effect, command, finished, mark, markFile);
		} catch (error) {
			this.#marks?.forget(slotId);
			throw error;
		}
	}

	/** Writes the reply to the process, as its format wants it; the same effect only once. */
	inject(_run: Run, effect: InjectReply, finished: Finished): void {
		const running = this.#processes.get(effect.slot_id);
		if (running === undefined) {
			finished(null);
			return;
		}
		if (running.injected === effect.id) {
			this.attach(effect.slot_id, finished);
			return;
		}
		running.finished = finished;
		const words = running.decoder.prompt(effect.response);
		running.injected = effect.id;
		running.attemptNumber = effect.attempt_number;
		running.inTurn = true;
		this.#arm(running);
		running.stdin?.write(words);
	}

	/** Reports to another driver from now on. Whether the end of the last turn was heard is not known: it is told again. */
	attach(slotId: string, finished: Finished): void {
		const running = this.#processes.get(slotId);
		if (running !== undefined) running.finished = finished;
		if (running === undefined) finished(null);
		else if (running.lastReport !== undefined && !running.inTurn) finished(running.lastReport);
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

	async #spawn(
		run: Run,
		{ slot_id: slotId, attempt_number: attemptNumber }: StartTurn,
		command: Command,
		finished: Finished,
		mark: string,
		markFile: string | undefined,
	): Promise<void> {
		const { argv, env = process.env, cwd, stdin } = command;
		const decoder = decoderOf(run, command);
		const prompt = stdin === undefined ? undefined : decoder.prompt(stdin);
		const input = prompt !== undefined || isSticky(command);
		const [supervisor, failure] = await supervise(mark, input).catch((error) => {
			decoder.free();
			throw error;
		});
		const [, , , lifeline, feed, out, err] = supervisor.stdio as unknown as (Socket | undefined)[];
		if (lifeline === undefined || out === undefined || err === undefined) throw new Error('there are no pipes');
		const running: Running = {
			runId: run.runId,
			slotId,
			attemptNumber,
			command,
			decoder,
			supervisor,
			lifeline,
			stdin: input ? feed : undefined,
			gone: new Promise((resolve) => {
				// All pipes have been read to their end by then.
				supervisor.once('close', (code, signal) => resolve(this.#ended(slotId, code, signal)));
				void failure.then(() => resolve(this.#ended(slotId, null, null)));
			}),
			finished,
			inTurn: true,
			stderr: Buffer.alloc(0),
			stopped: false,
			timedOut: false,
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
		if (prompt !== undefined) running.stdin?.write(prompt);
		if (!isSticky(command)) running.stdin?.end();
	}

	#take(running: Running, chunk: Buffer): void {
		// What comes after that is only emptied, so that the process can end.
		if (running.stopped || running.timedOut || running.unheard) return;
		try {
			let progress = running.decoder.feed(chunk);
			this.#follow(running, progress);
			while (progress.turn_over && !progress.stop && isSticky(running.command)) {
				this.#endTurn(running, running.decoder.finish());
				progress = running.decoder.feed(NOTHING);
				this.#follow(running, progress);
			}
			running.stopped = progress.stop;
		} catch {
			// The decoder was lost with its instance, and the turn with it; its report will say so.
			running.stopped = true;
		}
		if (running.stopped) void this.#end(running);
	}

	#follow(running: Running, { pieces, write }: Progress): void {
		for (const text of write) running.stdin?.write(text);
		if (pieces.length === 0 || !running.inTurn) return;
		void this.#tell({ run_id: running.runId, attempt_number: running.attemptNumber, pieces });
	}

	async #tell(said: Said): Promise<void> {
		try {
			await this.#onSaid?.(said);
		} catch (error) {
			console.error('turnlatch: onSaid failed:', error);
		}
	}

	/** A turn of a sticky process is over. An end without a turn is the agent's mistake and no result of anything. */
	#endTurn(running: Running, decoded: Decoded): void {
		if (!running.inTurn) return;
		running.inTurn = false;
		clearTimeout(running.alarm);
		running.lastReport = reportOf(decoded);
		running.finished(running.lastReport);
	}

	#ended(slotId: string, code: number | null, signal: NodeJS.Signals | null): void {
		const running = this.#processes.get(slotId);
		if (running === undefined) return;
		const { command, stderr } = running;
		clearTimeout(running.alarm);
		running.lifeline.destroy();
		// A supervisor that was killed has not ended its command.
		if (signal !== null && running.group !== undefined) killGroup(running.group);
		this.#marks?.forget(slotId);
		this.#processes.delete(slotId);
		this.#stderr.delete(slotId);
		this.#stderr.set(slotId, stderr.toString());
		for (const oldest of this.#stderr.keys()) {
			if (this.#stderr.size <= STDERR_KEPT) break;
			this.#stderr.delete(oldest);
		}
		if (!running.unheard) {
			if (running.inTurn) running.finished(lastReport(running, code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
			if (isSticky(command)) running.finished(null);
		}
		running.decoder.free();
	}

	#end(running: Running): Promise<void> {
		running.lifeline.write('end\n');
		return running.gone;
	}

	#arm(running: Running): void {
		const { timeoutMs } = running.command;
		if (timeoutMs === undefined) return;
		running.alarm = setTimeout(() => {
			if (running.stopped) return;
			running.timedOut = true;
			void this.#end(running);
		}, timeoutMs);
	}
}

/** Throws if there are too few for a process: `spawn` loses those that it has opened when it finds no more. */
function checkDescriptors(): void {
	const opened: number[] = [];
	try {
		while (opened.length < DESCRIPTORS) opened.push(openSync(devNull, 'r'));
	} finally {
		for (const descriptor of opened) closeSync(descriptor);
	}
}

/** A supervisor that has been started, and what may go wrong with it later. Rejects if it could not be. */
async function supervise(mark: string, input: boolean): Promise<[ChildProcess, failure: Promise<Error>]> {
	checkDescriptors();
	const supervisor = spawn(process.execPath, [SUPERVISOR], {
		// Its own environment is almost empty: what the command's says to Node is not meant for the supervisor.
		env: { [MARK]: mark },
		stdio: ['ignore', 'ignore', 'ignore', 'pipe', input ? 'pipe' : 'ignore', 'pipe', 'pipe'],
		detached: true,
	});
	// Directly behind it: an error without a listener ends the host.
	const failure = new Promise<Error>((resolve) => supervisor.on('error', resolve));
	if (supervisor.pid !== undefined) return [supervisor, failure];
	// Without descriptors there are no pipes either.
	for (const pipe of supervisor.stdio ?? []) pipe?.destroy();
	throw await failure;
}

/** The report of a turn that ended with its process. What ended it counts more than what became of the process then. */
function lastReport(running: Running, code: number): TurnReport {
	const { attemptNumber, decoder, slotId, stderr, stopped, timedOut } = running;
	try {
		if (stopped) return reportOf(decoder.finish());
		const report = reportOf(decoder.finish(stderr.toString(), code));
		return timedOut ? { ...report, failure_reason: 'TIMEOUT' } : { ...report, exit_code: code };
	} catch {
		return unreadableReport(attemptNumber, slotId);
	}
}

function reportOf({ diagnostics, ...said }: Decoded): MessagesTurnReport {
	return diagnostics.length === 0 ? said : { ...said, diagnostics };
}

function killGroup(group: number): void {
	try {
		process.kill(-group, 'SIGKILL');
	} catch {
		// Nothing of it is left.
	}
}

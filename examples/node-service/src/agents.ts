/** The agents of runs as real processes, by the engine table. */

import type { InjectReply, Run, StartTurn, TurnReport } from 'turnlatch';
import type { Finished, Processes } from 'turnlatch/driver';
import { type Command, SubprocessRunner } from 'turnlatch/node';
import { readReport } from './agent-output.js';
import { type Engine, type EngineTable, environmentOf, filled } from './engines.js';
import { log } from './log.js';
import type { RunFolders } from './run-folders.js';

/** Elsewhere there is nothing to find the processes of a killed service by. */
const FINDS_PROCESSES = process.platform === 'linux';
/** What a timer takes; about 25 days. */
const LONGEST_MS = 2 ** 31 - 1;

interface Reader {
	readonly read: (report: TurnReport) => TurnReport;
	/** Whether the process may report more than one turn. */
	readonly sticky: boolean;
}

/** The driver's part for processes: runs commands of the table and reads what they print as the table says. */
export class Agents implements Processes {
	readonly #table: EngineTable;
	readonly #folders: RunFolders;
	readonly #runner: SubprocessRunner;
	readonly #readers = new Map<string, Reader>();

	constructor(table: EngineTable, folders: RunFolders, marks: string) {
		this.#table = table;
		this.#folders = folders;
		// Every line that a sticky process is given is one JSON string, so that nothing of a reply is lost.
		const command = (run: Run, effect: StartTurn) => this.#command(run, effect);
		this.#runner = new SubprocessRunner(command, { replyLine: JSON.stringify, ...(FINDS_PROCESSES ? { marks } : {}) });
	}

	/** Starts the turn's process. */
	async start(run: Run, effect: StartTurn, finished: Finished): Promise<void> {
		const { slot_id: slotId } = effect;
		const { plan, runId } = run;
		const engine = this.#engineOf(run);
		const read = (report: TurnReport) => readReport(engine, plan, this.#folders.work(runId), report);
		this.#readers.set(slotId, { read, sticky: isSticky(run) });
		await this.#runner.start(run, effect, this.#heard(slotId, finished));
	}

	/** Gives a reply to a sticky process. */
	inject(run: Run, effect: InjectReply, finished: Finished): void {
		this.#runner.inject(run, effect, this.#heard(effect.slot_id, finished));
	}

	/** Reports to another driver from now on. */
	attach(slotId: string, finished: Finished): void {
		this.#runner.attach(slotId, this.#heard(slotId, finished));
	}

	/** Ends the process and its children. */
	async terminate(slotId: string): Promise<void> {
		await this.#runner.terminate(slotId);
		this.#readers.delete(slotId);
	}

	/** The slots whose process lives. */
	alive(): Promise<string[]> {
		return this.#runner.alive();
	}

	/** Ends every process, without a report. */
	close(): Promise<void> {
		return this.#runner.close();
	}

	#heard(slotId: string, finished: Finished): Finished {
		return (report) => {
			const reader = this.#readers.get(slotId);
			if (report === null || reader?.sticky === false) this.#readers.delete(slotId);
			if (report !== null && ((report.exit_code ?? 0) !== 0 || report.failure_reason !== undefined)) {
				const stderr = this.#runner.stderr(slotId).slice(-500) || '(no stderr)';
				log.warning(`agent in slot ${slotId} failed: ${stderr}`);
			}
			finished(report === null || reader === undefined ? report : readSafely(slotId, reader, report));
		};
	}

	/** The command of a turn. A run that resumes without a session is told its conversation so far instead. */
	#command(run: Run, effect: StartTurn): Command {
		const { runId } = run;
		const [engine, cwd, prompt] = [this.#engineOf(run), this.#folders.work(runId), this.#folders.prompt(runId)];
		const values = { home: this.#table.home, skill: this.#folders.skill(runId), work: cwd, run_id: runId };
		const timeoutMs = Math.min(engine.timeoutSec * 1000, LONGEST_MS);
		const shared = { env: environmentOf(engine), cwd, timeoutMs };
		if (isSticky(run)) {
			if (engine.sticky === undefined) {
				throw new Error(`engine ${settingsOf(run).engine} has no command for sticky processes`);
			}
			const { command, endOfTurn } = engine.sticky;
			return { ...shared, argv: filled(command, values), stdin: `${JSON.stringify(prompt)}\n`, endOfTurn };
		}
		const { session_handle: handle, response } = effect.resume ?? {};
		if (handle !== undefined && engine.resume !== undefined) {
			const argv = filled(engine.resume, { ...values, session_handle: handle });
			return { ...shared, argv, stdin: response ?? '' };
		}
		const stdin = response === undefined ? prompt : prompt + conversation(run);
		return { ...shared, argv: filled(engine.first, values), stdin };
	}

	#engineOf(run: Run): Engine {
		const { engine: name } = settingsOf(run);
		const engine = this.#table.engines.get(name);
		if (engine === undefined) throw new Error(`the engine table has no engine ${name}`);
		return engine;
	}
}

/** What was asked and answered, for an agent that does not remember it. */
export function conversation(run: Run): string {
	const parts = run
		.history()
		.map(({ prompt, response }) => `\nYou asked:\n\n${prompt}\n\nThe answer:\n\n${response ?? ''}\n`);
	return `\n\n## Conversation so far\n${parts.join('')}`;
}

function settingsOf(run: Run): { engine: string; profile: string } {
	return run.plan.toData() as { engine: string; profile: string };
}

function isSticky(run: Run): boolean {
	return settingsOf(run).profile === 'sticky_process';
}

function readSafely(slotId: string, { read }: Reader, report: TurnReport): TurnReport {
	try {
		return read(report);
	} catch (error) {
		log.error(`the output in slot ${slotId} could not be read`, error);
		// Nothing that the core can read: the driver then tells it that the turn has ended without a report.
		return { unreadable: true } as TurnReport;
	}
}

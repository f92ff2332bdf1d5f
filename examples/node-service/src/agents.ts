/** The agents of runs as real processes, by the engine table. */

import type { InjectReply, Run, StartTurn } from 'turnlatch';
import type { Finished, Processes } from 'turnlatch/driver';
import { type Command, type Said, SubprocessRunner } from 'turnlatch/node';
import { withArtifacts } from './agent-output.js';
import { type Engine, type EngineTable, environmentOf, filled, takesPrompt } from './engines.js';
import { log } from './log.js';
import type { RunFolders } from './run-folders.js';

/** Elsewhere there is nothing to find the processes of a killed service by. */
const FINDS_PROCESSES = process.platform === 'linux';
/** What a timer takes; about 25 days. */
const LONGEST_MS = 2 ** 31 - 1;

/** What the kernel takes as one argument on Linux, without the zero byte at its end. */
const LONGEST_ARGUMENT = 128 * 1024 - 1;

/** What is known of the process in a slot. */
interface Agent {
	readonly runId: string;
	readonly requiredArtifacts: readonly string[];
	/** Whether the process may report more than one turn. */
	readonly sticky: boolean;
}

export interface AgentsOptions {
	/** The folder by which processes of a killed service are found. */
	readonly marks: string;
	/** Told what the agents say while their turns are under way. */
	readonly onSaid: (said: Said) => void;
	/** Told when a run's turn has ended, before its result is. */
	readonly turnOver: (runId: string) => void;
}

/** The driver's part for processes: runs commands of the table, whose output is read as the table says. */
export class Agents implements Processes {
	readonly #table: EngineTable;
	readonly #folders: RunFolders;
	readonly #runner: SubprocessRunner;
	readonly #turnOver: (runId: string) => void;
	/** By the slot that the process has. */
	readonly #agents = new Map<string, Agent>();

	constructor(table: EngineTable, folders: RunFolders, { marks, onSaid, turnOver }: AgentsOptions) {
		this.#table = table;
		this.#folders = folders;
		this.#turnOver = turnOver;
		const command = (run: Run, effect: StartTurn) => this.#command(run, effect);
		this.#runner = new SubprocessRunner(command, { onSaid, ...(FINDS_PROCESSES ? { marks } : {}) });
	}

	/** Starts the turn's process. */
	async start(run: Run, effect: StartTurn, finished: Finished): Promise<void> {
		const { slot_id: slotId } = effect;
		const { required_artifacts: requiredArtifacts } = settingsOf(run);
		this.#agents.set(slotId, { runId: run.runId, requiredArtifacts, sticky: isSticky(run) });
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
		const agent = this.#agents.get(slotId);
		if (agent !== undefined) this.#turnOver(agent.runId);
		this.#agents.delete(slotId);
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
			const agent = this.#agents.get(slotId);
			if (report === null || agent?.sticky === false) this.#agents.delete(slotId);
			if (agent !== undefined) this.#turnOver(agent.runId);
			if (report !== null && ((report.exit_code ?? 0) !== 0 || report.failure_reason !== undefined)) {
				const stderr = this.#runner.stderr(slotId).slice(-500) || '(no stderr)';
				log.warning`agent in slot ${slotId} failed: ${stderr}`;
			}
			const isWhole = report === null || agent === undefined;
			finished(isWhole ? report : withArtifacts(report, this.#folders.work(agent.runId), agent.requiredArtifacts));
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
			const { command, stream, endOfTurn } = engine.sticky;
			const how = { ...shared, stream, argv: filled(command, values), stdin: prompt };
			return endOfTurn === undefined ? { ...how, sticky: true } : { ...how, endOfTurn };
		}
		const { stream } = engine;
		const { session_handle: handle, response } = effect.resume ?? {};
		if (handle !== undefined && engine.resume !== undefined) {
			const told = toldTo(engine.resume, { ...values, session_handle: handle }, response ?? '');
			return { ...shared, stream, ...told };
		}
		const words = response === undefined ? prompt : prompt + conversation(run);
		return { ...shared, stream, ...toldTo(engine.first, values, words) };
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

/** The command with its words, where it wants them: as an argument, and then its input is empty, or as its input. */
function toldTo(
	command: readonly string[],
	values: Readonly<Record<string, string>>,
	words: string,
): Pick<Command, 'argv' | 'stdin'> {
	if (!takesPrompt(command)) return { argv: filled(command, values), stdin: words };
	const argv = filled(command, { ...values, prompt: words });
	if (argv.some((argument) => Buffer.byteLength(argument) > LONGEST_ARGUMENT || argument.includes('\0'))) {
		throw new Error('the prompt does not fit into an argument of a command: it is over 128 KiB or has a zero byte');
	}
	return { argv };
}

interface PlanSettings {
	readonly engine: string;
	readonly interactive_profile: { readonly kind: string };
	readonly required_artifacts: readonly string[];
}

function settingsOf(run: Run): PlanSettings {
	return run.plan.toJSON() as unknown as PlanSettings;
}

function isSticky(run: Run): boolean {
	return settingsOf(run).interactive_profile.kind === 'sticky_process';
}

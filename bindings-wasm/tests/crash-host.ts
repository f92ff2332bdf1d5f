/**
 * A small host that kills itself at the n-th boundary (before or after a save or an effect), or when its first agent lives.
 * For driver-crash.test.ts.
 */

import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonInput } from 'turnlatch';
import { Driver, LocalTimers, RunNotFoundError, type Slots } from 'turnlatch/driver';
import { SubprocessRunner } from 'turnlatch/node';
import { DONE, type MakeCommand, openStore, plan, processesMarked, STICKY } from './hosting.js';

export const MODES: Record<string, { [key: string]: JsonInput }> = {
	auto: { execution_mode: 'auto', interrupted_turn: 'retry' },
	resumable: { interrupted_turn: 'retry', interactive_require_user_reply: false, session_timeout_sec: 100 },
	strict: { interrupted_turn: 'fail' },
	sticky: { interactive_profile: STICKY },
	cancel: {},
};
/** What to die of when it is no number: a living agent. */
export const AGENT_LIVES = 'agent lives';
/** How long the next host finds what a killed one has left. */
const LEFT_MS = 200;
/** The agent itself notes which turns ran: attempt and slot. It does not end by itself as soon as it is told to. */
const TURN = 'trap "" TERM; echo "$1" >> turns.log; echo "$2"; sleep "$3"';
const STICKY_TURNS = `n=1; echo "$n $1" >> turns.log; sleep "$3"; echo 'Which file?'; echo ==
	while read -r line; do n=$((n + 1)); echo "$n $1" >> turns.log; echo "$2"; echo ==; done`;

const [folder = '', mode = '', dieAt = ''] = process.argv.slice(2);
let passed = 0;

function boundary(): void {
	passed += 1;
	if (passed === Number(dieAt)) die();
}

function die(): void {
	freezeWhatIsLeft();
	process.kill(process.pid, 'SIGKILL');
}

const agents = () => processesMarked(`TURNLATCH_TEST=${process.env.TURNLATCH_TEST}`);

/** What this host leaves behind lives on, as on a busy machine: a new host must not run beside it. */
function freezeWhatIsLeft(): void {
	const files = readdirSync(join(folder, 'marks')).map((name) => join(folder, 'marks', name));
	// A mark that is empty, or gone by now, has no processes.
	const marks = files.map((file) => textOf(file)).filter((mark) => mark !== '');
	for (const line of marks.flatMap(processesMarked)) {
		if (signal(line, 'SIGSTOP') && line.includes('supervise.cjs')) note('frozen.log', line);
	}
}

/** The supervisors end the agents as soon as they can. */
function thawWhatIsLeft(): void {
	for (const line of textOf(join(folder, 'frozen.log')).trimEnd().split('\n')) signal(line, 'SIGCONT');
}

function textOf(path: string): string {
	try {
		return readFileSync(path, 'utf8');
	} catch {
		return '';
	}
}

function signal(line: string, name: NodeJS.Signals): boolean {
	try {
		return process.kill(Number(line.split(' ')[0]), name);
	} catch {
		// It is gone by now.
		return false;
	}
}

/** A runner that finds what the host before has left still alive. */
class LateRunner extends SubprocessRunner {
	#frozen = textOf(join(folder, 'frozen.log')) !== '';

	override async alive(): Promise<string[]> {
		if (this.#frozen) {
			this.#frozen = false;
			for (const agent of agents()) note('met.log', agent);
			setTimeout(thawWhatIsLeft, LEFT_MS);
		}
		return super.alive();
	}
}

/** The part, with a boundary before and after each of the named calls. */
function breaking<T extends object>(part: T, ...names: (keyof T)[]): T {
	return new Proxy(part, {
		get(target, name) {
			const method: unknown = Reflect.get(target, name);
			if (typeof method !== 'function') return method;
			if (!names.includes(name as keyof T)) return method.bind(target);
			return async (...given: unknown[]) => {
				boundary();
				const result: unknown = await method.apply(target, given);
				boundary();
				return result;
			};
		},
	});
}

/** Slots as files, so that a leaked one is still there after a crash. */
class FileSlots implements Slots {
	readonly #folder = join(folder, 'slots');

	constructor() {
		mkdirSync(this.#folder, { recursive: true });
	}

	acquire(runId: string, slotId: string, granted: () => void): void {
		this.hold(runId, slotId);
		granted();
	}

	hold(_runId: string, slotId: string): boolean {
		writeFileSync(join(this.#folder, slotId.replace('/', '+')), '');
		return true;
	}

	release(slotId: string): void {
		rmSync(join(this.#folder, slotId.replace('/', '+')), { force: true });
	}

	held(): string[] {
		return readdirSync(this.#folder).map((name) => name.replace('+', '/'));
	}
}

const note = (log: string, line: string) => appendFileSync(join(folder, log), `${line}\n`);

const command: MakeCommand = (_run, { slot_id, attempt_number }) => {
	for (const line of agents()) note('beside.log', line);
	if (mode === 'cancel') return { argv: ['sleep', '100'] };
	const busy = (seconds: number) => String(dieAt === AGENT_LIVES ? 100 : seconds);
	if (mode === 'sticky') {
		return { argv: ['sh', '-c', STICKY_TURNS, 'sh', slot_id, DONE, busy(0)], cwd: folder, endOfTurn: '==' };
	}
	const says = mode === 'auto' || attempt_number > 1 ? DONE : 'Which file?';
	return { argv: ['sh', '-c', TURN, 'sh', `${attempt_number} ${slot_id}`, says, busy(0.05)], cwd: folder };
};

async function main(): Promise<void> {
	const store = openStore(join(folder, 'runs.db'));
	const processes = new LateRunner(command, { graceMs: 300, marks: join(folder, 'marks') });
	if (dieAt === AGENT_LIVES) setInterval(() => existsSync(join(folder, 'turns.log')) && die(), 5);
	const driver = new Driver({
		slots: breaking(new FileSlots(), 'acquire', 'hold', 'release'),
		timers: breaking(new LocalTimers(), 'set', 'cancel'),
		processes: breaking(processes, 'start', 'inject', 'terminate'),
		store: breaking(store, 'create', 'save', 'markBegun'),
		onNotify: boundary,
		retry: { attempts: 1 },
	});
	await driver.recover();
	try {
		store.load('r1');
	} catch (error) {
		if (!(error instanceof RunNotFoundError)) throw error;
		await driver.start(plan('r1', MODES[mode]));
	}
	if (mode === 'cancel') {
		await driver.wait('r1', 'running');
		await driver.cancel('r1');
	}
	for (;;) {
		const { pending_interaction_id: id } = await driver.wait('r1', 'waiting_user');
		if (id === undefined) break;
		const { kind } = await driver.reply('r1', id, `answer ${id}`, { idempotency_key: `key ${id}` });
		if (kind === 'accepted') note('accepted.log', `answer ${id}`);
	}
	await driver.settled('r1');
	await driver.close();
	if ((await processes.alive()).length > 0) throw new Error('a process is left');
	store.close();
	note('boundaries.log', String(passed));
}

if (folder !== '' && mode in MODES) await main();

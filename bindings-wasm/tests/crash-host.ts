/** A small host that kills itself at the n-th boundary: before or after a save or an effect. For driver-crash.test.ts. */

import { appendFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonInput } from 'turnlatch';
import { Driver, LocalTimers, RunUnknown, type Slots } from 'turnlatch/driver';
import { SubprocessRunner } from 'turnlatch/node';
import { DONE, type MakeCommand, openStore, plan, processesMarked, STICKY } from './hosting.js';

export const MODES: Record<string, { [key: string]: JsonInput }> = {
	auto: { execution_mode: 'auto', interrupted_turn: 'retry' },
	resumable: { interrupted_turn: 'retry', interactive_require_user_reply: false, session_timeout_sec: 100 },
	strict: { interrupted_turn: 'fail' },
	sticky: { interactive_profile: STICKY },
	cancel: {},
};
/** The agent itself notes which turns ran: attempt and slot. It does not end by itself as soon as it is told to. */
const TURN = 'trap "" TERM; echo "$1" >> turns.log; echo "$2"; sleep 0.05';
const STICKY_TURNS = `n=1; echo "$n $1" >> turns.log; echo 'Which file?'; echo ==
	while read -r line; do n=$((n + 1)); echo "$n $1" >> turns.log; echo "$2"; echo ==; done`;

const [folder = '', mode = '', dieAt = ''] = process.argv.slice(2);
let passed = 0;

function boundary(): void {
	passed += 1;
	if (passed === Number(dieAt)) process.kill(process.pid, 'SIGKILL');
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
	for (const line of processesMarked(`TURNLATCH_TEST=${process.env.TURNLATCH_TEST}`)) note('beside.log', line);
	if (mode === 'cancel') return { argv: ['sleep', '100'] };
	if (mode === 'sticky') {
		return { argv: ['sh', '-c', STICKY_TURNS, 'sh', slot_id, DONE], cwd: folder, endOfTurn: '==' };
	}
	const says = mode === 'auto' || attempt_number > 1 ? DONE : 'Which file?';
	return { argv: ['sh', '-c', TURN, 'sh', `${attempt_number} ${slot_id}`, says], cwd: folder };
};

async function main(): Promise<void> {
	const store = openStore(join(folder, 'runs.db'));
	const processes = new SubprocessRunner(command, { graceMs: 300, marks: join(folder, 'marks') });
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
		if (!(error instanceof RunUnknown)) throw error;
		await driver.start(plan('r1', MODES[mode]));
	}
	if (mode === 'cancel') {
		await driver.wait('r1', 'running');
		await driver.cancel('r1');
	}
	for (;;) {
		const { pending_interaction_id: id } = await driver.wait('r1', 'waiting_user');
		if (id === undefined) break;
		const { receipt } = await driver.reply('r1', id, `answer ${id}`, { idempotency_key: `key ${id}` });
		if (receipt === 'accepted') note('accepted.log', `answer ${id}`);
	}
	await driver.settled('r1');
	await driver.close();
	if ((await processes.alive()).length > 0) throw new Error('a process is left');
	store.close();
	note('boundaries.log', String(passed));
}

if (folder !== '' && mode in MODES) await main();

// The other entries as type checkers must see them: nothing here runs. Those that are modules only are imported when they
// are needed, which is what a consumer that uses `require` has to do.
import type { Plan, Run, StartTurn, TurnlatchError } from 'turnlatch';
import { DbosDriver, type DbosOptions } from 'turnlatch/dbos';
import {
	Driver,
	type DriverParts,
	DriverUsageError,
	LocalSlots,
	LocalTimers,
	MemoryStore,
	RunNotFoundError,
	type Store,
	StoreConflictError,
} from 'turnlatch/driver';
import { type Command, type Said, type SqliteDatabase, SqliteStore, SubprocessRunner } from 'turnlatch/node';
import * as slim from 'turnlatch/slim';

declare const database: SqliteDatabase;

export async function hosting(plan: Plan, changed: Partial<DriverParts>): Promise<string | undefined> {
	const store: Store = new SqliteStore(database, { compact: true });
	const command = (run: Run, effect: StartTurn): Command => {
		const resumed: string | undefined = effect.resume?.response;
		return { argv: ['agent', run.runId, resumed ?? ''], timeoutMs: 1000, stream: 'codex-jsonl' };
	};
	const onSaid = ({ run_id, attempt_number, pieces }: Said) => console.log(run_id, attempt_number, pieces[0]?.text);
	const processes = new SubprocessRunner(command, { onSaid, graceMs: 500 });
	const parts: DriverParts = { slots: new LocalSlots(1), timers: new LocalTimers(), processes, store };
	const driver = new Driver({ ...parts, ...changed, onError: (_runId, what) => console.log(what?.type) });
	try {
		const runId: string = await driver.start(plan);
		const run: Run = driver.run(runId);
		console.log((await driver.wait(runId, 'waiting_user')).status, run.revision);
		return (await driver.reply(runId, 1, 'b.txt', { idempotency_key: 'k' })).code;
	} catch (error) {
		if (error instanceof DriverUsageError || error instanceof RunNotFoundError) return error.code;
		if (error instanceof StoreConflictError) throw error satisfies TurnlatchError;
		throw error;
	} finally {
		await driver.close();
	}
}

export async function onManyMachines(plan: Plan, options: DbosOptions): Promise<string | undefined> {
	const driver = new DbosDriver({ ...options, slots: 4, executorId: 'worker-1', pollMs: 100, takeoverAfterMs: 3000 });
	await driver.open();
	try {
		const runId: string = await driver.start(plan);
		const run: Run = await driver.run(runId);
		console.log((await driver.wait(runId, 'waiting_user')).status, run.revision, await driver.lines(runId, 1));
		for await (const changed of driver.changes()) if (changed === null || changed === runId) break;
		return (await driver.reply(runId, 1, 'b.txt')).code;
	} finally {
		await driver.close();
	}
}

export async function withoutTheEngine(snapshot: string): Promise<void> {
	await slim.init();
	const run = slim.Run.restore(snapshot);
	console.log(run.statusView().status, new slim.Replayer(run.plan).run?.status);
	// @ts-expect-error only `turnlatch` itself admits
	slim.admit({ runner: {} }, { run_id: 'r1', engine: 'codex' }, { engines: ['codex'] });
}

export async function onlyModules(): Promise<void> {
	const web = await import('turnlatch/web');
	await web.init(new URL('https://example.org/turnlatch_bg.wasm'));
	const inline = await import('turnlatch/inline');
	inline.admit({ runner: {} }, { run_id: 'r1', engine: 'codex' }, { engines: ['codex'] });
	const { IndexedDbStore } = await import('turnlatch/indexeddb');
	(await IndexedDbStore.open('runs')).close();
}

export function whatMustNotPass(driver: Driver): void {
	// @ts-expect-error a driver needs parts
	new Driver({ store: new MemoryStore() });
	// @ts-expect-error runs on DBOS are in a database
	new DbosDriver({ works: false });
	// @ts-expect-error a command has an argv
	new SubprocessRunner(() => ({ stdin: 'x' }));
	// @ts-expect-error no such format
	new SubprocessRunner(() => ({ argv: ['agent'], stream: 'xml' }));
	// @ts-expect-error no such entry
	void import('turnlatch/dist/core');
	// @ts-expect-error no such status
	void driver.wait('r1', 'waiting');
}

/** The transactions of the host on DBOS without workers, and workflows whose rows are made up. */

import assert from 'node:assert/strict';
import { Run } from 'turnlatch';
import { Advance, telling } from '../../js/dbos/advance.js';
import { Database } from '../../js/dbos/database.js';
import { type Hold, Tables } from '../../js/dbos/tables.js';
import { Enqueuer } from '../../js/dbos/workflows.js';
import { plan } from '../hosting.js';

const SLOTS = 3;

/** A database whose tables are there. */
export class DatabaseSide {
	readonly database: Database;
	readonly tables = new Tables(false);
	readonly enqueuer: Enqueuer;
	readonly advance: Advance;

	private constructor(database: Database, enqueuer: Enqueuer) {
		this.database = database;
		this.enqueuer = enqueuer;
		this.advance = new Advance(database, this.tables, enqueuer, () => 0);
	}

	static async open(url: string): Promise<DatabaseSide> {
		const address = { url, name: 'test' };
		return new DatabaseSide(new Database(address), await Enqueuer.connect(address, '1'));
	}

	async close(): Promise<void> {
		await this.enqueuer.close();
		await this.database.close();
	}

	async write(statement: string, ...values: unknown[]): Promise<void> {
		await this.database.transaction((db) => db.query(statement, values));
	}

	/** The slots that are held. */
	async held(): Promise<string[]> {
		const held = await this.advance.read((db) => this.tables.holders(db));
		return held.map(({ slotId }) => slotId).sort();
	}
}

/** The workflow of a run's first turn, carried out by one execution after the other, as a worker does it. */
export class Workflow {
	readonly #side: DatabaseSide;
	readonly #runId: string;
	readonly #slotId: string;
	#executions = 0;
	hold: Hold | undefined;
	isOver = false;

	private constructor(side: DatabaseSide, runId: string) {
		this.#side = side;
		this.#runId = runId;
		this.#slotId = `${runId}/s1`;
	}

	static async start(side: DatabaseSide, runId: string): Promise<Workflow> {
		// The transactions are built with the test and know the package by its sources.
		(await side.advance.create(plan(runId) as never)).run.free();
		return new Workflow(side, runId);
	}

	/** A worker takes the workflow and is granted its slot. */
	async execute(): Promise<void> {
		this.#executions += 1;
		const executorId = `w${this.#executions}`;
		await this.note('PENDING', executorId);
		const hold = { slotId: this.#slotId, executorId, holder: `execution ${this.#executions}` };
		const granted = await this.#side.advance.grant(this.#runId, hold, SLOTS);
		assert.ok(granted);
		granted.advanced.run.free();
		this.hold = hold;
	}

	/** The worker dies; the next one that takes the workflow begins anew. */
	async kill(): Promise<void> {
		this.hold = undefined;
	}

	/** The worker stops and hands over. */
	async stop(): Promise<void> {
		if (this.hold !== undefined) await this.#side.advance.displace(this.hold.executorId);
		this.hold = undefined;
		if (!this.isOver) await this.note('ENQUEUED', '');
	}

	async cancel(): Promise<void> {
		(await this.#side.advance.change(this.#runId, (run, now) => run.cancel(now))).run.free();
	}

	/** The agent ends its turn, and its worker reports that. */
	async finish(): Promise<void> {
		if (this.hold === undefined || !(await this.isKept())) return;
		const event = telling({ type: 'turn_finished', attempt_number: 1, text: 'Which file?' });
		(await this.#side.advance.change(this.#runId, event, this.hold)).run.free();
	}

	/** The worker gives the slot back if the run does not keep it, and the workflow is over. */
	async release(): Promise<void> {
		if (this.hold === undefined || (await this.isKept())) return;
		await this.#side.advance.release(this.hold);
		this.hold = undefined;
		this.isOver = true;
		await this.note('SUCCESS', '');
	}

	/** A worker carries the workflow out to its end. */
	async complete(): Promise<void> {
		if (this.hold === undefined && !this.isOver) await this.execute();
		await this.finish();
		await this.release();
	}

	/** Whether the run keeps the process in the slot, as the core says. */
	async isKept(): Promise<boolean> {
		const { advance, tables } = this.#side;
		using run = Run.restore(await advance.read((db) => tables.snapshot(db, this.#runId)));
		return run.outstanding().keep.process === this.#slotId;
	}

	async note(status: string, executorId: string): Promise<void> {
		const noted = 'UPDATE dbos.workflow_status SET status = $1, executor_id = $2 WHERE workflow_uuid = $3';
		await this.#side.write(noted, status, executorId, this.#slotId);
	}
}

/** A worker as a process of its own, until its input ends: `node worker.mjs CONFIG`. */

import type { Run, StartTurn } from 'turnlatch';
import { DbosDriver, type DbosOptions } from 'turnlatch/dbos';
import type { Finished } from 'turnlatch/driver';
import { SubprocessRunner } from 'turnlatch/node';
import { agents } from './agents.js';

export interface WorkerConfig extends DbosOptions {
	readonly folder: string;
	readonly mark: string;
	/** When to die between a transaction and its effect: `granted`, or `begun`, when the turn is noted as begun. */
	readonly dies: '' | 'granted' | 'begun';
	/**
	 * How far runs come, by their ids: to `begun`, or to `finished`, when the end of the turn is saved and its slot not
	 * yet given back.
	 */
	readonly stuck: Readonly<Record<string, 'begun' | 'finished'>>;
}

class Dying extends SubprocessRunner {
	override async alive(): Promise<string[]> {
		dieAt('granted');
		return super.alive();
	}

	override async start(run: Run, effect: StartTurn, finished: Finished): Promise<void> {
		dieAt('begun');
		await stickAt('begun', run.runId);
		await super.start(run, effect, finished);
	}

	override async terminate(slotId: string): Promise<void> {
		await stickAt('finished', slotId.split('/')[0] ?? '');
		await super.terminate(slotId);
	}
}

const { folder, mark, dies, stuck, ...options } = JSON.parse(process.argv[2] ?? '') as WorkerConfig;

function dieAt(moment: string): void {
	if (dies === moment) process.kill(process.pid, 'SIGKILL');
}

async function stickAt(moment: string, runId: string): Promise<void> {
	if (stuck[runId] === moment) await closing;
}

let unstick: () => void = () => {};
const closing = new Promise<void>((resolve) => {
	unstick = resolve;
});

const driver = new DbosDriver({
	...options,
	processes: new Dying(agents(folder, mark), { graceMs: 300 }),
	onError: (...what) => console.error(...what),
});
await driver.open();
console.log('open');
process.stdin.resume();
await new Promise((resolve) => process.stdin.once('end', resolve));
const closed = driver.close();
unstick();
await closed;

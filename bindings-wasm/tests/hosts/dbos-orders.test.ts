/** No slot is held that no run keeps, in whatever order a turn's executions die, stop and finish and its run is canceled. */

import assert from 'node:assert/strict';
import { RunNotFoundError } from 'turnlatch/driver';
import { Displaced } from '../../js/dbos/tables.js';
import { DatabaseSide, Workflow } from './database-side.js';
import { scenario } from './fleet.js';

const STEPS = ['kill', 'stop', 'cancel', 'finish', 'release'] as const;
type Step = (typeof STEPS)[number];
/** Every order of any number of these steps. */
const ORDERS = ordersOf(STEPS);

function ordersOf(steps: readonly Step[]): Step[][] {
	const longer = steps.flatMap((step) =>
		ordersOf(steps.filter((other) => other !== step)).map((rest) => [step, ...rest]),
	);
	return [[], ...longer];
}

/** A scenario without workers; the client has made the tables. */
function staged(name: string, work: (side: DatabaseSide) => Promise<void>): void {
	scenario(name, async (fleet) => {
		const side = await DatabaseSide.open(fleet.url);
		try {
			await work(side);
		} finally {
			await side.close();
		}
	});
}

for (const atOnce of [false, true]) {
	for (const frees of [false, true]) {
		const how = `followed ${atOnce ? 'at once' : 'at the end'}, ${frees ? 'slots are looked after' : 'executions alone'}`;
		staged(`no order of kill, stop, cancel and finish leaves a slot held: ${how}`, async (side) => {
			assert.equal(ORDERS.length, 326);
			for (const [number, order] of ORDERS.entries()) {
				const about = order.join(', ');
				const workflow = await Workflow.start(side, `r${number}`);
				await workflow.execute();
				for (const step of order) {
					if (atOnce && workflow.hold === undefined && !workflow.isOver) await workflow.execute();
					await workflow[step]();
					const freed = frees ? await side.advance.freeUnwanted() : [];
					if (freed.length === 0) continue;
					assert.ok(!(await workflow.isKept()), about);
					assert.equal(workflow.hold, undefined, `${about}: its worker is ending the process`);
				}
				await workflow.complete();
				assert.ok(workflow.isOver, about);
				assert.deepEqual(await side.held(), [], about);
			}
			assert.deepEqual(await side.advance.freeUnwanted(), []);
		});
	}
}

staged('a slot is kept while its process is being ended', async (side) => {
	const workflow = await Workflow.start(side, 'r1');
	await workflow.execute();
	await workflow.kill();
	await workflow.cancel();
	// Which finds that the run wants nothing of the slot.
	await workflow.execute();
	assert.deepEqual(await side.held(), ['r1/s1'], 'something of the process may be left (LIFE-7)');
	assert.deepEqual(await side.advance.freeUnwanted(), []);
	await workflow.release();
	assert.deepEqual(await side.held(), []);
});

for (const status of ['SUCCESS', 'ERROR', 'CANCELLED', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED', 'deleted']) {
	staged(`slots that were lost are found: their workflow is ${status}`, async (side) => {
		const start = async (runId: string) => {
			const workflow = await Workflow.start(side, runId);
			await workflow.execute();
			return workflow;
		};
		const [lost, , wanted] = [await start('lost'), await start('used'), await start('wanted')];
		await lost.cancel();
		await lost.note(status, 'w1');
		if (status === 'deleted') await side.write('DELETE FROM dbos.workflow_status WHERE workflow_uuid = $1', 'lost/s1');
		// Whatever became of its workflow: the run has it.
		await wanted.note(status, 'w1');
		assert.deepEqual(await side.advance.freeUnwanted(), ['lost/s1']);
		assert.deepEqual(await side.held(), ['used/s1', 'wanted/s1']);
	});
}

staged('a slot that was handed to a version without workers is found', async (side) => {
	const workflow = await Workflow.start(side, 'r1');
	await workflow.execute();
	await workflow.stop();
	assert.deepEqual(await side.advance.freeUnwanted(), [], 'the run still has it');
	await workflow.cancel();
	assert.deepEqual(await side.advance.freeUnwanted(), ['r1/s1']);
});

staged('the slot of a run that is gone is given back by an execution that has it', async (side) => {
	const workflow = await Workflow.start(side, 'r1');
	await workflow.execute();
	const first = workflow.hold;
	assert.ok(first);
	await side.write('DELETE FROM turnlatch_runs');
	assert.deepEqual(await side.advance.freeUnwanted(), [], 'its worker does it');
	await assert.rejects(workflow.execute(), RunNotFoundError);
	await assert.rejects(side.advance.abandon('r1', first), Displaced);
	await side.advance.abandon('r1', { slotId: 'r1/s1', executorId: 'w2', holder: 'another execution' });
	assert.deepEqual(await side.held(), []);
});

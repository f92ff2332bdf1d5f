/** The transactions of the host on DBOS: every vector through them, and connections that are lost at their end. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'pg';
import * as turnlatch from 'turnlatch';
import { DbosDriver } from 'turnlatch/dbos';
import { canonical, compact } from '../exact-json.js';
import { vectorFiles } from '../files.js';
import { plan } from '../hosting.js';
import { admission, expandMembers, readVectors, rejected, type Vector } from '../vectors-runner.js';
import { server } from './fleet.js';
import { Unreliable } from './unreliable.js';

/** A driver that carries out nothing, with a clock that is set. */
class Stage {
	readonly #driver: DbosDriver;
	readonly #client: Client;
	/** Also what is no time: the core says so. */
	#now: unknown = 0;

	constructor(url: string) {
		this.#driver = new DbosDriver({ works: false, databaseUrl: url, clock: () => this.#now as number });
		this.#client = new Client(url);
	}

	async open(): Promise<void> {
		await this.#driver.open();
		await this.#client.connect();
	}

	async close(): Promise<void> {
		await this.#driver.close();
		await this.#client.end();
	}

	/** Where the host answers differently than the vector says; `undefined` if it does not. */
	async difference(vector: Vector): Promise<string | undefined> {
		for (const table of ['turnlatch_runs', 'turnlatch_journal', 'dbos.workflow_status']) {
			await this.#client.query(`DELETE FROM ${table}`);
		}
		using admitted = admission(turnlatch, vector.given ?? {});
		const steps = (vector.steps ?? []).map((step) => expandMembers(step));
		this.#now = 'create' in (steps[0] ?? {}) ? (steps[0]?.at ?? 0) : 0;
		await this.#driver.start(admitted);
		for (const [place, step] of steps.entries()) {
			const text = 'event' in step ? compact(step.event) : step.event_text;
			if (typeof text !== 'string') continue;
			this.#now = 'at' in step ? step.at : 0;
			const [expected, found] = [canonical(step.then), canonical(await this.#told(admitted.runId, text))];
			if (expected !== found) return `${vector.name}\n  step ${place + 1} expected ${expected}\n  found ${found}`;
		}
		using run = await this.#driver.run(admitted.runId);
		using again = turnlatch.replay(admitted, await this.#driver.journal(admitted.runId))[0];
		return again.snapshot() === run.snapshot() ? undefined : `${vector.name}\n  the journal does not lead to the run`;
	}

	async #told(runId: string, event: string): Promise<unknown> {
		try {
			const { effects, receipt } = await this.#driver.tellJson(runId, event);
			const { status } = await this.#driver.view(runId);
			return { effects, status, ...(receipt === undefined ? {} : { receipt }) };
		} catch (error) {
			if (!(error instanceof turnlatch.EventRejectedError)) throw error;
			return rejected(error);
		}
	}
}

test('every vector with events holds through the host', async (t) => {
	const stage = new Stage(await server().database());
	t.after(() => stage.close());
	await stage.open();
	const broken: string[] = [];
	let passed = 0;
	for (const vector of vectorFiles().flatMap(({ text }) => readVectors(text))) {
		// Those without an event ask the core alone, which vectors.test.ts does.
		if (!(vector.steps ?? []).some((step) => 'event' in step || 'event_text' in step)) continue;
		const told = await stage.difference(vector);
		if (told === undefined) passed += 1;
		else broken.push(told);
	}
	assert.deepEqual(broken, []);
	assert.ok(passed > 300, `${passed} vectors`);
});

for (const loss of ['after the commit', 'before the commit'] as const) {
	test(`every reply has the receipt that it was given: a connection is lost ${loss}`, {
		timeout: 60_000,
	}, async (t) => {
		const way = await Unreliable.start(server().port);
		const url = (await server().database()).replace(String(server().port), String(way.port));
		const driver = new DbosDriver({ works: false, databaseUrl: url });
		t.after(async () => {
			await driver.close();
			await way.close();
		});
		await driver.open();
		way.loseTheNext(loss);
		await driver.start(plan('r1'));
		await assert.rejects(driver.start(plan('r1')), { code: 'RUN_EXISTS' });
		await driver.tell('r1', { type: 'slot_granted', slot_id: 'r1/s1' });
		way.loseTheNext(loss);
		const asked = await driver.tell('r1', { type: 'turn_finished', attempt_number: 1, text: 'Which file?' });
		assert.equal(asked.revision, 3);
		way.loseTheNext(loss);
		assert.equal((await driver.reply('r1', 1, 'b.txt')).kind, 'accepted');
		assert.equal(way.losses, 3);
		assert.equal((await driver.lines('r1')).length, 4);
		const run = await driver.run('r1');
		assert.deepEqual([run.revision, run.history().length], [4, 1]);
	});
}

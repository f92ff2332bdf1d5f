/** A panic must not poison the page: the error says so, every run lives on, and the next call works. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { Skill } from 'turnlatch';
import type * as breakable from './breakable.js';
import { PACKAGE } from './files.js';

const WAYS: breakable.Way[] = ['panic', 'recursion', 'large_frames', 'allocation'];
const SKILL: Skill = { runner: { execution_modes: ['auto', 'interactive'] } };
/** The builds and what is left of a panic in each: Node's tells its message, those for browsers only that there was one. */
const FORMS = [
	{ form: 'wasm-breakable', said: /broken on purpose/ },
	{ form: 'wasm-breakable-small', said: /unreachable/ },
];
let core: typeof breakable;

async function load(form: string): Promise<void> {
	const wasm = join(PACKAGE, 'build', form);
	const outfile = join(PACKAGE, `build/${form}.mjs`);
	await build({
		absWorkingDir: PACKAGE,
		entryPoints: ['tests/breakable.ts'],
		outfile,
		bundle: true,
		format: 'esm',
		target: 'es2022',
		sourcemap: 'inline',
		tsconfigRaw: {},
		alias: { 'turnlatch-glue': join(wasm, 'turnlatch.js') },
	});
	core = (await import(pathToFileURL(outfile).href)) as typeof breakable;
	core.initSync(readFileSync(join(wasm, 'turnlatch_bg.wasm')));
}

function waiting(id: string): breakable.Run {
	const plan = core.admit(
		SKILL,
		{ run_id: id, engine: 'codex', execution_mode: 'interactive' },
		{ engines: ['codex'] },
	);
	const [run] = core.Run.create(plan, 0);
	run.apply({ type: 'slot_granted', slot_id: `${id}/s1` }, 1);
	run.apply({ type: 'turn_finished', attempt_number: 1, text: 'Which file?' }, 2);
	return run;
}

function panicOf(way: breakable.Way): breakable.CorePanicked {
	try {
		core.breakBy(way);
	} catch (error) {
		assert.ok(error instanceof core.CorePanicked, String(error));
		assert.equal(error.code, 'CORE_PANICKED');
		return error;
	}
	throw new Error('nothing broke');
}

for (const { form, said } of FORMS) {
	describe(form, () => {
		before(() => load(form));

		for (const way of WAYS) {
			test(`after ${way} every run and plan lives on`, () => {
				const plan = core.admit(SKILL, { run_id: 'p', engine: 'codex' }, { engines: ['codex'] });
				const runs = Array.from({ length: 20 }, (_, index) => waiting(`r${index}`));
				const [freed] = runs.splice(3, 1);
				const texts = runs.map((run) => run.toJson());
				freed?.free();
				panicOf(way);
				assert.deepEqual(
					runs.map((run) => run.toJson()),
					texts,
				);
				for (const run of runs) {
					assert.equal(run.reply(1, 'b.txt', 3).receipt.kind, 'accepted');
					assert.equal(run.status, 'queued');
				}
				assert.equal(core.Run.create(plan, 0)[0].runId, 'p');
				assert.throws(() => freed?.status, TypeError);
				for (const run of runs) run.free();
			});
		}

		test('a decoder is lost with its instance and says so; the next one works', () => {
			const decoder = new core.StreamDecoder('text');
			const freed = new core.StreamDecoder('text');
			decoder.feed(new Uint8Array([65]));
			panicOf('panic');
			const others = new core.StreamDecoder('text');
			for (const call of [() => decoder.feed(new Uint8Array()), () => decoder.prompt('x'), () => decoder.finish()]) {
				assert.throws(call, (error: unknown) => {
					assert.ok(error instanceof core.CorePanicked);
					assert.match(error.message, /this decoder was lost with it; make a new one/);
					return true;
				});
			}
			// It must not give back what belongs to a decoder of the new instance.
			freed.free();
			decoder.free();
			others.feed(new Uint8Array([66]));
			assert.deepEqual(others.finish('', 0).messages, [{ role: 'assistant', text: 'B' }]);
			others.free();
		});

		test('the error says what is known of the panic', () => {
			const error = panicOf('panic');
			assert.match(error.message, said);
			assert.doesNotMatch(error.message, /could not|failed/);
			assert.ok(error.cause instanceof WebAssembly.RuntimeError);
		});

		test('the error carries the snapshot of the run that the call was about', () => {
			// The first run of a fresh instance has the first handle.
			panicOf('panic');
			const run = waiting('about');
			const before = run.toJson();
			const generation = core.currentGeneration();
			assert.throws(
				() => core.breakBy('panic', { generation, id: 0 }),
				(error: unknown) => error instanceof core.CorePanicked && error.snapshot === before,
			);
			assert.equal(run.toJson(), before);
			run.free();
		});

		test('breaking it nine thousand times does no harm, though a stack would last for 8,192', () => {
			const run = waiting('often');
			const before = run.toJson();
			for (let time = 0; time < 9_000; time += 1) panicOf('panic');
			assert.equal(run.toJson(), before);
			run.free();
		});

		test('runs that nobody used between two panics are still there', () => {
			const [idle, used] = [waiting('idle'), waiting('used')];
			const before = idle.toJson();
			for (const way of WAYS) {
				panicOf(way);
				assert.equal(used.status, 'waiting_user');
			}
			assert.equal(idle.toJson(), before);
			panicOf('panic');
			idle.free();
			used.free();
			assert.throws(() => idle.status, /freed/);
		});

		test('a stack that is used up by the caller breaks nothing for good', () => {
			const run = waiting('deep');
			const before = run.toJson();
			const dive = (levels: number, work: () => void): void => (levels === 0 ? work() : dive(levels - 1, work));
			const fits = (levels: number) => {
				try {
					dive(levels, () => {});
					return true;
				} catch {
					return false;
				}
			};
			let deepest = 1_000;
			while (fits(deepest + 10)) deepest += 10;
			let inTheCore = 0;
			let answered = 0;
			// Reading it takes far more stack in the core than handing it over takes here.
			const deep = `{"type":"reply","interaction_id":9,"response":${'['.repeat(250)}${']'.repeat(250)}}`;
			// From the very end of the stack upwards: first our own code has no room, then the core has too little, then it is
			// enough. How much that is changes while the engine compiles this code, so the answers say when to stop.
			for (let room = 0; room < deepest && answered < 20; room += 5) {
				try {
					dive(deepest - room, () => {
						// A caller who tries again from down there must not lose the run either.
						for (let time = 0; time < 4; time += 1) {
							try {
								run.applyJson(deep, 3);
							} catch (error) {
								if (error instanceof core.CorePanicked) inTheCore += 1;
								if (error instanceof core.EventRejectedError) answered += 1;
							}
						}
					});
				} catch {
					// Not even the test itself had room here.
				}
				assert.equal(run.toJson(), before);
			}
			assert.ok(answered >= 20, 'the core never had enough stack');
			assert.ok(inTheCore > 0, 'the core never ran out of stack, so this test has shown nothing');
			assert.equal(run.reply(1, 'x', 3).receipt.kind, 'accepted');
			console.log(`the core itself ran out of stack ${inTheCore} times`);
			run.free();
		});
	});
}

/** A panic poisons the instance: every call says so until `reset()`, and what was saved is loaded into the next one. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { admit, Run, type Skill } from 'turnlatch';
import { PACKAGE } from './files.js';
import type * as panics from './panics.js';

const SKILL: Skill = { runner: { execution_modes: ['auto', 'interactive'] } };
/** Every build of the package, each loaded as one module. */
const BUILDS = ['wasm-speed', 'wasm-size', 'wasm-slim'];

async function load(name: string): Promise<typeof panics> {
	const wasm = join(PACKAGE, 'build', name);
	const outfile = join(PACKAGE, `build/panics-${name}.mjs`);
	await build({
		absWorkingDir: PACKAGE,
		entryPoints: ['tests/panics.ts'],
		outfile,
		bundle: true,
		format: 'esm',
		target: 'es2022',
		sourcemap: 'inline',
		tsconfigRaw: {},
		alias: { 'turnlatch-glue': join(wasm, 'turnlatch.js') },
		logOverride: { 'import-is-undefined': 'silent' },
	});
	const core = (await import(pathToFileURL(outfile).href)) as typeof panics;
	core.initSync(readFileSync(join(wasm, 'turnlatch_bg.wasm')));
	return core;
}

/** The snapshot of a run that waits for an answer. */
function waiting(): string {
	const plan = admit(SKILL, { run_id: 'r1', engine: 'codex', execution_mode: 'interactive' }, { engines: ['codex'] });
	const [run] = Run.create(plan, 0);
	run.apply({ type: 'slot_granted', slot_id: 'r1/s1' }, 1);
	run.apply({ type: 'turn_finished', attempt_number: 1, text: 'Which file?' }, 2);
	return run.snapshot();
}

for (const name of BUILDS) {
	describe(name, () => {
		let core: typeof panics;
		before(async () => {
			core = await load(name);
		});

		function panicked(work: () => unknown, message = /call reset\(\)/): panics.CorePanickedError {
			let found: panics.CorePanickedError | undefined;
			assert.throws(work, (error: unknown) => {
				assert.ok(error instanceof core.CorePanickedError, String(error));
				assert.equal(error.code, 'CORE_PANICKED');
				assert.match(error.message, message);
				found = error;
				return true;
			});
			assert.ok(found);
			return found;
		}

		test('after a trap every call says so until reset(), and saved runs load again', () => {
			const snapshot = waiting();
			const run = core.Run.restore(snapshot);
			const { plan } = run;
			const first = panicked(() => core.breakByTrap());
			assert.ok(first.cause instanceof WebAssembly.RuntimeError, String(first.cause));
			for (const call of [() => run.status, () => plan.runId, () => core.Run.restore(snapshot), () => core.version()]) {
				panicked(call);
			}
			core.reset();
			const again = core.Run.restore(snapshot);
			assert.equal(again.snapshot(), snapshot);
			assert.equal(again.reply(1, 'b.txt', 3).receipt.kind, 'accepted');
			again.free();
		});

		test('what an earlier instance made is lost, and freeing it harms nothing', () => {
			const snapshot = waiting();
			const old = core.Run.restore(snapshot);
			const { plan } = old;
			panicked(() => core.breakByTrap());
			core.reset();
			const current = core.Run.restore(snapshot);
			panicked(() => old.status, /the run was lost when the core panicked; load it from where it was saved/);
			panicked(() => core.Run.create(plan, 0), /the plan was lost/);
			old.free();
			plan.free();
			assert.throws(() => old.status, /the run was freed/);
			assert.equal(current.snapshot(), snapshot);
			current.free();
		});

		test('reset() without a panic changes nothing', () => {
			const run = core.Run.restore(waiting());
			core.reset();
			assert.equal(run.status, 'waiting_user');
			run.free();
		});

		test('breaking it a thousand times takes no memory', () => {
			const snapshot = waiting();
			for (let time = 0; time < 1_000; time += 1) {
				panicked(() => core.breakByTrap());
				core.reset();
			}
			const bytes = core.memoryBytes();
			assert.ok(bytes > 0 && bytes < 16 * 1024 * 1024, `${bytes} bytes`);
			assert.equal(core.Run.restore(snapshot).status, 'waiting_user');
		});

		test('objects that are collected after a panic throw nothing', async () => {
			const thrown: unknown[] = [];
			const listener = (error: unknown) => thrown.push(error);
			process.on('uncaughtException', listener);
			const snapshot = waiting();
			for (let count = 0; count < 100; count += 1) core.Run.restore(snapshot);
			panicked(() => core.breakByTrap());
			for (let round = 0; round < 5; round += 1) {
				globalThis.gc?.();
				await nextTick();
			}
			core.reset();
			process.off('uncaughtException', listener);
			assert.deepEqual(thrown, []);
		});

		test('a stack that is used up by the caller poisons the core at most until reset()', () => {
			const snapshot = waiting();
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
				const run = core.Run.restore(snapshot);
				try {
					dive(deepest - room, () => {
						try {
							run.applyJson(deep, 3);
						} catch (error) {
							if (error instanceof core.CorePanickedError) inTheCore += 1;
							if (error instanceof core.EventRejectedError) answered += 1;
						}
					});
				} catch {
					// Not even the test itself had room here.
				}
				core.reset();
				assert.equal(core.Run.restore(snapshot).snapshot(), snapshot);
			}
			assert.ok(answered >= 20, 'the core never had enough stack');
			assert.ok(inTheCore > 0, 'the core never ran out of stack, so this test has shown nothing');
		});
	});
}

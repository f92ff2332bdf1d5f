/**
 * Random scripts come to the same in Node and in Chromium as in Rust: every answer, and the snapshot after every event.
 * `make differential` makes the scripts and runs this.
 */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as turnlatch from 'turnlatch';
import { type Compared, compare, digest, type Script, transcript } from './differential.js';
import { compact } from './exact-json.js';
import { ROOT } from './files.js';
import { report } from './gates.js';
import { resultOfPage } from './vectors-in-chromium.js';

const CHECKER = join(ROOT, 'target', 'debug', 'checker');
const folder = join(ROOT, 'target', 'differential');
const text = readFileSync(join(folder, 'scripts.jsonl'), 'utf8');
const { seed, scripts, events } = JSON.parse(readFileSync(join(folder, 'round.json'), 'utf8')) as {
	seed: number;
	scripts: number;
	events: number;
};

for (const [runtime, compared] of [
	['node', () => compare(turnlatch, text.trimEnd().split('\n'))],
	['chromium', () => resultOfPage('tests/differential-page.ts', { '/scripts': text }) as Promise<Compared>],
] as const) {
	test(`${runtime} tells the same as Rust after every event`, async () => {
		const { differing, ...counts } = await compared();
		if (differing !== undefined) {
			const place = `TURNLATCH_SEED=${seed}, script ${counts.scripts}`;
			assert.fail(`${place}\n${difference(differing.script, differing.told, runtime)}`);
		}
		assert.deepEqual(counts, { scripts, events });
		report('differential', runtime, { events, scripts, seed });
		console.log(`random events in ${runtime}: ${events} of ${scripts} scripts, TURNLATCH_SEED=${seed}`);
	});
}

test('a small difference is noticed and shown', async () => {
	const cancel = (at: number) => [{ type: 'cancel' }, at] as const;
	const script = { given: {}, at: 10_000, events: [cancel(10_001), cancel(10_002)] };
	const other = { ...script, events: [cancel(10_002), cancel(10_002)] };
	const here = transcript(turnlatch, other);
	assert.equal(await digest(here), await digest(inRust(other)));
	assert.notEqual(await digest(here), await digest(inRust(script)));
	assert.match(difference(script, here, 'node'), /after event 1 of 2.*10001.*10002/s);
});

/** The transcript of the core as a program of its own. */
function inRust(script: Script): string[] {
	const { status, stdout, stderr } = spawnSync(CHECKER, { input: `${compact(script)}\n`, encoding: 'utf8' });
	assert.equal(status, 0, stderr);
	return JSON.parse(stdout) as string[];
}

/** The first step that differs, with the script cut behind it. */
function difference(script: Script, here: readonly string[], runtime: string): string {
	const there = inRust(script);
	const number = there.findIndex((line, index) => line !== here[index]);
	// Before the first event there are what admission said and the creation.
	const events = script.events.slice(0, Math.max(number - 1, 0));
	const place = number === 0 ? 'at admission' : `after event ${number - 1} of ${script.events.length}`;
	const cut = compact({ ...script, events });
	return `${place}\nRust: ${there[number]}\n${runtime}: ${here[number]}\n${CHECKER} <<< '${cut}'`;
}

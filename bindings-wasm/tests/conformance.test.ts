/** Node and Chromium take every transition of the model (`tests/model`), and answer as Rust does. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as turnlatch from 'turnlatch';
import { ROOT } from './files.js';
import { report } from './gates.js';
import { inChromium } from './vectors-in-chromium.js';
import { broken, counted, readVectors } from './vectors-runner.js';

// `make conformance` has Rust leave the vectors here, and for every transition the vector and the step that take it.
const folder = join(ROOT, 'target', 'model-vectors');
const places = JSON.parse(readFileSync(join(folder, 'transitions.json'), 'utf8')) as Record<string, [number, number][]>;
const files = Object.keys(places).map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }));

async function inNode(): Promise<Record<string, string[]>> {
	const told: Record<string, string[]> = {};
	for (const { path, text } of files) told[path] = await broken(turnlatch, text, 'data');
	return told;
}

for (const [runtime, differing] of [
	['node', inNode],
	['chromium', () => inChromium('broken', files, 'data')],
] as const) {
	test(`${runtime} takes every transition of the model`, async () => {
		const told = await differing();
		let transitions = 0;
		for (const { path, text } of files) {
			assert.deepEqual(told[path], [], `${path} does not hold`);
			const taken = readVectors(text).map(({ steps }) => steps?.length ?? 0);
			const never = places[path]?.filter(([vector, step]) => step >= (taken[vector] ?? 0));
			assert.deepEqual(never, [], `${path}: transitions that were never taken`);
			transitions += places[path]?.length ?? 0;
		}
		assert.ok(transitions > 100_000);
		const { steps, vectors } = counted(files);
		report('conformance', runtime, { transitions, steps, vectors });
		console.log(`the model in ${runtime}: ${transitions} transitions, by ${steps} steps of ${vectors} vectors`);
	});
}

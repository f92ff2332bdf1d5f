/** Every attack of `tests/adversarial` has the outcome that its file says, in Node and in Chromium. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as turnlatch from 'turnlatch';
import { attackFiles } from './files.js';
import { report } from './gates.js';
import { inChromium } from './vectors-in-chromium.js';
import { broken, readVectors } from './vectors-runner.js';

const files = attackFiles();

async function inNode(): Promise<Record<string, string[]>> {
	const told: Record<string, string[]> = {};
	for (const { path, text } of files) told[path] = await broken(turnlatch, text);
	return told;
}

for (const [runtime, differing] of [
	['node', inNode],
	['chromium', () => inChromium('broken', files)],
] as const) {
	test(`every attack has its outcome in ${runtime}`, async () => {
		const told = await differing();
		assert.deepEqual(
			Object.keys(told),
			files.map(({ path }) => path),
		);
		const otherwise = Object.values(told).flat();
		assert.equal(otherwise.length, 0, `${otherwise.length} attacks come out otherwise:\n${otherwise.join('\n')}`);
		const attacks = files.flatMap(({ text }) => readVectors(text));
		assert.ok(attacks.length >= 300);
		const steps = attacks.reduce((sum, { steps }) => sum + (steps ?? []).length, 0);
		report('adversarial', runtime, { attacks: attacks.length, steps });
	});
}

/** The suites that others wrote come out in Node and in Chromium as in Rust, which has written down what they must be. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as turnlatch from 'turnlatch';
import { ROOT } from './files.js';
import { report } from './gates.js';
import { inChromium } from './vectors-in-chromium.js';
import { broken, readVectors } from './vectors-runner.js';

const path = join('target', 'suites', 'cases.json');
// `make suites` writes it.
const text = readFileSync(join(ROOT, path), 'utf8');

for (const [runtime, differing] of [
	['node', () => broken(turnlatch, text)],
	['chromium', async () => (await inChromium('broken', [{ path, text }]))[path]],
] as const) {
	test(`every case of the suites comes out in ${runtime} as in Rust`, async () => {
		const told = (await differing()) ?? ['nothing was said'];
		assert.equal(told.length, 0, `${told.length} cases differ:\n${told.join('\n')}`);
		const suites = readVectors(text).map(({ name }) => name.split(':')[0]);
		const counts: Record<string, number> = {};
		for (const suite of ['JSON-Schema-Test-Suite', 'JSONTestSuite']) {
			const count = suites.filter((one) => one === suite).length;
			assert.notEqual(count, 0);
			counts[suite] = count;
			console.log(`${suite} in ${runtime}: ${count} cases come out as in Rust`);
		}
		report('suites', runtime, counts);
	});
}

/** Every vector of the contract holds in Node, by `import` and by `require`. */

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import * as imported from 'turnlatch';
import { vectorFiles } from './files.js';
import { report } from './gates.js';
import { broken, counted, difference, execute, type Package, readVectors } from './vectors-runner.js';

const required = createRequire(import.meta.url)('turnlatch') as Package;

const held: string[] = [];

for (const [name, core] of [
	['import', imported],
	['require', required],
] as const) {
	for (const { path, text } of vectorFiles()) {
		test(`${name}: every vector of ${path} holds`, async () => {
			const told = await broken(core, text);
			assert.equal(told.length, 0, `${told.length} vectors do not hold:\n${told.join('\n')}`);
			held.push(path);
		});
	}
}

test('every file has held', () => {
	const files = vectorFiles();
	const paths = files.map(({ path }) => path);
	assert.deepEqual(held, [...paths, ...paths]);
	report('vectors', 'node', counted(files));
});

test('import and require give the same classes', () => {
	assert.equal(imported.Run, required.Run);
	assert.equal(imported.EventRejectedError, required.EventRejectedError);
});

test('there are vectors and their names are unique', () => {
	const names = vectorFiles().flatMap(({ text }) => readVectors(text).map((vector) => vector.name));
	assert.ok(names.length > 500);
	assert.equal(new Set(names).size, names.length);
	console.log(`${names.length} vectors`);
});

test('the runner notices small differences', async () => {
	const vector = vectorFiles()
		.flatMap(({ text }) => readVectors(text))
		.find((one) => (one.steps ?? []).length > 0);
	assert.ok(vector);
	const found = await execute(imported, vector);
	assert.equal(difference(vector, found), undefined);
	const values = [1, true, '1', null, 1.5, 2n ** 60n, 2n ** 60n + 1n];
	for (const value of values) {
		for (const other of values) {
			const [left, right] = [value, other].map((one) => ({ ...found, admission: { warnings: [one] } }));
			assert.ok(left && right);
			assert.equal(difference(left, right) === undefined, value === other);
		}
	}
});

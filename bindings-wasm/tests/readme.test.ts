/** The JavaScript of the READMEs runs: in Node, or in Chromium where it says so. */

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { resultOfScript } from './browser.js';
import { PACKAGE, ROOT } from './files.js';

const text = [ROOT, PACKAGE].map((folder) => readFileSync(join(folder, 'README.md'), 'utf8')).join('\n');
const blocks = [...text.matchAll(/^```js( browser)?\n(.*?)^```$/gms)].map(([, browser, code], index) => ({
	browser: browser !== undefined,
	code: code ?? '',
	name: `block ${index + 1}`,
}));

test('there are blocks for both', () => {
	assert.ok(blocks.filter(({ browser }) => !browser).length >= 5);
	assert.equal(blocks.filter(({ browser }) => browser).length, 1);
});

for (const { name, code, browser } of blocks) {
	test(`${name} runs in ${browser ? 'Chromium' : 'Node'}`, async () => {
		if (!browser) {
			const folder = join(PACKAGE, 'build/readme');
			mkdirSync(folder, { recursive: true });
			const file = join(folder, `${name.replace(' ', '-')}.mjs`);
			writeFileSync(file, code);
			await import(pathToFileURL(file).href);
			return;
		}
		const script = `${code.replace("'turnlatch'", "'/dist/web.js'")}\nglobalThis.done = document.title;`;
		assert.equal(await resultOfScript(script), 'queued');
	});
}

test('the loop of the README knows every effect', () => {
	const types = readFileSync(join(PACKAGE, 'js/types.ts'), 'utf8');
	const effects = types.slice(types.indexOf('export interface AcquireSlot'), types.indexOf('export type Effect'));
	const names = [...effects.matchAll(/type: '(\w+)'/g)].map(([, name]) => name);
	const loop = blocks.find(({ code }) => code.includes('function perform'))?.code ?? '';
	assert.equal(names.length, 8);
	assert.deepEqual(
		names.filter((name) => !loop.includes(`'${name}'`)),
		[],
	);
});

/** Every vector holds in Chromium too, under a policy that allows scripts of the site and wasm, and nothing else. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resultOfScript } from './browser.js';
import { vectorFiles } from './files.js';
import { report } from './gates.js';
import { inChromium } from './vectors-in-chromium.js';
import { counted } from './vectors-runner.js';

test('every vector holds in Chromium', async () => {
	const files = vectorFiles();
	const told = await inChromium('broken', files);
	assert.deepEqual(
		Object.keys(told),
		files.map(({ path }) => path),
	);
	const broken = Object.values(told).flat();
	assert.equal(broken.length, 0, `${broken.length} vectors do not hold:\n${broken.join('\n')}`);
	report('vectors', 'chromium', counted(files));
});

for (const [entry, begin] of [
	['web', 'await init();'],
	['inline', ''],
] as const) {
	test(`${entry} works in a page without a bundler`, async () => {
		const script = `import { Run, admit, init } from '/dist/${entry}.js'; ${begin}
			const plan = admit({ runner: {} }, { run_id: 'r1', engine: 'codex' }, { engines: ['codex'] });
			globalThis.done = Run.create(plan, new Date())[0].status;`;
		assert.equal(await resultOfScript(script), 'queued');
	});
}

test('before init everything says what is missing', async () => {
	const script = `import { Run, codes } from '/dist/web.js';
		try { codes(); } catch (error) { globalThis.done = String(error); }`;
	assert.match(String(await resultOfScript(script)), /TypeError: .*await init\(\)/);
});

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

const FILES = { web: 'turnlatch_bg.wasm', slim: 'turnlatch_slim_bg.wasm' };

for (const [entry, file] of Object.entries(FILES)) {
	test(`${entry}: init says what it found where it found no wasm`, async () => {
		const script = `import { init } from '/dist/${entry}.js';
			const page = new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } });
			const said = [];
			for (const input of [page, '/page.js', new URL('/page.js', location)]) {
				await init(input).catch((error) => said.push(String(error)));
			}
			globalThis.done = said;`;
		const [page, ...scripts] = (await resultOfScript(script)) as string[];
		assert.match(page ?? '', /^TypeError: turnlatch: .* is not the wasm file: found text\/html, status 200\. /);
		assert.equal(scripts.length, 2);
		for (const said of scripts) {
			assert.match(said, /http:\/\/127.0.0.1:\d+\/page\.js is not the wasm file: found text\/javascript, status 200/);
			assert.ok(said.includes("optimizeDeps: { exclude: ['turnlatch'] }") && said.includes(`turnlatch/${file}?url`));
		}
	});

	test(`${entry}: wasm is taken under another content type, and fetched once`, async () => {
		const script = `import { init, version } from '/dist/${entry}.js';
			const wasm = await (await fetch('/dist/${file}')).arrayBuffer();
			await init(new Response(wasm, { headers: { 'content-type': 'application/octet-stream' } }));
			await init('/page.js');
			await init();
			const fetched = performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.wasm'));
			globalThis.done = [/^[0-9]+[.]/.test(version()), fetched.length];`;
		// Once by the script itself.
		assert.deepEqual(await resultOfScript(script), [true, 1]);
	});
}

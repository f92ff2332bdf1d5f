// turnlatch in Chromium: speaks the protocol of bench/README.md and hands every request on to a page.
// `chromium.mjs` is bundled by `make bench`, together with what the tests start their browsers with.
import { relative } from 'node:path';
import { createInterface } from 'node:readline';
import { browse, resultOf, serve } from '../../../bindings-wasm/tests/browser.ts';

const root = process.env.BENCH_ROOT;
const script = '<!doctype html><title></title><script type="module" src="/bench/workers/js/page.mjs"></script>';
// Isolated from others, a page has a clock of 5 µs; else it is 100.
const site = await serve(root, { '/': script }, undefined, {
	'cross-origin-opener-policy': 'same-origin',
	'cross-origin-embedder-policy': 'require-corp',
});
const browser = await browse();
const addressOf = (path) => `/${relative(root, path)}`;

try {
	const [, cold, path] = process.argv.slice(2);
	if (cold !== undefined) {
		const answer = await resultOf(browser.context, `${site.url}/?cold=${encodeURIComponent(addressOf(path))}`);
		console.log(JSON.stringify(answer));
	} else {
		await answerRequests();
	}
} finally {
	await browser.close();
	await site.close();
}

async function answerRequests() {
	const page = await browser.context.newPage();
	page.on('pageerror', (error) => console.error(error));
	await page.goto(`${site.url}/`);
	await page.waitForFunction(() => globalThis.answer !== undefined);
	for await (const line of createInterface({ input: process.stdin })) {
		const request = JSON.parse(line);
		if (request.case !== undefined) request.case = addressOf(request.case);
		const answer = await page.evaluate((asked) => globalThis.answer(asked), request);
		process.stdout.write(`${JSON.stringify(answer ?? { unsupported: true })}\n`);
	}
}

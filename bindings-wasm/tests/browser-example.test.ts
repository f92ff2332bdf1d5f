/** The example for browsers, opened and clicked in Chromium. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { browse, serve } from './browser.js';
import { ROOT } from './files.js';
import { waitingRun } from './support.js';

async function inPage(work: (page: Page) => Promise<void>): Promise<void> {
	const site = await serve(ROOT, {}, '');
	const browser = await browse();
	try {
		const page = await browser.context.newPage();
		const errors: string[] = [];
		page.on('pageerror', (error) => errors.push(String(error)));
		page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
		await page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }));
		await page.goto(`${site.url}/examples/browser/index.html`);
		await page.getByText('sample', { exact: true }).waitFor();
		await work(page);
		if (process.env.SCREENSHOT !== undefined) await page.screenshot({ path: process.env.SCREENSHOT, fullPage: true });
		assert.deepEqual(errors, []);
	} finally {
		await browser.close();
		await site.close();
	}
}

test('the policy names the style and the script as they are', () => {
	const html = readFileSync(join(ROOT, 'examples/browser/index.html'), 'utf8');
	for (const [, text = ''] of html.matchAll(/<(?:style|script type="module")>(.*?)<\/(?:style|script)>/gs)) {
		const digest = createHash('sha256').update(text).digest('base64');
		assert.ok(html.includes(`'sha256-${digest}'`), `sha256-${digest}`);
	}
});

test('the example shows the question and predicts refusals', () =>
	inPage(async (page) => {
		const text = (id: string) => page.locator(`#${id}`).textContent().then(String);
		assert.equal(await text('prompt'), 'Write which file?');
		assert.match(await text('countdown'), /^[45]:\d\d$/);
		assert.equal(await page.locator('#reply').isEnabled(), true);
		await page.getByLabel('Interaction id').fill('1');
		await page.getByRole('button', { name: 'b.txt' }).click();
		await page.getByRole('button', { name: 'Predict' }).click();
		await page.getByLabel('Interaction id').fill('2');
		await page.getByRole('button', { name: 'Reply', exact: true }).click();
		assert.equal(await page.locator('#reply').isEnabled(), false);
		assert.match(await text('reply-reason'), /^[A-Z_]+: ./);
		await page.getByLabel('Response').fill('a.txt');
		await page.getByRole('button', { name: 'Predict' }).click();
		await page.getByRole('button', { name: 'Cancel the run' }).click();
		assert.equal(await page.locator('#cancel').isEnabled(), false);
		const receipts = await page.locator('#receipts li').allInnerTexts();
		assert.deepEqual(
			receipts.map((line) => line.split(/[ ,]/)[0]),
			['stale', 'accepted', 'stale', 'canceled'],
			receipts.join('\n'),
		);
	}));

test('the example reads a pasted snapshot, and hostile text stays text', () =>
	inPage(async (page) => {
		const run = waitingRun();
		run.reply(1, 'x', 3);
		run.apply({ type: 'slot_granted', slot_id: 'r1/s2' }, 4);
		const prompt = '<img src=x onerror=alert(1)>';
		run.apply({ type: 'turn_finished', attempt_number: 2, text: JSON.stringify({ ask_user: { prompt } }) }, 5);
		await page.getByLabel('Paste a snapshot').fill(run.snapshot());
		await page.getByRole('button', { name: 'Show' }).click();
		assert.equal(await page.locator('#prompt').textContent(), prompt);
		await page.getByLabel('Paste a snapshot').fill('{"version":1}');
		await page.getByRole('button', { name: 'Show' }).click();
		assert.match((await page.locator('#problem').textContent()) ?? '', /^SNAPSHOT_/);
		assert.equal(await page.locator('#prompt').textContent(), prompt, 'what was shown is still shown');
	}));

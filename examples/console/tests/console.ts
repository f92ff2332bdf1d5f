/** The console in Chromium, on a service of its own. */

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { browse } from '../../../bindings-wasm/tests/browser.js';
import { Service } from './service.js';

export interface Setting {
	readonly service: Service;
	readonly context: BrowserContext;
}

/** Starts a service and a browser for the tests of one file, and ends both. */
export function setting(token?: string): Setting {
	let service: Service | undefined;
	let browser: Awaited<ReturnType<typeof browse>> | undefined;
	before(async () => {
		service = await Service.start(token);
		browser = await browse();
	});
	after(async () => {
		await browser?.close();
		await service?.close();
	});
	return {
		get service() {
			assert.ok(service, 'the service has started');
			return service;
		},
		get context() {
			assert.ok(browser, 'the browser has started');
			return browser.context;
		},
	};
}

/** What a browser writes about answers that the console expects. */
const EXPECTED = /^Failed to load resource/;

/** Opens a page, works in it, and checks that nothing was complained about: no error, no breach of the policy. */
export async function inPage(
	{ service, context }: Setting,
	hash: string,
	work: (page: Page) => Promise<void>,
): Promise<void> {
	const page = await context.newPage();
	const complaints: string[] = [];
	page.on('pageerror', (error) => complaints.push(error.stack ?? String(error)));
	page.on('console', (message) => {
		if (['error', 'warning'].includes(message.type()) && !EXPECTED.test(message.text()))
			complaints.push(message.text());
	});
	page.setDefaultTimeout(60_000);
	try {
		await page.goto(`${service.url}/${hash}`);
		await work(page);
		assert.deepEqual(complaints, []);
	} finally {
		await page.close();
	}
}

/** The run's status as the page's head shows it. */
export function headStatus(page: Page, words: string): Promise<void> {
	return page.locator('.run-head .pill', { hasText: words }).waitFor();
}

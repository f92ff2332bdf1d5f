/** Everything can be done without a mouse. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { headStatus, inPage, setting } from './console.js';

const here = setting();

/** Presses Tab until something with this name has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
	for (let presses = 0; presses < 60; presses += 1) {
		await page.keyboard.press('Tab');
		const focused = await page.evaluate(() => {
			const element = document.activeElement as HTMLElement | null;
			const label = element instanceof HTMLInputElement ? element.labels?.[0]?.innerText : element?.innerText;
			return label ?? '';
		});
		if (name.test(focused)) return;
	}
	assert.fail(`${name} cannot be reached by Tab`);
}

test('a job is created, answered and canceled by keys alone', () =>
	inPage(here, '#/', async (page) => {
		await page.getByText('No runs yet.').waitFor();
		await page.keyboard.press('n');
		await page.getByRole('radio', { name: /^choose/ }).waitFor();
		await tabTo(page, /^choose/);
		await tabTo(page, /Start the job/);
		await page.keyboard.press('Enter');
		await headStatus(page, 'Waiting for you');
		await page.keyboard.press('2');
		await page.getByText('Would be accepted').waitFor();
		await page.keyboard.press('a');
		assert.equal(await page.evaluate(() => document.activeElement?.id), 'answer');
		await page.keyboard.type('my own: n, r and ? are letters here');
		await page.keyboard.press('Control+Enter');
		await headStatus(page, 'Succeeded');
		await page.getByRole('region', { name: 'Result' }).getByText('my own: n, r and ? are letters here').waitFor();
		const other = await here.service.create('slow');
		await page.keyboard.press('r');
		await page.getByRole('link', { name: other }).waitFor();
		await page.keyboard.press('j');
		await page.keyboard.press('Enter');
		await headStatus(page, 'Running');
		await tabTo(page, /^Cancel/);
		await page.keyboard.press('Enter');
		await page.getByRole('dialog').waitFor();
		await tabTo(page, /^Cancel the run/);
		await page.keyboard.press('Enter');
		await headStatus(page, 'Canceled');
	}));

test('the keys are listed, and can be switched off', () =>
	inPage(here, '#/', async (page) => {
		await page.getByRole('heading', { name: 'Runs' }).waitFor();
		await page.keyboard.press('?');
		const dialog = page.getByRole('dialog', { name: 'Keyboard' });
		await dialog.getByText('New job').waitFor();
		await dialog.getByLabel('Single keys are on').uncheck();
		await page.keyboard.press('Escape');
		await dialog.waitFor({ state: 'hidden' });
		await page.keyboard.press('n');
		assert.match(page.url(), /#\/$/);
		await page.keyboard.press('?');
		await dialog.getByLabel('Single keys are on').check();
	}));

test('the focus can be seen, and goes to the page that was opened', () =>
	inPage(here, '#/', async (page) => {
		await page.getByRole('heading', { name: 'Runs' }).waitFor();
		await page.keyboard.press('Tab');
		assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Skip to the content');
		await tabTo(page, /^Open a file/);
		const outline = await page.evaluate(() => getComputedStyle(document.activeElement ?? document.body).outlineStyle);
		assert.equal(outline, 'solid');
		await page.keyboard.press('Enter');
		await page.getByRole('heading', { name: 'Look into a recorded run' }).waitFor();
		// The page is shown before it is given the focus.
		await page.waitForFunction(() => document.activeElement?.id === 'main');
	}));

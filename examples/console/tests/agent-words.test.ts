/** What the agent says while its turn is under way. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { headStatus, inPage, setting } from './console.js';
import { look } from './look.js';

const here = setting();

const panel = (page: Page) => page.getByRole('region', { name: 'What the agent says' });
const box = (page: Page) => page.getByRole('log', { name: "The agent's words" });
const readOut = (page: Page, words: RegExp) =>
	page.getByRole('log', { name: 'Announcements' }).getByText(words).waitFor({ state: 'attached' });
/** How far the reader is from the end of the words, and from their beginning. */
const place = (page: Page) =>
	box(page).evaluate(({ scrollHeight, scrollTop, clientHeight }) => ({
		toEnd: Math.round(scrollHeight - scrollTop - clientHeight),
		fromStart: scrollTop,
	}));

test('words come while the agent speaks, and go when its turn is over', async () => {
	const runId = await here.service.create('talkative');
	await inPage(here, `#/runs/${runId}`, async (page) => {
		await box(page).getByText('There are three of them.').waitFor();
		const others = box(page).locator('.other');
		await others.nth(1).waitFor();
		assert.deepEqual(await others.locator('strong').allInnerTexts(), ['reasoning', 'tool']);
		// The page may have been opened in the middle of the turn: neither may take the other's place.
		await readOut(page, /^The run is running\.$/);
		await readOut(page, /^The agent says: [\s\S]*There are three of them\./);
		const tool = others.nth(1).locator('p');
		assert.ok((await tool.innerText()).endsWith('…'), 'what a tool said is cut');
		const lines = await tool.evaluate(
			(text) => text.clientHeight / Number.parseFloat(getComputedStyle(text).lineHeight),
		);
		assert.ok(lines < 3.5, `${lines} lines of it are shown`);

		await here.service.letGoOn(runId, 'second');
		await box(page).getByText('Line 40 of the file.').waitFor();
		await readOut(page, /^The agent says: .* is what the file says/);
		assert.equal(await box(page).locator('img').count(), 0, 'words are never markup');
		const hostile = await box(page).getByText('is what the file says').innerText();
		assert.match(hostile, /<img src=x onerror=alert\(1\)>/);
		assert.ok(!hostile.includes('\u001b') && !hostile.includes('\u202e'), hostile);
		await page.waitForFunction(() => (document.querySelector('.agent-words')?.scrollTop ?? 0) > 0);
		assert.ok((await place(page)).toEnd <= 1, 'who is at the end stays there');

		await box(page).focus();
		await page.keyboard.press('Home');
		await page.waitForFunction(() => document.querySelector('.agent-words')?.scrollTop === 0);
		await here.service.letGoOn(runId, 'third');
		await box(page).getByText('Almost there.').waitFor();
		assert.equal((await place(page)).fromStart, 0, 'who looks something up is left in peace');

		await here.service.letGoOn(runId, 'end');
		await headStatus(page, 'Waiting for you');
		await panel(page).waitFor({ state: 'detached' });
		await page.getByLabel('Your answer').fill('b.txt');
		await page.getByRole('button', { name: 'Send answer' }).click();
		await box(page).getByText('Then I read b.txt.').waitFor();
		assert.equal(await box(page).getByText('Almost there.').count(), 0, 'those are the words of another turn');
		await here.service.letGoOn(runId, 'done');
		await headStatus(page, 'Succeeded');
		await panel(page).waitFor({ state: 'detached' });
	});
});

test('who comes in the middle of a turn sees what was said, once', async () => {
	const runId = await here.service.create('talkative');
	await inPage(here, `#/runs/${runId}`, async (page) => {
		await box(page).locator('.other').nth(1).waitFor();
		for (let time = 0; time < 2; time += 1) {
			await page.reload();
			await box(page).getByText('There are three of them.').waitFor();
			assert.equal(await box(page).locator('.said').count(), 3);
		}
		await look(page, 'agent-words');
		await here.service.letGoOn(runId, 'second');
		await box(page).getByText('Line 40 of the file.').waitFor();
		await look(page, 'agent-words-long');
	});
});

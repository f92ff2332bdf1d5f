/** What the service decides without a person, what a person ends, and why things are as they are. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headStatus, inPage, setting } from './console.js';

const here = setting();

test('nobody answers: the countdown runs, and the decision is shown as automatic', async () => {
	// The page is there before the question, so that a slow machine misses nothing of the short time.
	await inPage(here, '#/', async (page) => {
		await page.getByRole('heading', { name: 'Runs' }).waitFor();
		const runtime_options = { interactive_require_user_reply: false, session_timeout_sec: 6 };
		const runId = await here.service.create('choose', { runtime_options });
		await page.goto(`${here.service.url}/#/runs/${runId}`);
		await page.getByText('until it is decided automatically, by the policy').waitFor();
		assert.match(await page.getByRole('timer').innerText(), /^0:0[0-6]$/);
		await headStatus(page, 'Succeeded');
		const timeline = page.getByRole('region', { name: 'Timeline' });
		await timeline.getByText('Question 1 decided automatically').waitFor();
		await timeline.getByText('the timer').waitFor();
		await timeline.getByText('because nobody answered in time').waitFor();
		await page.getByText('1, 1 decided automatically').waitFor();
	});
});

test('a strict sticky run says that it will fail, and fails', async () => {
	await inPage(here, '#/', async (page) => {
		await page.getByRole('heading', { name: 'Runs' }).waitFor();
		const runtime_options = { session_timeout_sec: 6, interactive_profile: { kind: 'sticky_process' } };
		const runId = await here.service.create('choose', { runtime_options });
		await page.goto(`${here.service.url}/#/runs/${runId}`);
		await page.locator('.countdown').getByText('INTERACTION_WAIT_TIMEOUT').waitFor();
		await headStatus(page, 'Failed');
		await page.getByRole('region', { name: 'Failed' }).getByText('INTERACTION_WAIT_TIMEOUT').waitFor();
	});
});

test('a run is canceled with a reason, once', async () => {
	const runId = await here.service.create('slow');
	await inPage(here, `#/runs/${runId}`, async (page) => {
		await headStatus(page, 'Running');
		await page.getByRole('region', { name: 'Slots' }).getByText('this run').waitFor();
		await page.getByRole('button', { name: 'Cancel' }).click();
		const dialog = page.getByRole('dialog', { name: 'Cancel this run?' });
		await dialog.getByLabel('Reason').fill('it was the wrong skill');
		await dialog.getByRole('button', { name: 'Cancel the run' }).click();
		await headStatus(page, 'Canceled');
		await page.getByText('it was the wrong skill').first().waitFor();
		const cancel = page.getByRole('button', { name: /^Cancel.+ended/ });
		assert.equal(await cancel.isEnabled(), false);
		assert.match((await cancel.getAttribute('title')) ?? '', /ended/);
	});
});

test('an output that does not fit is shown with its violations at their place', async () => {
	const runId = await here.service.create('wrong');
	await inPage(here, `#/runs/${runId}`, async (page) => {
		await headStatus(page, 'Failed');
		const why = page.getByRole('region', { name: 'Why' });
		await why.locator('[data-result="decided"]', { hasText: 'GATE-4' }).waitFor();
		assert.equal(await why.locator('.gates li').count(), 3, 'every gate that was asked is there');
		const wrong = why.locator('.tree .wrong');
		await wrong.nth(1).waitFor();
		assert.deepEqual(
			(await wrong.allInnerTexts()).map((text) => text.split('\n')),
			[
				['lines: “many”', 'value is not of type "integer" /properties/lines/type'],
				['1: “much too long”', 'value is longer than 5 characters /properties/tags/items/maxLength'],
			],
		);
		assert.match(await why.locator('.tree').innerText(), /file: “a\.txt”/, 'what fits is shown, too');
	});
});

test('an earlier turn can be asked why, and the page comes back to now', async () => {
	const runId = await here.service.create('words');
	await inPage(here, `#/runs/${runId}`, async (page) => {
		await headStatus(page, 'Waiting for you');
		await page.getByLabel('Your answer').fill('a.txt');
		await page.getByRole('button', { name: 'Send answer' }).click();
		await page.getByRole('button', { name: 'decided turn 2' }).waitFor();
		await page.getByRole('button', { name: 'decided turn 1' }).click();
		await page.getByRole('heading', { name: 'Why turn 1 ended so' }).waitFor();
		assert.equal(await page.evaluate(() => document.activeElement?.id), 'why');
		await page.getByRole('button', { name: 'Back to now' }).click();
		await page.getByRole('heading', { name: 'Why', exact: true }).waitFor();
	});
});

test('the list shows runs as they come, and filters them', async () => {
	await inPage(here, '#/', async (page) => {
		await page.getByRole('list', { name: 'Runs, newest first' }).waitFor();
		const runId = await here.service.create('soft');
		const row = page.getByRole('link', { name: runId });
		await row.filter({ hasText: 'Succeeded' }).waitFor();
		await page.getByRole('button', { name: 'Failed' }).click();
		await row.waitFor({ state: 'detached' });
		await page.getByRole('button', { name: 'Succeeded' }).click();
		await row.waitFor();
		assert.match(page.url(), /status=succeeded%2Cfailed/, 'filters stand in the address');
		await page.getByRole('combobox', { name: 'Skill' }).selectOption('choose');
		await row.waitFor({ state: 'detached' });
		await page.getByRole('combobox', { name: 'Skill' }).selectOption('soft');
		await row.click();
		await headStatus(page, 'Succeeded');
		await page.getByText('INTERACTIVE_COMPLETED_WITHOUT_DONE_MARKER').first().waitFor();
	});
});

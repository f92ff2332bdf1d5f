/** A service that wants a token, and one that goes away and comes back. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headStatus, inPage, setting } from './console.js';

const TOKEN = 'a-token-for-these-tests';
const here = setting(TOKEN);

test('a token is asked for, wrong ones are noticed, and the tab keeps the right one', async () => {
	const runId = await here.service.create('words');
	await inPage(here, `#/runs/${runId}`, async (page) => {
		const token = page.getByLabel('Token', { exact: true });
		await token.fill('wrong');
		await page.getByRole('button', { name: 'Go on' }).click();
		await token.waitFor();
		assert.equal(await token.inputValue(), '', 'the form is back, and empty');
		await token.fill(TOKEN);
		await page.getByRole('button', { name: 'Go on' }).click();
		await headStatus(page, 'Waiting for you');
		await page.getByRole('status', { name: 'Connection: Live' }).waitFor();
		await page.reload();
		await headStatus(page, 'Waiting for you');
		assert.equal(page.url().includes(TOKEN), false);
	});
});

test('a tab that nobody sees lets go of its connection, and takes it up when it is looked at', async () => {
	const runId = await here.service.create('words');
	await inPage(here, `#/runs/${runId}`, async (page) => {
		await page.getByLabel('Token', { exact: true }).fill(TOKEN);
		await page.getByRole('button', { name: 'Go on' }).click();
		await page.getByRole('status', { name: 'Connection: Live' }).waitFor();
		const become = (state: string) =>
			page.evaluate((shown) => {
				Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => shown });
				document.dispatchEvent(new Event('visibilitychange'));
			}, state);
		const isStream = (request: { url(): string }): boolean => request.url().endsWith('/events');
		await Promise.all([page.waitForEvent('requestfailed', isStream), become('hidden')]);
		await here.service.until(runId, 'waiting_user');
		await here.service.post(`/v1/jobs/${runId}/interaction/reply`, { interaction_id: 1, response: 'meanwhile' });
		await Promise.all([page.waitForEvent('request', isStream), become('visible')]);
		await page.getByRole('region', { name: 'The agent asks' }).getByText('Which line of meanwhile?').waitFor();
		await page.getByRole('status', { name: 'Connection: Live' }).waitFor();
	});
});

test('the service restarts: the page says so, takes up the stream, and loses nothing', async () => {
	const runId = await here.service.create('words');
	await inPage(here, `#/runs/${runId}`, async (page) => {
		await page.getByLabel('Token', { exact: true }).fill(TOKEN);
		await page.getByRole('button', { name: 'Go on' }).click();
		await headStatus(page, 'Waiting for you');
		await page.getByLabel('Your answer').fill('written before the restart');
		await here.service.stop();
		await page.getByRole('status', { name: 'Connection: Reconnecting' }).waitFor();
		await page.getByRole('button', { name: 'Send answer' }).click();
		await page.getByRole('alert').getByText('UNREACHABLE').waitFor();
		await here.service.begin();
		await page.getByRole('status', { name: 'Connection: Live' }).waitFor();
		await page.getByRole('button', { name: 'Send answer' }).click();
		await page.getByText('Which line of written before the restart?').first().waitFor();
		// The words are there before the turn is over.
		await page.locator('.timeline').getByText('Turn 2 finished').waitFor();
		const titles = await page.locator('.timeline .step-title strong').allInnerTexts();
		assert.deepEqual(titles, [
			'Job created',
			'Turn 1 started',
			'Turn 1 finished',
			'Question 1 answered',
			'Turn 2 started',
			'Turn 2 finished',
		]);
	});
});

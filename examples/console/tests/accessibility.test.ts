/** Every page, in both themes and at both sizes: no accessibility problem that axe can find, nothing too wide. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headStatus, inPage, setting } from './console.js';
import { look } from './look.js';

const here = setting();

for (const skill of ['choose', 'fields', 'risk', 'hostile']) {
	test(`a question of the skill ${skill}`, async () => {
		const runtime_options = { interactive_require_user_reply: false };
		const runId = await here.service.create(skill, { runtime_options });
		await inPage(here, `#/runs/${runId}`, async (page) => {
			await headStatus(page, 'Waiting for you');
			await page.getByLabel('in your own words').or(page.getByLabel('Your answer')).fill('An answer.');
			await page.getByText('Would be accepted').waitFor();
			await look(page, `question-${skill}`);
		});
	});
}

test('a run that failed, with violations', async () => {
	const runId = await here.service.create('wrong');
	await inPage(here, `#/runs/${runId}`, async (page) => {
		await page.locator('.tree .wrong').first().waitFor();
		await look(page, 'failed');
	});
});

test('a run that was answered, and its replay', async () => {
	const runId = await here.service.create('choose');
	await here.service.until(runId, 'waiting_user');
	await here.service.post(`/v1/jobs/${runId}/interaction/reply`, { interaction_id: 1, response: 'a.txt' });
	await inPage(here, `#/runs/${runId}`, async (page) => {
		await headStatus(page, 'Succeeded');
		await look(page, 'succeeded');
		await page.getByRole('button', { name: 'Replay' }).click();
		await page.getByRole('slider', { name: 'Step' }).fill('3');
		await headStatus(page, 'Waiting for you');
		await look(page, 'replay');
	});
});

test('the list, the form, the empty debugger, the keys', async () => {
	await here.service.create('slow');
	await inPage(here, '#/', async (page) => {
		await page
			.getByRole('link', { name: /Running/ })
			.first()
			.waitFor();
		await look(page, 'list');
		await page.keyboard.press('n');
		await page.getByRole('radio', { name: /^choose/ }).check();
		await look(page, 'new');
		await page.getByRole('link', { name: 'Open a file' }).click();
		await page.getByRole('heading', { name: 'Look into a recorded run' }).waitFor();
		await look(page, 'file');
		await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
		await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
		await look(page, 'keys');
	});
});

test('the theme can be chosen, and stays', () =>
	inPage(here, '#/', async (page) => {
		const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
		await page.emulateMedia({ colorScheme: 'light' });
		const light = await ground();
		await page.getByRole('button', { name: 'Theme: system' }).click();
		await page.getByRole('button', { name: 'Theme: light' }).click();
		await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
		const dark = await ground();
		assert.notEqual(dark, light);
		await page.reload();
		assert.equal(await ground(), dark);
		await page.getByRole('button', { name: 'Theme: dark' }).click();
		assert.equal(await ground(), light);
	}));

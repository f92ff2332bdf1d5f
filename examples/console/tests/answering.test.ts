/** Jobs are created and questions answered, by clicks. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headStatus, inPage, setting } from './console.js';

const here = setting();

test('a job is created with the form and answered with a suggested answer', () =>
	inPage(here, '#/', async (page) => {
		await page.getByText('No runs yet.').waitFor();
		await page.getByRole('link', { name: 'New job' }).first().click();
		await page.getByRole('radio', { name: /^choose/ }).check();
		await page.getByRole('combobox', { name: 'Mode' }).selectOption('interactive');
		await page.getByRole('button', { name: 'Start the job' }).click();
		await headStatus(page, 'Waiting for you');
		await page.getByRole('region', { name: 'The agent asks' }).getByText('Which file?').waitFor();
		await page.getByText('A name from the list.').waitFor();
		const send = page.getByRole('button', { name: 'Send answer' });
		assert.equal(await send.isEnabled(), false, 'there is nothing to send yet');
		await page.getByRole('button', { name: 'The second' }).click();
		await page.getByText('Would be accepted').waitFor();
		await send.click();
		await headStatus(page, 'Succeeded');
		await page.getByRole('region', { name: 'Result' }).getByText('“b.txt”').waitFor();
		await page.getByText('Your answer to question 1 was accepted').waitFor();
		await page.getByRole('status', { name: 'Connection: Run ended' }).waitFor();
	}));

test('a job that is refused is not started, and every problem is told', () =>
	inPage(here, '#/new', async (page) => {
		await page.getByRole('radio', { name: /^broken/ }).waitFor();
		assert.match(await page.locator('.skill', { hasText: 'broken' }).innerText(), /SKILL_MANIFEST_INVALID/);
		await page.getByRole('radio', { name: /^choose/ }).check();
		await page.getByText('More options').click();
		await page.getByLabel('Further runtime options').fill('[1]');
		await page.getByText('This is not a JSON object.').waitFor();
		assert.equal(await page.getByRole('button', { name: 'Start the job' }).isEnabled(), false);
		await page.getByLabel('Further runtime options').fill('{"sesion_timeout_sec": 5}');
		await page.getByRole('button', { name: 'Start the job' }).click();
		const alert = page.getByRole('alert');
		await alert.getByText('OPTION_UNKNOWN').waitFor();
		assert.match(await alert.innerText(), /session_timeout_sec/, 'the nearest name is told');
	}));

const KINDS: readonly [
	skill: string,
	act: (page: Parameters<Parameters<typeof inPage>[2]>[0]) => Promise<void>,
	result: string,
][] = [
	['confirm', (page) => page.getByRole('button', { name: 'Yes' }).click(), 'yes'],
	['risk', (page) => page.getByRole('button', { name: 'Do not go on' }).click(), 'do not go on'],
	['choose', (page) => page.getByLabel('in your own words').fill('neither of them'), 'neither of them'],
	[
		'fields',
		async (page) => {
			await page.getByLabel('name').fill('Ada');
			await page.getByLabel('city').fill('London');
		},
		'{"name":"Ada","city":"London"}',
	],
];

for (const [skill, act, result] of KINDS) {
	test(`a question of the skill ${skill} is answered`, async () => {
		const runId = await here.service.create(skill);
		await inPage(here, `#/runs/${runId}`, async (page) => {
			await headStatus(page, 'Waiting for you');
			assert.equal(await page.locator('#answer').isVisible(), true, 'free words are always possible');
			await act(page);
			await page.getByRole('button', { name: 'Send answer' }).click();
			await headStatus(page, 'Succeeded');
		});
		const { data } = await here.service.until(runId, 'succeeded');
		assert.deepEqual(data, { file: result });
	});
}

test('an answer in a second tab: the first is told before it sends, and its words are kept', async () => {
	const runId = await here.service.create('words');
	await inPage(here, `#/runs/${runId}`, async (first) => {
		await headStatus(first, 'Waiting for you');
		await first.getByLabel('Your answer').fill('my long answer');
		await inPage(here, `#/runs/${runId}`, async (second) => {
			await second.getByLabel('Your answer').fill('quick.txt');
			await second.keyboard.press('Control+Enter');
			await second.getByRole('region', { name: 'The agent asks' }).getByText('Which line of quick.txt?').waitFor();
		});
		await first.getByText('A question that is no longer open').waitFor();
		const prediction = first.locator('#prediction');
		await prediction.getByText('STALE_INTERACTION').waitFor();
		assert.match(await prediction.innerText(), /Question 1 was answered by a person/);
		assert.equal(await first.getByLabel('Your answer').inputValue(), 'my long answer');
		assert.equal(await first.getByRole('button', { name: 'Send answer' }).isEnabled(), false);
		await first.getByRole('button', { name: 'Discard' }).click();
		await first.getByRole('region', { name: 'The agent asks' }).getByText('Which line of quick.txt?').waitFor();
	});
});

test('an answer from a tab that could not know is refused, and told why', async () => {
	const runId = await here.service.create('words');
	await inPage(here, `#/runs/${runId}`, async (page) => {
		await headStatus(page, 'Waiting for you');
		await page.getByLabel('Your answer').fill('too late');
		// The page is cut off from what happens, but not from sending.
		await page.route('**/snapshot', (route) => route.abort());
		await here.service.post(`/v1/jobs/${runId}/interaction/reply`, { interaction_id: 1, response: 'first' });
		await here.service.until(runId, 'waiting_user');
		await page.getByRole('button', { name: 'Send answer' }).click();
		const alert = page.getByRole('alert');
		await alert.getByText('STALE_INTERACTION').waitFor();
		assert.match(await alert.innerText(), /Question 1 was answered by a person/);
		assert.equal(await page.getByLabel('Your answer').inputValue(), 'too late', 'nobody loses what they wrote');
	});
});

test('an answer whose receipt was lost on the way is sent again, and taken once', async () => {
	const runId = await here.service.create('words');
	await inPage(here, `#/runs/${runId}`, async (page) => {
		await headStatus(page, 'Waiting for you');
		await page.getByLabel('Your answer').fill('once.txt');
		await page.route('**/interaction/reply', async (route) => {
			await route.fetch();
			await route.abort();
		});
		await page.getByRole('button', { name: 'Send answer' }).click();
		await page.getByRole('alert').getByText('UNREACHABLE').waitFor();
		await page.getByText('A question that is no longer open').waitFor();
		await page.unroute('**/interaction/reply');
		await page.locator('#prediction').getByText('Was taken already').waitFor();
		await page.getByRole('button', { name: 'Send answer' }).click();
		await page.getByRole('region', { name: 'The agent asks' }).getByText('Which line of once.txt?').waitFor();
	});
	const { history } = JSON.parse(await here.service.get(`/v1/jobs/${runId}/interaction/history`));
	assert.equal(history.length, 1);
});

test('an answer that is too large is refused before it is sent', async () => {
	const runId = await here.service.create('words');
	await inPage(here, `#/runs/${runId}`, async (page) => {
		await headStatus(page, 'Waiting for you');
		await page.getByLabel('Your answer').fill('€'.repeat(Math.ceil(2 ** 20 / 3)));
		await page.locator('#prediction').getByText('REPLY_TOO_LARGE').waitFor();
		assert.equal(await page.getByRole('button', { name: 'Send answer' }).isEnabled(), false);
	});
});

test('what an agent says is text, with what could deceive made visible', async () => {
	const runId = await here.service.create('hostile');
	await inPage(here, `#/runs/${runId}`, async (page) => {
		await headStatus(page, 'Waiting for you');
		const question = page.getByRole('region', { name: 'The agent asks' });
		assert.match(await question.innerText(), /\\u\{1b\}\[31mRed\\u\{202e\} or <img src=x onerror=alert\(1\)>\?/);
		await page.getByRole('button', { name: '<b>bold</b>' }).waitFor();
		assert.equal(await page.locator('main img, main b').count(), 0);
	});
});

/** Recorded runs, looked at without a service. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { importRun, Journal } from 'turnlatch';
import { headStatus, inPage, setting } from './console.js';

const here = setting();

/** A run that asked twice and was answered twice, as files. */
async function recorded(): Promise<{ runId: string; record: string; snapshot: string; journal: string }> {
	const runId = await here.service.create('words');
	for (const interaction_id of [1, 2]) {
		for (;;) {
			const view = await here.service.until(runId, 'waiting_user');
			if (view.pending_interaction_id === interaction_id) break;
		}
		await here.service.post(`/v1/jobs/${runId}/interaction/reply`, {
			interaction_id,
			response: `answer ${interaction_id}`,
		});
	}
	await here.service.until(runId, 'succeeded');
	const record = await here.service.get(`/v1/jobs/${runId}/record`);
	const snapshot = await here.service.get(`/v1/jobs/${runId}/snapshot`);
	const [, journal] = importRun(record);
	return { runId, record, snapshot, journal: Journal.fromLines(runId, journal.lines()).serialize() };
}

async function open(page: Page, ...files: [name: string, text: string][]): Promise<void> {
	const payloads = files.map(([name, text]) => ({ name, mimeType: 'application/json', buffer: Buffer.from(text) }));
	await page.locator('input[type="file"]').setInputFiles(payloads);
}

/** Drops a file as a person does, on whatever page is open. */
async function drop(page: Page, name: string, text: string): Promise<void> {
	const transfer = await page.evaluateHandle(
		([fileName, content]) => {
			const data = new DataTransfer();
			data.items.add(new File([content ?? ''], fileName ?? '', { type: 'application/json' }));
			return data;
		},
		[name, text],
	);
	const place = page.getByText('Drop it to look into the run');
	// A browser tells again and again what is held over the page; the first time may be before the page listens.
	do await page.dispatchEvent('body', 'dragover', { dataTransfer: transfer });
	while (!(await place.isVisible()));
	await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
}

test('a dropped record is moved through by slider, buttons and keys, without the service', async () => {
	const { runId, record } = await recorded();
	await inPage(here, '#/', async (page) => {
		await page.route('**/v1/**', (route) => route.abort());
		await drop(page, 'run.record.json', record);
		await page.getByRole('heading', { name: runId }).waitFor();
		await headStatus(page, 'Succeeded');
		const slider = page.getByRole('slider', { name: 'Step' });
		assert.equal(await slider.getAttribute('aria-valuetext').then((text) => text?.split(':')[0]), 'step 9 of 9');
		await slider.fill('3');
		await headStatus(page, 'Waiting for you');
		await page.getByRole('region', { name: 'The agent asks' }).getByText('Which file do you mean?').waitFor();
		assert.equal(await page.locator('.timeline > li').count(), 3, 'what comes later is not known yet');
		assert.equal(await page.getByRole('button', { name: 'Send answer' }).count(), 0);
		await page.getByLabel('Your answer').fill('what if');
		await page.locator('#prediction').getByText('Would be accepted').waitFor();
		await page.getByRole('button', { name: 'Discard' }).click();
		await page.getByRole('button', { name: 'Step on' }).click();
		await headStatus(page, 'Queued');
		await slider.press('ArrowLeft');
		await headStatus(page, 'Waiting for you');
		await page.getByRole('heading', { name: runId }).click();
		await page.keyboard.press(']');
		await page.keyboard.press(']');
		await headStatus(page, 'Running');
		await page.locator('.chart .here', { hasText: 'Running' }).waitFor();
	});
});

test('the record that the page saves is the one that it opens', async () => {
	const { runId } = await recorded();
	await inPage(here, `#/runs/${runId}`, async (page) => {
		const [download] = await Promise.all([
			page.waitForEvent('download'),
			page.getByRole('button', { name: 'Record' }).click(),
		]);
		assert.equal(download.suggestedFilename(), `${runId}.record.json`);
		const saved = readFileSync(await download.path(), 'utf8');
		await page.getByRole('button', { name: 'Replay' }).click();
		await page.getByRole('slider', { name: 'Step' }).waitFor();
		await open(page, ['saved.json', saved]);
		await page.getByText('saved.json').waitFor();
	});
});

test('a snapshot is one moment; with its journal it becomes a recording', async () => {
	const { runId, snapshot, journal } = await recorded();
	await inPage(here, '#/file', async (page) => {
		await open(page, ['journal.json', journal]);
		await page.getByText(`is a journal of the run ${runId}`).waitFor();
		await open(page, ['snapshot.json', snapshot]);
		await page.getByRole('slider', { name: 'Step' }).waitFor();
	});
	await inPage(here, '#/file', async (page) => {
		await open(page, ['snapshot.json', snapshot]);
		await page.getByText('one moment of a run').waitFor();
		const past = page.getByRole('region', { name: 'Questions so far' });
		await past.getByText('Which file do you mean?').waitFor();
		await past.getByText('answer 2').first().waitFor();
	});
});

test('a file that was edited is refused with the place, and what was shown stays', async () => {
	const { runId, record } = await recorded();
	await inPage(here, '#/file', async (page) => {
		await open(page, ['good.json', record]);
		await page.getByRole('heading', { name: runId }).waitFor();
		await open(page, ['edited.json', record.replace('answer 1', 'answer 7')]);
		const alert = page.getByRole('alert');
		await alert.getByText('JOURNAL_INVALID').waitFor();
		assert.match(await alert.innerText(), /entry 4/);
		await page.getByRole('heading', { name: runId }).waitFor();
		await open(page, ['text.txt', 'no json']);
		await alert.getByText('NOT_JSON').waitFor();
		await open(page, ['other.json', '{"version":1}']);
		await alert.getByText('SNAPSHOT_INVALID').waitFor();
	});
});

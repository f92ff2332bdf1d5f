/** Looks at a page in both themes and at both sizes: no accessibility problem that axe can find, nothing too wide. */

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { ROOT } from '../../../bindings-wasm/tests/files.js';
import { KIND } from './service.js';

const SCREENSHOTS = join(ROOT, 'target/screenshots');
const AXE = readFileSync(
	createRequire(join(ROOT, 'examples/console/package.json')).resolve('axe-core/axe.min.js'),
	'utf8',
);
const SIZES = [
	{ width: 1280, height: 860 },
	{ width: 360, height: 740 },
];

/** Looks at the page as it is, in every theme and size. */
export async function look(page: Page, name: string): Promise<void> {
	// It looks the same whichever service stands behind it.
	if (KIND !== 'python') return;
	mkdirSync(SCREENSHOTS, { recursive: true });
	await page.evaluate(AXE);
	await page.emulateMedia({ reducedMotion: 'reduce' });
	for (const size of SIZES) {
		await page.setViewportSize(size);
		await page.evaluate(() => scrollTo(0, 0));
		for (const colorScheme of ['light', 'dark'] as const) {
			await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
			const found = await page.evaluate(() =>
				(globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
			);
			const told = found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
			assert.deepEqual(told, [], `${name}, ${size.width} px, ${colorScheme}`);
			const width = await page.evaluate(() => document.documentElement.scrollWidth);
			assert.ok(width <= size.width, `${name} is ${width} px wide at ${size.width}`);
			await page.screenshot({ path: join(SCREENSHOTS, `${name}-${size.width}-${colorScheme}.png`), fullPage: true });
		}
	}
}

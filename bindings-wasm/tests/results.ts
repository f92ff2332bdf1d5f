/** What `scripts/results.mjs` prints. */

import * as turnlatch from 'turnlatch';
import { vectorFiles } from './files.js';
import { results } from './vectors-runner.js';

export { inChromium } from './vectors-in-chromium.js';

export async function inNode(): Promise<Record<string, string[]>> {
	const told: Record<string, string[]> = {};
	for (const { path, text } of vectorFiles()) told[path] = await results(turnlatch, text);
	return told;
}

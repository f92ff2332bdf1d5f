/** The script of the page in which the vectors run. */

import * as turnlatch from 'turnlatch';
import { broken, type Forms, results } from './vectors-runner.js';

const { files, forms, print } = (await (await fetch('/vectors.json')).json()) as {
	files: { path: string; text: string }[];
	forms: Forms;
	print: boolean;
};
await turnlatch.init();
const told: Record<string, string[]> = {};
for (const { path, text } of files)
	told[path] = print ? await results(turnlatch, text) : await broken(turnlatch, text, forms);
(globalThis as { done?: unknown }).done = told;

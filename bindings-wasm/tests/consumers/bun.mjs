import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectRun, PRINT } from './app.mjs';

export const needs = ['bun@1.4.4'];

export function run({ folder }) {
	writeFileSync(join(folder, 'main.js'), PRINT);
	// It has this name on every platform, so that npm can make a command of it on all of them.
	const bun = join(folder, 'node_modules/bun/bin/bun.exe');
	return expectRun(execFileSync(bun, ['run', 'main.js'], { cwd: folder, encoding: 'utf8' }));
}

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectRun, HTML, PAGE } from './app.mjs';

export const needs = ['vite@8.3.8'];

export async function run({ folder, open }) {
	writeFileSync(join(folder, 'page.js'), PAGE);
	writeFileSync(join(folder, 'index.html'), HTML);
	// Data URLs would need more of the policy than a file does, and the wasm is too large for one anyway.
	execFileSync(process.execPath, [join(folder, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'warn'], {
		cwd: folder,
		encoding: 'utf8',
		stdio: 'pipe',
	});
	return expectRun(await open(join(folder, 'dist')));
}

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectRun, PRINT } from './app.mjs';

export const needs = ['deno@2.9.6'];

export function run({ folder }) {
	writeFileSync(join(folder, 'main.js'), PRINT);
	const deno = join(folder, 'node_modules/deno/bin.cjs');
	const options = ['run', '--no-remote', '--node-modules-dir=manual', '--allow-read', '--allow-env', 'main.js'];
	const env = { ...process.env, DENO_DIR: join(folder, '.deno'), DENO_NO_UPDATE_CHECK: '1' };
	return expectRun(execFileSync(process.execPath, [deno, ...options], { cwd: folder, encoding: 'utf8', env }));
}

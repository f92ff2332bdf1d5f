import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectRun, PAGE } from './app.mjs';

export const needs = ['webpack@5.112.2', 'webpack-cli@7.3.1'];

export async function run({ folder, open }) {
	writeFileSync(join(folder, 'page.js'), PAGE);
	const options = [
		'build',
		'--mode',
		'production',
		'--entry',
		'./page.js',
		'--output-path',
		'./out',
		'--output-public-path',
		'auto',
	];
	execFileSync(process.execPath, [join(folder, 'node_modules/webpack/bin/webpack.js'), ...options], {
		cwd: folder,
		encoding: 'utf8',
		stdio: 'pipe',
	});
	writeFileSync(join(folder, 'out/index.html'), '<!doctype html><script defer src="./main.js"></script>');
	return expectRun(await open(join(folder, 'out')));
}

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export const needs = ['@arethetypeswrong/cli@0.18.5'];

/** Not a consumer but a critic. What runs in Node is for `import` and `require`, what is for browsers alone is a module on purpose. */
export function run({ folder, tarball }) {
	const attw = join(folder, 'node_modules/@arethetypeswrong/cli/dist/index.js');
	const critic = (...options) =>
		execFileSync(process.execPath, [attw, tarball, '--format', 'ascii', '--no-color', ...options], {
			cwd: folder,
			encoding: 'utf8',
			stdio: 'pipe',
		});
	critic('--profile', 'node16', '--entrypoints', '.', './driver', './node', './dbos', './slim');
	critic('--profile', 'esm-only', '--entrypoints', './web', './inline', './indexeddb');
	return 'nothing found';
}

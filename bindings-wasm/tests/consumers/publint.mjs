import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export const needs = ['publint@0.3.25'];

/** Not a consumer but a critic: what it finds would trouble one. */
export function run({ folder, tarball }) {
	const publint = join(folder, 'node_modules/publint/src/cli.js');
	execFileSync(process.execPath, [publint, tarball, '--strict'], { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
	return 'nothing found';
}

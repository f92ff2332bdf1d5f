import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMONJS, expectRun } from './app.mjs';

export const type = 'commonjs';

export function run({ folder }) {
	writeFileSync(join(folder, 'main.js'), COMMONJS);
	return expectRun(execFileSync(process.execPath, ['main.js'], { cwd: folder, encoding: 'utf8' }));
}

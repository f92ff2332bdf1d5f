import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectRun, PRINT } from './app.mjs';

export function run({ folder }) {
	writeFileSync(join(folder, 'main.js'), PRINT);
	return expectRun(execFileSync(process.execPath, ['main.js'], { cwd: folder, encoding: 'utf8' }));
}

/** The example for Node runs as it stands, in a project that has the package installed. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { PACKAGE, ROOT } from './files.js';

const QUEUED_AGAIN = ['r1 is queued', 'r1 is running'];

for (const mode of ['resumable', 'sticky'] as const) {
	test(`examples/node: ${mode}`, () => {
		const project = mkdtempSync(join(tmpdir(), 'turnlatch-'));
		try {
			cpSync(join(ROOT, 'examples/node'), project, { recursive: true });
			mkdirSync(join(project, 'node_modules'));
			symlinkSync(PACKAGE, join(project, 'node_modules/turnlatch'));
			const options = mode === 'sticky' ? ['--sticky'] : [];
			const printed = execFileSync(process.execPath, [join(project, 'interactive.mjs'), ...options], {
				encoding: 'utf8',
				timeout: 30_000,
			});
			const lines = printed
				.trimEnd()
				.split('\n')
				.map((line) => line.replace(/^ *\d+ ms {2}/, ''));
			const notified = lines.filter((line) => line.startsWith('r1 is '));
			const resumed = mode === 'sticky' ? ['r1 is running'] : QUEUED_AGAIN;
			assert.deepEqual(notified, [...QUEUED_AGAIN, 'r1 is waiting_user', ...resumed, 'r1 is succeeded']);
			assert.ok(lines.includes('agent asks: Which file? ["a.txt","b.txt"]'), printed);
			assert.ok(lines.includes('receipt: accepted'), printed);
			assert.match(lines.at(-1) ?? '', /^result: \{"file":"b.txt"\} {2}because /);
		} finally {
			rmSync(project, { recursive: true, force: true });
		}
	});
}

/** The types of every entry as consumers see them: every way to resolve modules, `--strict`, and the library's own files checked too. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PACKAGE } from './files.js';

const CONSUMERS = [
	{ name: 'nodenext, import', module: 'nodenext', moduleResolution: 'nodenext', type: 'module', target: 'es2022' },
	{ name: 'nodenext, require', module: 'nodenext', moduleResolution: 'nodenext', type: 'commonjs', target: 'es2022' },
	{ name: 'node16, import', module: 'node16', moduleResolution: 'node16', type: 'module', target: 'es2022' },
	{ name: 'node16, require', module: 'node16', moduleResolution: 'node16', type: 'commonjs', target: 'es2022' },
	{ name: 'bundler', module: 'esnext', moduleResolution: 'bundler', type: 'module', target: 'es2022' },
] as const;

for (const { name, type, ...options } of CONSUMERS) {
	test(`tsc --strict: ${name}`, () => {
		const folder = join(PACKAGE, 'build/types', name.replace(/\W+/g, '-'));
		rmSync(folder, { recursive: true, force: true });
		mkdirSync(join(folder, 'node_modules/turnlatch'), { recursive: true });
		// Some entries are modules only; `require` of a module is an error of its own.
		const files = ['consumer.ts', 'entries.ts', ...(type === 'module' ? ['modules.ts'] : [])];
		for (const file of files) cpSync(join(PACKAGE, 'tests/types', file), join(folder, file));
		for (const part of ['package.json', 'dist']) {
			cpSync(join(PACKAGE, part), join(folder, 'node_modules/turnlatch', part), { recursive: true });
		}
		writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type }));
		const compilerOptions = {
			...options,
			strict: true,
			noEmit: true,
			skipLibCheck: false,
			types: [],
			lib: ['es2022', 'dom'],
		};
		writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
		const tsc = join(PACKAGE, 'node_modules/typescript/bin/tsc');
		const { stdout, status } = spawnSync(process.execPath, [tsc, '--project', folder], { encoding: 'utf8' });
		assert.equal(status, 0, stdout);
	});
}

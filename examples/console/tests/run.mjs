// Builds the tests (Node 20 reads no TypeScript) and runs them: all, or those whose names are given.
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const here = import.meta.dirname;
const out = join(here, '../build/tests');
const wanted = process.argv.slice(2);
const tests = readdirSync(here)
	.filter((name) => name.endsWith('.test.ts'))
	.filter((name) => wanted.length === 0 || wanted.includes(name.slice(0, -'.test.ts'.length)));
if (tests.length === 0) throw new Error(`no tests named ${wanted.join(', ')}`);

rmSync(out, { recursive: true, force: true });
await build({
	absWorkingDir: here,
	entryPoints: tests,
	bundle: true,
	packages: 'external',
	format: 'esm',
	platform: 'node',
	target: 'node20',
	sourcemap: 'inline',
	outdir: out,
	outExtension: { '.js': '.mjs' },
	logLevel: 'warning',
});
const files = tests.map((name) => join(out, name.replace(/\.ts$/, '.mjs')));
// Two at a time: each file has a service, its agents and a browser, and much of it is waiting for one another.
const options = ['--enable-source-maps', '--test', '--test-concurrency=2', '--test-reporter=spec'];
const { status } = spawnSync(process.execPath, [...options, ...files], { stdio: 'inherit' });
process.exit(status ?? 1);

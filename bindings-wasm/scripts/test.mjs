// Builds the tests (Node 20 reads no TypeScript) and runs them: all, or those whose names are given. `--hosts` takes those of
// tests/hosts, which need PostgreSQL.
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const onHosts = process.argv[2] === '--hosts';
const folder = onHosts ? 'tests/hosts' : 'tests';
const out = join(root, 'build', folder.replace('/', '-'));
const wanted = process.argv.slice(onHosts ? 3 : 2);
const tests = readdirSync(join(root, folder))
	.filter((name) => name.endsWith('.test.ts'))
	.map((name) => name.slice(0, -'.ts'.length))
	.filter((name) => wanted.length === 0 || wanted.includes(name.slice(0, -'.test'.length)));
if (tests.length === 0) throw new Error(`no tests named ${wanted.join(', ')}`);

rmSync(out, { recursive: true, force: true });
// Tests of the transactions on DBOS are built with their sources; what those take from the rest is the package's own.
const takeFromPackage = {
	name: 'take-from-package',
	setup({ onResolve }) {
		const offered = { '../public.js': 'turnlatch', '../driver/index.js': 'turnlatch/driver' };
		onResolve({ filter: /^\.\.\/(public|driver\/index)\.js$/ }, ({ path, importer }) =>
			importer.startsWith(join(root, 'js/dbos')) ? { path: offered[path], external: true } : undefined,
		);
	},
};
await build({
	absWorkingDir: root,
	// The workers of a fleet are processes of their own, and so is a test in a network of its own.
	entryPoints: [...tests, ...(onHosts ? ['worker', 'dropped-packets'] : [])].map((name) => `${folder}/${name}.ts`),
	bundle: true,
	// The package is imported as users do it, by its name.
	packages: 'external',
	plugins: [takeFromPackage],
	format: 'esm',
	platform: 'node',
	target: 'node20',
	sourcemap: 'inline',
	outdir: out,
	outExtension: { '.js': '.mjs' },
	logLevel: 'warning',
	tsconfigRaw: {},
});
const files = tests.map((name) => join(out, `${name}.mjs`));
const { status } = spawnSync(
	process.execPath,
	[
		'--enable-source-maps',
		'--expose-gc',
		'--test',
		'--test-reporter=spec',
		// Half of it is waiting for processes and databases, of hosts even more, and Node would leave one of two cores idle.
		`--test-concurrency=${onHosts ? 4 : 2}`,
		...files,
	],
	{
		cwd: root,
		stdio: 'inherit',
	},
);
process.exit(status ?? 1);

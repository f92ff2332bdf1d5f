import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { expectRun } from './app.mjs';

export const needs = ['miniflare@4.20260730.0'];

/** A worker is bundled with the condition of its runtime, and its wasm is a module of its own. */
export async function run({ folder }) {
	const worker =
		"import { main } from './app.js';\nexport default { fetch: async () => new Response(await main()) };\n";
	writeFileSync(join(folder, 'worker.js'), worker);
	await build({
		absWorkingDir: folder,
		entryPoints: ['worker.js'],
		outdir: 'out',
		bundle: true,
		format: 'esm',
		conditions: ['workerd'],
		loader: { '.wasm': 'copy' },
		logLevel: 'error',
	});
	const found = createRequire(join(folder, 'package.json')).resolve('miniflare');
	const { Miniflare } = await import(pathToFileURL(found).href).then((module) => module.default ?? module);
	const flare = new Miniflare({
		modules: true,
		modulesRoot: join(folder, 'out'),
		rootPath: join(folder, 'out'),
		scriptPath: join(folder, 'out/worker.js'),
		modulesRules: [{ type: 'CompiledWasm', include: ['**/*.wasm'] }],
		compatibilityDate: '2026-07-01',
	});
	try {
		return expectRun(await (await flare.dispatchFetch('http://localhost/')).text());
	} finally {
		await flare.dispose();
	}
}

import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expectRun, HTML, PAGE } from './app.mjs';

/** esbuild does not copy what `new URL(…, import.meta.url)` names, so the wasm is copied beside the bundle. */
export async function run({ folder, open }) {
	writeFileSync(join(folder, 'page.js'), PAGE);
	await build({
		absWorkingDir: folder,
		entryPoints: ['page.js'],
		outdir: 'out',
		bundle: true,
		minify: true,
		format: 'esm',
	});
	cpSync(join(folder, 'node_modules/turnlatch/dist/turnlatch_bg.wasm'), join(folder, 'out/turnlatch_bg.wasm'));
	writeFileSync(join(folder, 'out/index.html'), HTML);
	return expectRun(await open(join(folder, 'out')));
}

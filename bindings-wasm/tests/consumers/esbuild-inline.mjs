import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expectRun, HTML, INLINE, PAGE } from './app.mjs';

/** With the wasm inside there is nothing to copy. */
export async function run({ folder, open }) {
	writeFileSync(join(folder, 'app.js'), INLINE);
	writeFileSync(join(folder, 'page.js'), PAGE);
	await build({
		absWorkingDir: folder,
		entryPoints: ['page.js'],
		outdir: 'out',
		bundle: true,
		minify: true,
		format: 'esm',
	});
	writeFileSync(join(folder, 'out/index.html'), HTML);
	return expectRun(await open(join(folder, 'out')));
}

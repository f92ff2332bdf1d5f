// Sizes of what a browser downloads, beside xstate and ajv bundled the same way. With --check it fails over the budget.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/** Brotli bytes of wasm and JavaScript together. */
const BUDGET = 560_000;
const root = join(dirname(fileURLToPath(import.meta.url)), '..');

const sizes = (bytes) => ({
	raw: bytes.length,
	gzip: gzipSync(bytes, { level: 9 }).length,
	brotli: brotliCompressSync(bytes, {
		params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
	}).length,
});
const sum = (parts) => {
	const total = { raw: 0, gzip: 0, brotli: 0 };
	for (const part of parts) for (const form of Object.keys(total)) total[form] += part[form];
	return total;
};
async function bundle(code) {
	const { outputFiles } = await build({
		stdin: { contents: code, resolveDir: root },
		bundle: true,
		minify: true,
		format: 'esm',
		platform: 'browser',
		write: false,
	});
	return Buffer.from(outputFiles[0].contents);
}

const wasm = sizes(readFileSync(join(root, 'dist/turnlatch_bg.wasm')));
const script = sizes(await bundle("export * from './dist/web.js'"));
const full = sum([wasm, script]);
const rows = { 'turnlatch_bg.wasm': wasm, 'turnlatch, minified': script, 'turnlatch in a browser': full };
if (!process.argv.includes('--check')) {
	if (!readdirSync(join(root, 'node_modules')).includes('xstate')) throw new Error('run make setup-js first');
	rows['xstate 5'] = sizes(await bundle("export { createActor, createMachine } from 'xstate'"));
	rows['ajv 2020-12'] = sizes(await bundle("export { default } from 'ajv/dist/2020.js'"));
	const both = "export { createActor, createMachine } from 'xstate'; export { default } from 'ajv/dist/2020.js'";
	rows['xstate 5 and ajv 2020-12'] = sizes(await bundle(both));
}
console.table(rows);
if (full.brotli > BUDGET) {
	console.error(`the browser build has ${full.brotli} bytes, ${full.brotli - BUDGET} over its budget of ${BUDGET}`);
	process.exitCode = 1;
} else {
	console.log(`the browser build is ${BUDGET - full.brotli} bytes under its budget of ${BUDGET}`);
}

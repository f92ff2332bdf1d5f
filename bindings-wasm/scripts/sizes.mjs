// Sizes of what a browser downloads, beside xstate and ajv bundled the same way. With --check it fails over the budget, with
// --json it prints nothing but data.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/** Brotli bytes of wasm and JavaScript together. */
const BUDGETS = { full: 600_000, slim: 150_000 };
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

async function inBrowser(name, wasmFile, entry) {
	const wasm = sizes(readFileSync(join(root, 'dist', wasmFile)));
	const script = sizes(await bundle(`export * from './dist/${entry}.js'`));
	const both = sum([wasm, script]);
	rows[wasmFile] = wasm;
	rows[`${name}, its script minified`] = script;
	rows[`${name} in a browser`] = both;
	return both.brotli;
}

const rows = {};
const found = {
	full: await inBrowser('turnlatch', 'turnlatch_bg.wasm', 'web'),
	slim: await inBrowser('turnlatch/slim', 'turnlatch_slim_bg.wasm', 'slim'),
};
if (!process.argv.includes('--check')) {
	if (!readdirSync(join(root, 'node_modules')).includes('xstate')) throw new Error('run make setup-js first');
	rows['xstate 5'] = sizes(await bundle("export { createActor, createMachine } from 'xstate'"));
	rows['ajv 2020-12'] = sizes(await bundle("export { default } from 'ajv/dist/2020.js'"));
	const both = "export { createActor, createMachine } from 'xstate'; export { default } from 'ajv/dist/2020.js'";
	rows['xstate 5 and ajv 2020-12'] = sizes(await bundle(both));
}
if (process.argv.includes('--json')) {
	console.log(JSON.stringify(rows));
	process.exit();
}
console.table(rows);
for (const [name, budget] of Object.entries(BUDGETS)) {
	const left = budget - found[name];
	console.log(`${name}: ${Math.abs(left)} bytes ${left < 0 ? 'over' : 'under'} its budget of ${budget}`);
	if (left < 0) process.exitCode = 1;
}

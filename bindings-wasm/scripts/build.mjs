// Puts the package together in dist/: the glue and wasm that `cargo run --package xtask -- wasm` made, the bundles, the types.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const small = join(root, 'build/wasm-size');
const fast = join(root, 'build/wasm-speed');
const slim = join(root, 'build/wasm-slim');

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
cpSync(join(small, 'turnlatch_bg.wasm'), join(dist, 'turnlatch_bg.wasm'));
cpSync(join(fast, 'turnlatch_bg.wasm'), join(dist, 'turnlatch_node.wasm'));
cpSync(join(slim, 'turnlatch_bg.wasm'), join(dist, 'turnlatch_slim_bg.wasm'));
for (const file of ['LICENSE-APACHE', 'LICENSE-MIT']) cpSync(join(root, '..', file), join(root, file));

const shared = {
	absWorkingDir: root,
	bundle: true,
	outdir: dist,
	target: 'es2022',
	sourcemap: true,
	// Readable in a stack trace and small all the same; bundlers shorten the names.
	minifyWhitespace: true,
	minifySyntax: true,
	keepNames: true,
	logLevel: 'warning',
	tsconfig: 'tsconfig.json',
};
const inlineWasm = {
	name: 'inline-wasm',
	setup(plugins) {
		plugins.onResolve({ filter: /^inline:wasm$/ }, () => ({ path: 'wasm', namespace: 'inline' }));
		plugins.onLoad({ filter: /.*/, namespace: 'inline' }, () => ({
			contents: readFileSync(join(small, 'turnlatch_bg.wasm')).toString('base64'),
			loader: 'text',
		}));
	},
};
await build({
	...shared,
	entryPoints: ['js/web.ts', 'js/workerd.ts', 'js/inline.ts'],
	format: 'esm',
	splitting: true,
	chunkNames: 'shared-[hash]',
	alias: { 'turnlatch-glue': join(small, 'turnlatch.js') },
	external: ['*.wasm'],
	plugins: [inlineWasm],
});
await build({
	...shared,
	entryPoints: ['js/slim.ts'],
	format: 'esm',
	alias: { 'turnlatch-glue': join(slim, 'turnlatch.js') },
});
await buildForNode('node', fast);
await buildForNode('slim-node', slim);

/** CommonJS, and a module that hands on the same: `import` and `require` give the same classes and the same instance. */
async function buildForNode(name, glue) {
	await build({
		...shared,
		entryPoints: [`js/${name}.ts`],
		format: 'cjs',
		platform: 'node',
		outExtension: { '.js': '.cjs' },
		alias: { 'turnlatch-glue': join(glue, 'turnlatch.js') },
		// The glue can also find its own wasm, which it is never asked for.
		define: { 'import.meta.url': 'undefined' },
	});
	const names = Object.keys(createRequire(import.meta.url)(join(dist, `${name}.cjs`))).sort();
	writeFileSync(join(dist, `${name}.js`), `export { ${names.join(', ')} } from './${name}.cjs';\n`);
}

writeTypes();

/** One set of types for `import` and the same for `require`, without those of files that nobody can import. */
function writeTypes() {
	execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--project', 'tsconfig.build.json'], {
		cwd: root,
		stdio: 'inherit',
	});
	const offered = ['core', 'engine', 'errors', 'full', 'journal', 'plan', 'public', 'slim', 'types', 'validator'];
	cpSync(join(dist, 'web.d.ts'), join(dist, 'index.d.ts'));
	for (const file of readdirSync(dist).filter((name) => name.endsWith('.d.ts'))) {
		const name = file.slice(0, -'.d.ts'.length);
		if (name !== 'index' && !offered.includes(name)) {
			rmSync(join(dist, file));
			continue;
		}
		const text = readFileSync(join(dist, file), 'utf8');
		writeFileSync(join(dist, `${name}.d.cts`), text.replace(/(from ')(\.\/\w+)\.js'/g, "$1$2.cjs'"));
	}
}

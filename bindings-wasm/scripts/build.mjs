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
	// Readable in a stack trace and small all the same; bundlers shorten the names. Those of errors stand on their prototypes.
	minifyWhitespace: true,
	minifySyntax: true,
	logLevel: 'warning',
	tsconfig: 'tsconfig.json',
	// Some functions of the core are not in every build, and are asked for before they are called.
	logOverride: { 'import-is-undefined': 'silent' },
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
	entryPoints: {
		web: 'js/web.ts',
		workerd: 'js/workerd.ts',
		inline: 'js/inline.ts',
		driver: 'js/driver/index.ts',
		indexeddb: 'js/browser/indexeddb-store.ts',
	},
	format: 'esm',
	splitting: true,
	chunkNames: 'shared-[hash]',
	alias: { 'turnlatch-glue': join(small, 'turnlatch.js') },
	external: ['*.wasm'],
	plugins: [inlineWasm],
});
// A map of the wasm in base64 is of no use to debuggers and would be the largest file of the package.
rmSync(join(dist, 'inline.js.map'));
const inline = readFileSync(join(dist, 'inline.js'), 'utf8');
writeFileSync(join(dist, 'inline.js'), inline.replace(/^\/\/# sourceMappingURL=.*$/m, ''));
await build({
	...shared,
	entryPoints: ['js/slim.ts'],
	format: 'esm',
	alias: { 'turnlatch-glue': join(slim, 'turnlatch.js') },
});
await buildForNode('node', 'js/node.ts', {}, fast);
await buildForNode('slim-node', 'js/slim-node.ts', {}, slim);
await buildForNode('driver', 'js/driver/index.ts', { '../public.js': './node.cjs' });
const others = { '../public.js': './node.cjs', '../driver/index.js': './driver.cjs' };
await buildForNode('node-parts', 'js/node/index.ts', others);
await buildForNode('dbos', 'js/dbos/index.ts', others);
await buildForNode('telemetry', 'js/telemetry/index.ts', others);
await buildForNode('supervise', 'js/node/supervise.ts', {});
// `import` and `require` give the same classes and the same instance.
offerToImport('node.cjs', 'node.js');
offerToImport('slim-node.cjs', 'slim-node.js');
offerToImport('driver.cjs', 'driver-node.js');
offerToImport('node-parts.cjs', 'node-parts.js');
offerToImport('dbos.cjs', 'dbos-node.js');
offerToImport('telemetry.cjs', 'telemetry.js');

writeTypes();

/** A file for Node that takes what others offer from them, so that a process has one core and one set of classes. */
async function buildForNode(name, entry, offeredBy, glue) {
	const takeFromOthers = {
		name: 'take-from-others',
		setup(plugins) {
			plugins.onResolve({ filter: /^\.\.\// }, ({ path }) =>
				path in offeredBy ? { path: offeredBy[path], external: true } : undefined,
			);
		},
	};
	await build({
		...shared,
		entryPoints: { [name]: entry },
		// A tenth more, for the sake of what Node prints.
		keepNames: true,
		format: 'cjs',
		platform: 'node',
		outExtension: { '.js': '.cjs' },
		plugins: [takeFromOthers],
		// Optional peers: who uses the entries that need them has installed them; nobody else needs them.
		external: ['@dbos-inc/dbos-sdk', 'pg', '@opentelemetry/api', 'prom-client'],
		...(glue === undefined ? {} : { alias: { 'turnlatch-glue': join(glue, 'turnlatch.js') } }),
		// The glue can also find its own wasm, which it is never asked for.
		define: { 'import.meta.url': 'undefined' },
	});
}

function offerToImport(from, to) {
	const names = Object.keys(createRequire(import.meta.url)(join(dist, from))).sort();
	writeFileSync(join(dist, to), `export { ${names.join(', ')} } from './${from}';\n`);
}

/** One set of types for `import` and the same for `require`, without those of files that nobody can import. */
function writeTypes() {
	execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--project', 'tsconfig.build.json'], {
		cwd: root,
		stdio: 'inherit',
	});
	const offered =
		/^(index|admission|common|errors|hosting|journal|plan|holder|public|ready|run|slim|stream|types|(driver|node|browser|telemetry)\/.+|dbos\/(index|driver))\.d\.ts$/;
	cpSync(join(dist, 'web.d.ts'), join(dist, 'index.d.ts'));
	const files = readdirSync(dist, { recursive: true, encoding: 'utf8' });
	for (const file of files.filter((name) => name.endsWith('.d.ts'))) {
		if (!offered.test(file)) {
			rmSync(join(dist, file));
			continue;
		}
		const text = readFileSync(join(dist, file), 'utf8');
		writeFileSync(join(dist, file.replace(/ts$/, 'cts')), text.replace(/(from '\.\.?\/[\w/-]+)\.js'/g, "$1.cjs'"));
	}
}

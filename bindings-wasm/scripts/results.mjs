// Prints what every vector gave in Node or in Chromium, for `scripts/compare.py`.
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const outfile = join(root, 'build/results.mjs');
await build({
	absWorkingDir: root,
	entryPoints: ['tests/results.ts'],
	outfile,
	bundle: true,
	packages: 'external',
	format: 'esm',
	platform: 'node',
	target: 'node20',
	tsconfigRaw: {},
	logLevel: 'warning',
});
const { inNode, inChromium } = await import(pathToFileURL(outfile).href);
const files = process.argv[2] === 'chromium' ? await inChromium('results') : await inNode();
for (const [path, lines] of Object.entries(files)) for (const line of lines) process.stdout.write(`${path}\t${line}\n`);

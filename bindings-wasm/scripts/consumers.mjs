// Packs the package, installs the tarball into empty projects as users do, and runs each: one file of tests/consumers/ each.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { APP } from '../tests/consumers/app.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const work = mkdtempSync(join(tmpdir(), 'turnlatch-consumers-'));
const wanted = process.argv.slice(2);
const npm = (folder, ...options) =>
	execFileSync('npm', options, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

const [{ filename }] = JSON.parse(npm(root, 'pack', '--json', '--pack-destination', work));
const tarball = join(work, filename);
const names = readdirSync(join(root, 'tests/consumers'))
	.filter((name) => name !== 'app.mjs' && name.endsWith('.mjs'))
	.map((name) => name.slice(0, -'.mjs'.length))
	.filter((name) => wanted.length === 0 || wanted.includes(name))
	.sort();
const browserFile = join(root, 'build/browser.mjs');
await build({
	absWorkingDir: root,
	entryPoints: ['tests/browser.ts'],
	outfile: browserFile,
	bundle: true,
	packages: 'external',
	format: 'esm',
	platform: 'node',
	target: 'node20',
	tsconfigRaw: {},
});
const { serve, browse, resultOf } = await import(pathToFileURL(browserFile).href);

/** What the page of a folder says, in Chromium. */
async function open(folder) {
	const site = await serve(folder, {});
	const browser = await browse();
	try {
		return await resultOf(browser.context, `${site.url}/index.html`);
	} finally {
		await browser.close();
		await site.close();
	}
}

const rows = {};
for (const name of names) {
	const { needs = [], type = 'module', run } = await import(`../tests/consumers/${name}.mjs`);
	const folder = join(work, name);
	mkdirSync(folder);
	writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, private: true, type }));
	try {
		npm(folder, 'install', '--no-audit', '--no-fund', '--prefer-offline', tarball, ...needs);
		writeFileSync(join(folder, 'app.js'), APP);
		rows[name] = {
			works: true,
			tool: needs[0] ?? `node ${process.versions.node}`,
			says: await run({ folder, tarball, open }),
		};
	} catch (error) {
		rows[name] = {
			works: false,
			tool: needs[0] ?? 'node',
			says: String(error.stderr || error.stdout || error.stack).slice(-900),
		};
		process.exitCode = 1;
	}
}
rmSync(work, { recursive: true, force: true });
console.table(
	Object.fromEntries(
		Object.entries(rows).map(([name, { works, tool, says }]) => [name, { works, tool, says: says.slice(0, 60) }]),
	),
);
for (const [name, { works, says }] of Object.entries(rows)) if (!works) console.error(`${name}:\n${says}\n`);

// Packs the package, installs the tarball into empty projects as users do, and runs each: one file of tests/consumers/ each.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Installing is mostly waiting for the registry, so several are tried at a time, each in a process of its own. */
const AT_ONCE = 3;
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const work = mkdtempSync(join(tmpdir(), 'turnlatch-consumers-'));
const wanted = process.argv.slice(2);

const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', work], { cwd: root, encoding: 'utf8' });
const tarball = join(work, JSON.parse(packed)[0].filename);
const names = readdirSync(join(root, 'tests/consumers'))
	.filter((name) => name !== 'app.mjs' && name.endsWith('.mjs'))
	.map((name) => name.slice(0, -'.mjs'.length))
	.filter((name) => wanted.length === 0 || wanted.includes(name))
	.sort();
await build({
	absWorkingDir: root,
	entryPoints: ['tests/browser.ts'],
	outfile: join(root, 'build/browser.mjs'),
	bundle: true,
	packages: 'external',
	format: 'esm',
	platform: 'node',
	target: 'node20',
	tsconfigRaw: {},
});

/** What `consumer.mjs` has found. */
function tried(name) {
	return new Promise((resolve, reject) => {
		const consumer = spawn(process.execPath, [join(root, 'scripts/consumer.mjs'), name, work, tarball], {
			stdio: ['ignore', 'pipe', 'inherit'],
		});
		let said = '';
		consumer.stdout.setEncoding('utf8').on('data', (text) => {
			said += text;
		});
		consumer.on('error', reject);
		consumer.on('close', (code) => {
			if (code === 0) resolve(JSON.parse(said));
			else resolve({ works: false, tool: name, says: `consumer.mjs ended with ${code}` });
		});
	});
}

const rows = {};
const left = [...names];
await Promise.all(
	Array.from({ length: AT_ONCE }, async () => {
		for (let name = left.shift(); name !== undefined; name = left.shift()) rows[name] = await tried(name);
	}),
);
rmSync(work, { recursive: true, force: true });
console.table(
	Object.fromEntries(
		names.map((name) => [name, { works: rows[name].works, tool: rows[name].tool, says: rows[name].says.slice(0, 60) }]),
	),
);
for (const name of names) {
	if (rows[name].works) continue;
	console.error(`${name}:\n${rows[name].says}\n`);
	process.exitCode = 1;
}

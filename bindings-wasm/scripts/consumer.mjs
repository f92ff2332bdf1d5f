// Installs the packed package into one empty project, runs it there, and prints what came of it: `consumer.mjs NAME FOLDER TARBALL`.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { APP } from '../tests/consumers/app.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [name, work, tarball] = process.argv.slice(2);
const { needs = [], type = 'module', run } = await import(`../tests/consumers/${name}.mjs`);
const { serve, browse, resultOf } = await import(pathToFileURL(join(root, 'build/browser.mjs')).href);

/** What the page of a folder says, in Chromium. */
async function open(folder) {
	const site = await serve(folder, {});
	try {
		return await visit(`${site.url}/index.html`);
	} finally {
		await site.close();
	}
}

/** What the page of an address says, in Chromium. */
async function visit(url) {
	const browser = await browse();
	try {
		return await resultOf(browser.context, url);
	} finally {
		await browser.close();
	}
}

async function tried() {
	const folder = join(work, name);
	mkdirSync(folder);
	writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, private: true, type }));
	try {
		execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', tarball, ...needs], {
			cwd: folder,
			encoding: 'utf8',
			stdio: ['ignore', 'pipe', 'pipe'],
		});
		writeFileSync(join(folder, 'app.js'), APP);
		const says = await run({ folder, tarball, open, visit });
		return { works: true, tool: needs[0] ?? `node ${process.versions.node}`, says };
	} catch (error) {
		const says = String(error.stderr || error.stdout || error.stack).slice(-900);
		return { works: false, tool: needs[0] ?? 'node', says };
	}
}

console.log(JSON.stringify(await tried()));

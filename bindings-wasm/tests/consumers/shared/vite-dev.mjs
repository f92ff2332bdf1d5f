// The dev server of Vite, which serves modules in another way than it bundles them.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { APP, expectRun, HTML, PAGE } from '../app.mjs';

const WASM = 'turnlatch_bg.wasm';
const BY_ADDRESS = APP.replace('await init()', 'await init(url)').concat(`import url from 'turnlatch/${WASM}?url';\n`);

/** What a page says that is served from a project, with nothing kept of earlier ones. */
async function served({ folder, visit }, { root = folder, app = APP, config = {} } = {}) {
	writeFileSync(join(root, 'app.js'), app);
	writeFileSync(join(root, 'page.js'), PAGE);
	// A browser asks for an icon otherwise, and an answer of 404 counts as an error here.
	writeFileSync(join(root, 'index.html'), HTML.replace('<title>', '<link rel="icon" href="data:,"><title>'));
	rmSync(join(root, 'node_modules/.vite'), { recursive: true, force: true });
	const vite = await import(pathToFileURL(join(folder, 'node_modules/vite/dist/node/index.js')).href);
	const server = await vite.createServer({
		root,
		configFile: false,
		logLevel: 'silent',
		server: { host: '127.0.0.1', port: 0 },
		...config,
	});
	try {
		await server.listen();
		return await visit(server.resolvedUrls.local[0]);
	} finally {
		await server.close();
	}
}

/** A member of a workspace, whose packages are installed in the folder above. */
function memberOf(folder) {
	const root = join(folder, 'member');
	mkdirSync(root);
	const project = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
	writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...project, workspaces: ['member'] }));
	writeFileSync(join(root, 'package.json'), JSON.stringify({ name: 'member', private: true, type: 'module' }));
	return root;
}

/** A page on the slim entry, which shows the run that the others make. */
async function showing(folder) {
	const { admit, Run } = await import(pathToFileURL(join(folder, 'node_modules/turnlatch/dist/node.js')).href);
	const skill = { runner: {}, output_schema: { type: 'object', required: ['file'] } };
	const [run] = Run.create(admit(skill, { run_id: 'r1', engine: 'codex' }, { engines: ['codex'] }), 0);
	run.apply({ type: 'slot_granted', slot_id: 'r1/s1' }, 1);
	run.apply({ type: 'turn_finished', attempt_number: 1, text: '{"file": "b.txt"}' }, 2);
	return `import { Run, init } from 'turnlatch/slim';
		export async function main() {
			await init();
			const run = Run.restore(${JSON.stringify(run.snapshot())});
			return run.status + ' ' + run.statusView().data.file;
		}`;
}

/** Without configuration, and in a workspace with each of the two lines that the README has. */
export async function works(consumer) {
	for (const app of [APP, await showing(consumer.folder)]) expectRun(await served(consumer, { app }));
	const root = memberOf(consumer.folder);
	expectRun(await served(consumer, { root, config: { optimizeDeps: { exclude: ['turnlatch'] } } }));
	expectRun(await served(consumer, { root, app: BY_ADDRESS }));
	return { root };
}

/** In a workspace the wasm is not found, and the page's error says what to write. */
export async function explains(consumer, root) {
	try {
		await served(consumer, { root });
	} catch (error) {
		const needed = [WASM, 'found text/html, status 200', "optimizeDeps: { exclude: ['turnlatch'] }", `${WASM}?url`];
		if (needed.every((part) => error.message.includes(part))) return;
		throw error;
	}
	throw new Error('the wasm was found, though it is not there');
}

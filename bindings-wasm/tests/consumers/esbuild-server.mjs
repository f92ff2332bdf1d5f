import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expectRun } from './app.mjs';

const SERVER = `import { main } from './app.js';
import { Driver } from 'turnlatch/driver';
import { SubprocessRunner } from 'turnlatch/node';

if (typeof Driver !== 'function' || typeof SubprocessRunner !== 'function') throw new Error('something is missing');
main().then(console.log);
`;

/** The package reads its wasm and its supervisor from its own folder, so a server's bundle leaves it there. */
export async function run({ folder }) {
	writeFileSync(join(folder, 'server.js'), SERVER);
	const says = [];
	for (const [format, extension] of [
		['esm', '.mjs'],
		['cjs', '.cjs'],
	]) {
		await build({
			absWorkingDir: folder,
			entryPoints: ['server.js'],
			outdir: 'out',
			outExtension: { '.js': extension },
			bundle: true,
			platform: 'node',
			format,
			external: ['turnlatch'],
		});
		const server = join(folder, `out/server${extension}`);
		says.push(expectRun(execFileSync(process.execPath, [server], { cwd: folder, encoding: 'utf8' })));
	}
	return says.join(', ');
}

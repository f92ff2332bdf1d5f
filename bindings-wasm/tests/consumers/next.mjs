import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXPECTED } from './app.mjs';

export const needs = ['next@16.4.6', 'react@19.3.1', 'react-dom@19.3.1'];

const FILES = {
	'next.config.js': "export default { serverExternalPackages: ['turnlatch'] };\n",
	'app/layout.js': 'export default ({ children }) => <html lang="en"><body>{children}</body></html>;\n',
	'app/page.js': "import { main } from '../app.js';\nexport default async () => <p>{await main()}</p>;\n",
};

/** The page is rendered on the server when it is built, by what the server's bundle imports. */
export function run({ folder }) {
	mkdirSync(join(folder, 'app'));
	for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
	const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1' };
	const next = join(folder, 'node_modules/next/dist/bin/next');
	execFileSync(process.execPath, [next, 'build'], { cwd: folder, encoding: 'utf8', stdio: 'pipe', env });
	const page = readFileSync(join(folder, '.next/server/app/index.html'), 'utf8');
	if (!page.includes(`<p>${EXPECTED}</p>`)) throw new Error(page);
	return EXPECTED;
}

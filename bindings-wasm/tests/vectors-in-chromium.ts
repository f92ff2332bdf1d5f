/** Runs the vectors in a page, with the package as a browser loads it: modules by themselves, no bundler for it. */

import { build } from 'esbuild';
import { browse, resultOf, serve } from './browser.js';
import { PACKAGE, vectorFiles } from './files.js';

/** What the vectors of each file gave, as lines of canonical JSON; or where they do not hold. */
export async function inChromium(what: 'results' | 'broken'): Promise<Record<string, string[]>> {
	const { outputFiles } = await build({
		absWorkingDir: PACKAGE,
		entryPoints: ['tests/vectors-page.ts'],
		bundle: true,
		write: false,
		format: 'esm',
		target: 'es2022',
		tsconfigRaw: {},
		alias: { turnlatch: '/dist/web.js' },
		external: ['/dist/*'],
	});
	const site = await serve(PACKAGE, {
		'/': '<!doctype html><title>vectors</title><script type="module" src="/page.js"></script>',
		'/page.js': outputFiles[0]?.text ?? '',
		'/vectors.json': JSON.stringify({ files: vectorFiles(), print: what === 'results' }),
	});
	const browser = await browse();
	try {
		return (await resultOf(browser.context, `${site.url}/`)) as Record<string, string[]>;
	} finally {
		await browser.close();
		await site.close();
	}
}

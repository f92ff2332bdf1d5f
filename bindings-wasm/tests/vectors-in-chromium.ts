/** Runs the vectors in a page, with the package as a browser loads it: modules by themselves, no bundler for it. */

import { build } from 'esbuild';
import { browse, resultOf, serve } from './browser.js';
import { PACKAGE, type VectorText, vectorFiles } from './files.js';
import type { Forms } from './vectors-runner.js';

/** What the vectors of each file gave, as lines of canonical JSON; or where they do not hold. */
export async function inChromium(
	what: 'results' | 'broken',
	files: VectorText[] = vectorFiles(),
	forms: Forms = 'data and text',
): Promise<Record<string, string[]>> {
	const pages = { '/vectors.json': JSON.stringify({ files, forms, print: what === 'results' }) };
	return (await resultOfPage('tests/vectors-page.ts', pages)) as Record<string, string[]>;
}

/** What a script of these tests says in a page of its own, which may ask for `pages`. */
export async function resultOfPage(script: string, pages: Record<string, string>): Promise<unknown> {
	const { outputFiles } = await build({
		absWorkingDir: PACKAGE,
		entryPoints: [script],
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
		...pages,
	});
	const browser = await browse();
	try {
		return await resultOf(browser.context, `${site.url}/`);
	} finally {
		await browser.close();
		await site.close();
	}
}

/** Chromium, and pages for it that are served from this machine with a strict policy. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';
import { PACKAGE } from './files.js';

/** What a page needs to be allowed for turnlatch, and nothing more. */
export const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";

const TYPES: Record<string, string> = {
	'.html': 'text/html; charset=utf-8',
	'.js': 'text/javascript',
	'.mjs': 'text/javascript',
	'.json': 'application/json',
	'.wasm': 'application/wasm',
};
const PROGRAMS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export interface Site {
	readonly url: string;
	close(): Promise<void>;
}

/** Serves files of a folder; `pages` stand before them. With an empty policy, a page has only its own. */
export async function serve(
	folder: string,
	pages: Readonly<Record<string, string>>,
	policy: string = POLICY,
	headers: Readonly<Record<string, string>> = {},
): Promise<Site> {
	const server: Server = createServer((request, response) => {
		const path = normalize(new URL(request.url ?? '/', 'http://localhost').pathname);
		const file = join(folder, path);
		const page = pages[path];
		if (page === undefined && !(extname(file) in TYPES && existsSync(file))) {
			response.writeHead(404).end();
			return;
		}
		const type = TYPES[extname(path)] ?? 'text/html; charset=utf-8';
		const allowed = policy === '' ? {} : { 'content-security-policy': policy };
		response.writeHead(200, { 'content-type': type, ...allowed, ...headers });
		response.end(page ?? readFileSync(file));
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		close: () => new Promise((resolve) => server.close(() => resolve())),
	};
}

/** A browser of its own with nothing in it. `CHROMIUM` names the program, if it is not where systems put it. */
export async function browse(): Promise<{ context: BrowserContext; close(): Promise<void> }> {
	const program = process.env.CHROMIUM ?? PROGRAMS.find((path) => existsSync(path));
	if (program === undefined) throw new Error('there is no Chromium: install it, or name it in CHROMIUM');
	const profile = mkdtempSync(join(tmpdir(), 'turnlatch-chromium-'));
	const context = await chromium.launchPersistentContext(profile, {
		executablePath: program,
		headless: true,
		args: [
			'--no-sandbox',
			'--disable-gpu',
			'--disable-quic',
			'--no-first-run',
			'--disable-background-networking',
			'--disable-component-update',
			'--disable-sync',
		],
	});
	return {
		context,
		close: async () => {
			await context.close();
			rmSync(profile, { recursive: true, force: true });
		},
	};
}

/** Opens a page and gives what its script says: `globalThis.done`, or its first error. */
export async function resultOf(context: BrowserContext, url: string): Promise<unknown> {
	const page = await context.newPage();
	const errors: string[] = [];
	page.on('pageerror', (error) => errors.push(error.stack ?? String(error)));
	page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
	page.on('response', (response) => response.status() >= 400 && errors.push(`${response.status()} ${response.url()}`));
	await page.goto(url);
	const told = () =>
		page.waitForFunction(() => (globalThis as { done?: unknown }).done, undefined, { timeout: 1_200_000 });
	const failed = async () => {
		while (errors.length === 0 && !page.isClosed()) await new Promise((resolve) => setTimeout(resolve, 50));
		throw new Error(errors.join('\n'));
	};
	try {
		return await (await Promise.race([told(), failed()])).jsonValue();
	} finally {
		await page.close();
	}
}

/** What a module script says in a page of its own, with the package's files beside it and nothing else. */
export async function resultOfScript(script: string): Promise<unknown> {
	const page = '<!doctype html><title></title><script type="module" src="/page.js"></script>';
	const site = await serve(PACKAGE, { '/': page, '/page.js': script });
	const browser = await browse();
	try {
		return await resultOf(browser.context, `${site.url}/`);
	} finally {
		await browser.close();
		await site.close();
	}
}

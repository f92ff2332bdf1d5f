/** Which page is shown: the part of the address behind `#`, so that a service needs to know only one page. */

import { computed, signal } from '@preact/signals';

export type Route =
	| { page: 'runs'; query: URLSearchParams }
	| { page: 'run'; runId: string }
	| { page: 'new' }
	| { page: 'file' };

const hash = signal(location.hash);
addEventListener('hashchange', () => {
	hash.value = location.hash;
});

export const route = computed<Route>(() => {
	const [path = '', query = ''] = hash.value.replace(/^#\/?/, '').split('?', 2);
	const [page, ...rest] = path.split('/');
	if (page === 'runs' && rest.length === 1 && rest[0]) return { page: 'run', runId: decoded(rest[0]) };
	if (page === 'new' || page === 'file') return { page };
	return { page: 'runs', query: new URLSearchParams(query) };
});

export const runHref = (runId: string): string => `#/runs/${encodeURIComponent(runId)}`;

export function go(href: string): void {
	location.hash = href;
}

/** Changes the address without a new entry in the browser's history, as filters do. */
export function replaceHref(href: string): void {
	history.replaceState(null, '', href);
	hash.value = location.hash;
}

function decoded(part: string): string {
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}

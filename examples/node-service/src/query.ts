/** Query strings, read strictly. */

import { NotServed } from './errors.js';

/** The members of a query string, each at most once, or `QUERY_INVALID`. */
export function readMembers(query: string, ...known: string[]): Map<string, string> {
	const fields = query.split('&');
	if (fields.length > known.length + 1 || !/^[\0-\x7f]*$/.test(query)) throw unreadable();
	const members = new Map<string, string>();
	for (const field of fields.filter((text) => text !== '')) {
		const equals = field.indexOf('=');
		const name = decoded(equals < 0 ? field : field.slice(0, equals));
		if (members.has(name) || !known.includes(name)) {
			const expected = known.join(', ');
			const message = `the query has each of these members at most once, and no others: ${expected}`;
			throw new NotServed('QUERY_INVALID', message);
		}
		members.set(name, equals < 0 ? '' : decoded(field.slice(equals + 1)));
	}
	return members;
}

function decoded(text: string): string {
	// A percent sign that begins no escape stands for itself.
	const escaped = text.replaceAll('+', ' ').replaceAll(/%(?![0-9A-Fa-f]{2})/g, '%25');
	try {
		return decodeURIComponent(escaped);
	} catch {
		throw unreadable();
	}
}

function unreadable(): NotServed {
	return new NotServed('QUERY_INVALID', 'the query cannot be read');
}

/** What a careful forger does to a snapshot or journal (`tests/README.md`). */

import { compact, read } from './exact-json.js';

interface JournalDocument {
	run_id: string;
	head: string;
	entries: { revision: number; at: unknown; event: unknown; chain: string }[];
}

/** A journal with these of its entries, counted from 1, in this order. */
export function reorder(text: string, order: readonly number[]): string {
	const document = read(text) as JournalDocument;
	return compact({ ...document, entries: order.map((number) => document.entries[number - 1]) });
}

/** Gives an edited snapshot a digest that fits. */
export async function resignSnapshot(text: string): Promise<string> {
	const start = text.indexOf('"run":') + '"run":'.length;
	const old = /"digest":"([^"]*)"/.exec(text.slice(0, start))?.[1] ?? '';
	return text.replace(old, await digest('turnlatch snapshot', text.slice(start, -1)));
}

/** Gives an edited journal revisions, links and a head that fit. */
export async function resignJournal(text: string): Promise<string> {
	const document = read(text) as JournalDocument;
	let head = document.run_id;
	for (const [index, entry] of document.entries.entries()) {
		entry.revision = index + 1;
		head = await digest('turnlatch journal', head, compact([entry.revision, entry.at, entry.event]));
		entry.chain = head;
	}
	document.head = head;
	return compact(document);
}

/** The SHA-256 digest of these parts, each with its length before it as eight bytes, least first. */
async function digest(...parts: string[]): Promise<string> {
	const bytes = parts.flatMap((part) => {
		const text = new TextEncoder().encode(part);
		const length = new DataView(new ArrayBuffer(8));
		length.setBigUint64(0, BigInt(text.length), true);
		return [...new Uint8Array(length.buffer), ...text];
	});
	const sum = await crypto.subtle.digest('SHA-256', Uint8Array.from(bytes));
	return [...new Uint8Array(sum)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

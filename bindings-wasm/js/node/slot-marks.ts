/**
 * Files that say, across hosts, in which slots something of a process may still live (Linux).
 *
 * A file with the mark of the process is written before its supervisor is started, and both carry the mark in their
 * environment. So a host that finds the file of an earlier one knows what to look for, whenever that one was killed.
 */

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isOutOfResources } from '../driver/resources.js';
import { livingProcesses } from './marked.js';

const LOOK_AGAIN_MS = 10;

/** The marks in one folder, which belongs to one host and to those that take its place one after the other. */
export class SlotMarks {
	readonly #folder: string;
	readonly #patienceMs: number;
	readonly #own = new Set<string>();

	constructor(folder: string, patienceMs: number) {
		if (process.platform !== 'linux') throw new TypeError('marks need Linux: processes are found in /proc');
		// The supervisor removes the file, and may work in another directory.
		this.#folder = resolve(folder);
		this.#patienceMs = patienceMs;
		mkdirSync(this.#folder, { recursive: true });
	}

	/** Waits until the slot is free and marks it. The path of its file. */
	async take(slotId: string, mark: string): Promise<string> {
		await this.free(slotId);
		const path = this.#path(slotId);
		this.#own.add(path);
		writeFileSync(path, mark, { mode: 0o600 });
		return path;
	}

	/** The process of this host in the slot is gone; its supervisor may have been killed before it could tidy up. */
	forget(slotId: string): void {
		const path = this.#path(slotId);
		this.#own.delete(path);
		rmSync(path, { force: true });
	}

	/** Waits until nothing lives in the slot that an earlier host has started there. */
	async free(slotId: string): Promise<void> {
		await this.#free(this.#path(slotId));
	}

	/** Waits until nothing lives that an earlier host has started. */
	async allFree(): Promise<void> {
		for (const name of readdirSync(this.#folder)) {
			if (name.endsWith('.mark')) await this.#free(join(this.#folder, name));
		}
	}

	/** Ids are made of what clients sent, so they are no names of files. */
	#path(slotId: string): string {
		return join(this.#folder, `${createHash('sha256').update(slotId).digest('hex')}.mark`);
	}

	async #free(path: string): Promise<void> {
		const end = performance.now() + this.#patienceMs;
		while (!this.#own.has(path)) {
			const mark = markIn(path);
			if (mark === undefined) return;
			// A host that was killed before it had written the mark has started nothing.
			if (mark === '' || livingProcesses(mark).length === 0) return rmSync(path, { force: true });
			if (performance.now() > end) throw new Error(`${path}: another host with this folder is running`);
			await sleep(LOOK_AGAIN_MS);
		}
	}
}

function markIn(path: string): string | undefined {
	try {
		return readFileSync(path, 'utf8');
	} catch (error) {
		if (isOutOfResources(error)) throw error;
		return undefined;
	}
}

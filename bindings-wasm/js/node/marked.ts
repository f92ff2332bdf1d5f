/** Finds processes by what Linux says of them in `/proc`. */

import { readdirSync, readFileSync } from 'node:fs';
import { isOutOfResources } from '../driver/resources.js';

/** The name of the variable by which everything that a turn has started is found again. */
export const MARK = 'TURNLATCH_PROCESS';

export interface Found {
	readonly pid: number;
	readonly group: number;
}

/**
 * The living processes that carry this mark in their environment or belong to this group. Where there is no `/proc` it
 * finds nothing; a host that has no descriptor left to look throws.
 */
export function livingProcesses(mark: string, group?: number): Found[] {
	const found: Found[] = [];
	for (const name of namesIn('/proc')) {
		if (!/^\d+$/.test(name)) continue;
		const stat = bytesOf(`/proc/${name}/stat`).toString('latin1');
		// The second field, in parentheses, is the program's name and may contain anything.
		const [state, , inGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
		if (state === undefined || state === '' || 'ZX'.includes(state)) continue;
		if (Number(inGroup) === group || bytesOf(`/proc/${name}/environ`).includes(`${MARK}=${mark}`)) {
			found.push({ pid: Number(name), group: Number(inGroup) });
		}
	}
	return found;
}

function namesIn(folder: string): string[] {
	try {
		return readdirSync(folder);
	} catch (error) {
		if (isOutOfResources(error)) throw error;
		return [];
	}
}

/** Nothing, if it may not be read or is gone by now. */
function bytesOf(path: string): Buffer {
	try {
		return readFileSync(path);
	} catch (error) {
		if (isOutOfResources(error)) throw error;
		return Buffer.alloc(0);
	}
}

/**
 * What a service of the other language may have left in a data folder: after its SIGKILL, its agents take some
 * milliseconds to end, and no turn may run beside one of them. What a service of this language left, the package's own
 * runner waits for.
 */

import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_AGAIN_MS = 10;
/** As long as a process that is killed gets to end, and a little more. */
const PATIENCE_MS = 14_000;

/** Waits until nobody holds the locks in the folder, each of which is held as long as something of an agent lives. */
export async function predecessorGone(locks: string): Promise<void> {
	const end = performance.now() + PATIENCE_MS;
	for (const name of await readdir(locks)) {
		if (!name.endsWith('.lock')) continue;
		const path = join(locks, name);
		while (await isHeld(path)) {
			if (performance.now() > end) throw new Error(`${path} is still locked: another service is running`);
			await sleep(LOOK_AGAIN_MS);
		}
		await rm(path, { force: true });
	}
}

/** Node cannot ask for such a lock itself; Linux lists who has one, by the file's number on its disk. */
async function isHeld(path: string): Promise<boolean> {
	const file = await stat(path).catch(() => undefined);
	if (file === undefined) return false;
	const held = await readFile('/proc/locks', 'utf8').catch(() => '');
	return held.split('\n').some((line) => line.includes(' FLOCK ') && line.includes(`:${file.ino} `));
}

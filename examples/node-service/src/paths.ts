/** Where paths really lead. */

import { realpath, stat } from 'node:fs/promises';
import { sep } from 'node:path';

/** The path with every link followed; `undefined` if nothing is there. */
export async function realPath(path: string): Promise<string | undefined> {
	return realpath(path).catch(() => undefined);
}

/** The real path of a file that lies in a folder (given as its real path), links followed; `undefined` if there is none. */
export async function realFileIn(folder: string, path: string): Promise<string | undefined> {
	const found = await realPath(path);
	if (found === undefined || !isIn(folder, found)) return undefined;
	return (await stat(found)).isFile() ? found : undefined;
}

/** Whether a real path is a folder or lies in it. */
export function isIn(folder: string, path: string): boolean {
	return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

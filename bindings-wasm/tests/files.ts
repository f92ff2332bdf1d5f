/** Where things are, for the tests that run in Node. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of the package. */
export const PACKAGE = upwards(import.meta.dirname, 'Cargo.toml');
/** The folder of the repository. */
export const ROOT = upwards(PACKAGE, join('docs', 'spec.md'));
/** The Python that `make setup-python` has given the package to. */
export const PYTHON = join(ROOT, '.venv', 'bin', 'python');

/** A file of vectors, and where it stands. */
export interface VectorText {
	path: string;
	text: string;
}

/** Every file of vectors, in order. */
export function vectorFiles(): VectorText[] {
	return filesBelow(join(ROOT, 'tests', 'vectors'));
}

/** Every attack, a file of one vector each, in order. */
export function attackFiles(): VectorText[] {
	return filesBelow(join(ROOT, 'tests', 'adversarial'));
}

function filesBelow(folder: string): VectorText[] {
	const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.json'));
	return paths.sort().map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }));
}

function upwards(from: string, holds: string): string {
	return existsSync(join(from, holds)) ? from : upwards(dirname(from), holds);
}

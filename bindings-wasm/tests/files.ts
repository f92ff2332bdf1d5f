/** Where things are, for the tests that run in Node. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of the package. */
export const PACKAGE = upwards(import.meta.dirname, 'Cargo.toml');
/** The folder of the repository. */
export const ROOT = upwards(PACKAGE, join('docs', 'spec.md'));
/** The Python that `make setup-python` has given the package to. */
export const PYTHON = join(ROOT, '.venv', 'bin', 'python');

/** Every file of vectors, in order. */
export function vectorFiles(): { path: string; text: string }[] {
	const vectors = join(ROOT, 'tests', 'vectors');
	const paths = readdirSync(vectors, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.json'));
	return paths.sort().map((path) => ({ path, text: readFileSync(join(vectors, path), 'utf8') }));
}

function upwards(from: string, holds: string): string {
	return existsSync(join(from, holds)) ? from : upwards(dirname(from), holds);
}

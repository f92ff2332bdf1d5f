/** What a gate of `make test` counted, left in `target/gates` for `scripts/gates.py`, which prints all of them as one table. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './files.js';

/** Leaves what a gate counted, once it has held: a gate that leaves nothing is taken for one that failed. */
export function report(gate: string, runtime: 'node' | 'chromium', counts: Record<string, number>): void {
	const folder = join(ROOT, 'target', 'gates');
	mkdirSync(folder, { recursive: true });
	writeFileSync(join(folder, `${gate}.${runtime}.json`), JSON.stringify({ counts }));
}

/** What an agent left behind beside its words. */

import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { TurnReport } from 'turnlatch';
import { isIn } from './paths.js';

/** The report with those of the required artifacts that are there. */
export function withArtifacts(report: TurnReport, work: string, required: readonly string[]): TurnReport {
	const artifacts = required.filter((path) => isThere(work, path));
	return artifacts.length > 0 ? { ...report, artifacts } : report;
}

function isThere(work: string, path: string): boolean {
	try {
		const found = realpathSync(resolve(work, path));
		return isIn(realpathSync(work), found) && statSync(found).isFile();
	} catch {
		return false;
	}
}

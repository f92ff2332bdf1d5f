/** What random scripts come to (`tests/README.md`), in Node and in a page alike. */

import type * as turnlatch from 'turnlatch';
import { compact, define, read } from './exact-json.js';
import { admission, type Package, refused, Stage, type Thrown } from './vectors-runner.js';

export interface Script {
	given: Record<string, unknown>;
	at: number;
	events: Thrown[];
}

/** How many scripts came to the same, with how many events; and the first that did not. */
export interface Compared {
	scripts: number;
	events: number;
	differing?: { script: Script; told: string[] };
}

/** Carries out every script, a line each, until the digest of one is not the one beside it. */
export async function compare(core: Package, lines: readonly string[]): Promise<Compared> {
	const compared: Compared = { scripts: 0, events: 0 };
	const plans = new Map<string, turnlatch.Plan>();
	for (let start = 0; start < lines.length; start += BATCH) {
		const batch = lines.slice(start, start + BATCH).map((line) => {
			const { sha256, script } = read(line) as { sha256: string; script: Script };
			const told = transcript(core, script, plans);
			return { sha256, script, told, found: digest(told) };
		});
		for (const { sha256, script, told, found } of batch) {
			if ((await found) !== sha256) return { ...compared, differing: { script, told } };
			compared.scripts += 1;
			compared.events += script.events.filter((thrown) => !('reload' in thrown)).length;
		}
	}
	return compared;
}

/** Digests are made by other threads, and waiting for each by itself would take longer than everything else. */
const BATCH = 200;

/** What admission said, and for every step the answer and the snapshot behind it. Scripts that are given the same share a plan. */
export function transcript(core: Package, script: Script, plans = new Map<string, turnlatch.Plan>()): string[] {
	const given = compact(script.given);
	let plan = plans.get(given);
	try {
		plan ??= admission(core, script.given);
		plans.set(given, plan);
	} catch (error) {
		if (!(error instanceof core.AdmissionError)) throw error;
		return [compact({ refused: refused(error) })];
	}
	const stage = new Stage(core, plan);
	const step = (then: unknown) => `${compact(bounded(then))}\n${stage.snapshot()}`;
	const told = [compact({ warnings: plan.warnings }), step(stage.create(script.at))];
	for (const thrown of script.events) told.push(step(stage.throw(thrown)));
	stage.free();
	return told;
}

/** An answer without integers beyond 2^53, which not every language has in its data. */
function bounded(value: unknown): unknown {
	if (typeof value === 'bigint' || (Number.isInteger(value) && !Number.isSafeInteger(value))) return BEYOND;
	if (Array.isArray(value)) return value.map(bounded);
	if (typeof value !== 'object' || value === null) return value;
	const members: Record<string, unknown> = {};
	for (const [key, member] of Object.entries(value)) define(members, key, bounded(member));
	return members;
}

const BEYOND = 'beyond 2^53';

export async function digest(told: readonly string[]): Promise<string> {
	const sum = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(told.join('\n')));
	return [...new Uint8Array(sum)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

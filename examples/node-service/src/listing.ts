/** The list of jobs: what may be asked, and one page of it. */

import { setImmediate as othersFirst } from 'node:timers/promises';
import { LoadError, Run, type Status } from 'turnlatch';
import { compact, NotServed } from './errors.js';
import type { Host } from './host.js';
import type { JobRow } from './jobs.js';
import { log } from './log.js';
import { readMembers } from './query.js';
import { isSkillName } from './skills.js';

const [LIMIT, MOST] = [50, 200];
const KEPT_VIEWS = 10_000;
// The core's, in its order; a status that is missing here or is none of them does not compile.
const STATUSES = Object.keys({
	queued: true,
	running: true,
	waiting_user: true,
	succeeded: true,
	failed: true,
	canceled: true,
} satisfies Record<Status, true>);

/** A status view without its result. */
interface View {
	readonly run_id: string;
	readonly status: string;
	readonly engine: string;
	readonly revision: number;
}

/** Which jobs are wanted; `undefined` means all. */
export interface ListQuery {
	readonly statuses: readonly string[] | undefined;
	readonly skill: string | undefined;
	readonly engine: string | undefined;
	readonly limit: number;
	readonly before: string | undefined;
}

/** The query string of `GET /v1/jobs`. */
export function readListQuery(query: string): ListQuery {
	const members = readMembers(query, 'status', 'skill', 'engine', 'limit', 'before');
	const statuses = members.get('status')?.split(',');
	if (statuses !== undefined && !statuses.every((status) => STATUSES.includes(status))) {
		throw new NotServed('QUERY_INVALID', `status is a list of ${STATUSES.join(', ')}`);
	}
	const skill = members.get('skill');
	if (skill !== undefined && !isSkillName(skill)) {
		throw new NotServed('QUERY_INVALID', 'skill is not the name of a skill');
	}
	const limit = members.get('limit') ?? String(LIMIT);
	if (!/^[0-9]{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > MOST) {
		throw new NotServed('QUERY_INVALID', `limit is a whole number from 1 to ${MOST}`);
	}
	return { statuses, skill, engine: members.get('engine'), limit: Number(limit), before: members.get('before') };
}

/** Reads pages of jobs, newest first. What a run looks like comes from the core, once for each revision. */
export class Listing {
	readonly #host: Host;
	/** Those that were asked for last are at the end. */
	readonly #views = new Map<string, View>();

	constructor(host: Host) {
		this.#host = host;
	}

	/** One page as JSON text. */
	async page(query: ListQuery): Promise<string> {
		const jobs: { skill: string; view: View }[] = [];
		let next: string | null = null;
		for await (const job of this.#newest(query)) {
			const { status, engine } = job.view;
			if (!(query.statuses?.includes(status) ?? true) || (query.engine ?? engine) !== engine) continue;
			if (jobs.length === query.limit) {
				next = jobs.at(-1)?.view.run_id ?? null;
				break;
			}
			jobs.push(job);
		}
		return compact({ jobs, next });
	}

	async *#newest({ skill, before }: ListQuery): AsyncGenerator<{ skill: string; view: View }> {
		const { jobs } = this.#host;
		if (before !== undefined && !(await jobs.exists(before))) {
			throw new NotServed('QUERY_INVALID', 'before is not the id of a run');
		}
		let last = before;
		while (true) {
			const rows = await jobs.newest(last, skill);
			for (const row of rows) {
				const view = await this.#viewIfReadable(row);
				if (view !== undefined) yield { skill: row.skill, view };
			}
			last = rows.at(-1)?.run_id;
			if (last === undefined) return;
			// A filter that fits little reads through everything there is.
			await othersFirst();
		}
	}

	/** One damaged run must not hide all others; asked for by its id, it says what is wrong. */
	async #viewIfReadable(row: JobRow): Promise<View | undefined> {
		try {
			return await this.#view(row);
		} catch (error) {
			if (!(error instanceof LoadError)) throw error;
			log.warning`run ${row.run_id} is not listed: ${error.code}: ${error.message}`;
			return undefined;
		}
	}

	async #view({ run_id: runId, revision }: JobRow): Promise<View> {
		const kept = this.#views.get(runId);
		const view = kept?.revision === revision ? kept : await this.#read(runId);
		this.#views.delete(runId);
		this.#views.set(runId, view);
		if (this.#views.size > KEPT_VIEWS) this.#views.delete(this.#views.keys().next().value ?? runId);
		return view;
	}

	async #read(runId: string): Promise<View> {
		using run = Run.restore(await this.#host.snapshot(runId));
		// Results can be megabytes; a list is not the place for them.
		const { data: _, data_text: __, ...view } = JSON.parse(run.statusViewJson());
		return view;
	}
}

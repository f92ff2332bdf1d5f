/** Server-sent events: a run's steps as its journal tells them, its agent's words, and the changes of all runs. */

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as othersFirst } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { type Plan, Replayer } from 'turnlatch';
import { compact, NotServed } from './errors.js';
import { log } from './log.js';
import { readMembers } from './query.js';
import type { Service } from './service.js';
import { Follower } from './store.js';
import type { Position } from './words.js';

const HEARTBEAT_MS = 15_000;
const HEARTBEAT = ': still here\n\n';

/** Where the client left off; the header of a reconnecting client is newer than its address. */
export function readLastEventId(header: string | undefined, query: string): number | undefined {
	const given = header ?? readMembers(query, 'last_event_id').get('last_event_id');
	if (given === undefined) return undefined;
	if (!/^[0-9]{1,15}$/.test(given)) {
		throw new NotServed('QUERY_INVALID', 'the last event id is a whole number, 0 or more');
	}
	return Number(given);
}

/** The steps of one run after the last one seen, then live until its end. */
export async function runEvents(service: Service, reply: FastifyReply, runId: string, last?: number): Promise<void> {
	const plan = await planToFollow(service, runId, last);
	if (plan === undefined) {
		// This keeps an EventSource from asking again.
		await reply.code(204).send();
		return;
	}
	await stream(service, reply, runId, (follower) => steps(service, follower, plan, last ?? 0));
}

/** The plan of a run of which something may still come after the last step seen. */
async function planToFollow(service: Service, runId: string, last: number | undefined): Promise<Plan | undefined> {
	using run = await service.run(runId);
	return run.ended && last !== undefined && last >= run.revision ? undefined : run.plan;
}

/** What changes in any run. */
export async function allEvents(service: Service, reply: FastifyReply, last?: number): Promise<void> {
	const seen = last ?? (await service.host.jobs.lastChange());
	await stream(service, reply, null, (follower) => changed(service, follower, seen));
}

/** Follows a journal line by line; the core says what each step was. */
class Replay {
	readonly #replayer: Replayer;
	revision = 0;
	ended = false;
	/** The turn that is under way. */
	turn: number | undefined;

	constructor(plan: Plan) {
		this.#replayer = new Replayer(plan);
	}

	/** The step of the next line. */
	take(line: string): string {
		const step = this.#replayer.nextJson(line);
		using run = this.#replayer.run;
		this.revision = run?.revision ?? 0;
		this.ended = run?.ended ?? false;
		this.turn = run?.status === 'running' ? run.attemptNumber : undefined;
		return step;
	}

	free(): void {
		this.#replayer.free();
	}
}

/** What a client that follows something is sent; over when the client is gone or the service stops. */
type Events = AsyncGenerator<string, void, void>;

async function* steps(service: Service, follower: Listener, plan: Plan, last: number): Events {
	const replay = new Replay(plan);
	let heard: Position | undefined;
	try {
		while (follower.listens) {
			for (const line of await service.host.lines(plan.runId, replay.revision)) {
				const step = replay.take(line);
				if (replay.revision > last) yield event(replay.revision, 'step', step);
				// Old turns are judged again on the way, which is not for other clients to wait for.
				await othersFirst();
			}
			if (replay.ended) {
				yield 'event: end\ndata: {}\n\n';
				return;
			}
			// Words stand behind the step that began their turn and never behind the one that ended it.
			const news = replay.turn === undefined ? undefined : service.words.newsOf(plan.runId, replay.turn, heard);
			if (news !== undefined) {
				heard = news.position;
				// Without an id: words are not kept, so that nobody can ask for those after them.
				yield `event: said\ndata: ${compact(news.said)}\n\n`;
			}
			if (!(await follower.woken(HEARTBEAT_MS))) yield HEARTBEAT;
		}
	} finally {
		replay.free();
		plan.free();
	}
}

async function* changed(service: Service, follower: Listener, seen: number): Events {
	const { jobs } = service.host;
	let last = seen;
	while (follower.listens) {
		for (let more = await jobs.changesAfter(last); more.length > 0; more = await jobs.changesAfter(last)) {
			for (const { number, run_id, revision } of more) {
				last = number;
				yield event(number, 'changed', compact({ run_id, revision }));
			}
		}
		if (!(await follower.woken(HEARTBEAT_MS))) yield HEARTBEAT;
	}
}

/** A follower that is somebody's connection. */
class Listener extends Follower {
	readonly #service: Service;
	#gone = false;

	constructor(service: Service) {
		super();
		this.#service = service;
	}

	get listens(): boolean {
		return !this.#gone && !this.#service.stopping;
	}

	leave(): void {
		this.#gone = true;
		this.wake();
	}
}

function event(number: number, name: string, data: string): string {
	return `id: ${number}\nevent: ${name}\ndata: ${data}\n\n`;
}

/** Sends events as they come. The head goes out at once: a client is connected although nothing has happened yet. */
async function stream(
	service: Service,
	reply: FastifyReply,
	runId: string | null,
	events: (listener: Listener) => Events,
): Promise<void> {
	const { raw } = reply.hijack();
	const listener = new Listener(service);
	raw.on('close', () => listener.leave());
	service.changes.follow(runId, listener);
	raw.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' });
	raw.flushHeaders();
	try {
		await pipeline(Readable.from(events(listener)), raw);
	} catch (error) {
		if (!raw.destroyed || raw.errored !== null) log.error(error)`${reply.request.method} ${reply.request.url} broke`;
	} finally {
		service.changes.unfollow(runId, listener);
	}
}

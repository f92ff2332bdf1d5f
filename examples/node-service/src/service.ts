/** The service behind the routes: its host with agents for it, and the making of jobs. */

import { randomUUID } from 'node:crypto';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { admit, type Receipt, Replayer, Run, readJob, requestEventJson, version } from 'turnlatch';
import { RunNotFoundError } from 'turnlatch/driver';
import type { Said } from 'turnlatch/node';
import { Agents } from './agents.js';
import { type Database, own } from './database.js';
import { type EngineTable, readEngines } from './engines.js';
import { checkTaken, compact, NotServed } from './errors.js';
import type { Host, HostClass } from './host.js';
import { Listing } from './listing.js';
import { log } from './log.js';
import { predecessorGone } from './predecessor.js';
import { RunFolders } from './run-folders.js';
import { type Settings, SettingsInvalid } from './settings.js';
import { Skills } from './skills.js';
import { Changes } from './store.js';
import { Telemetry } from './telemetry.js';
import { LiveWords } from './words.js';

const LAST_REQUESTS_MS = 5000;

/** One folder, used by one process; what is in the data folder beside it may be shared, if the host is for several. */
export class Service {
	readonly changes = new Changes();
	readonly words = new LiveWords();
	readonly host: Host;
	readonly listing: Listing;
	readonly telemetry: Telemetry;
	readonly #engines: EngineTable;
	readonly #owner: Database;
	readonly #skills: Skills;
	readonly #folders: RunFolders;
	readonly #locks: string;
	readonly #agents: Agents;
	readonly #atWork = new Set<Promise<unknown>>();
	#stopping = false;

	constructor(settings: Settings, hostClass: HostClass) {
		this.#engines = readEngines(settings.engines);
		if (!statSync(settings.skills, { throwIfNoEntry: false })?.isDirectory()) {
			throw new SettingsInvalid(`there is no skills folder ${settings.skills}`);
		}
		this.#locks = join(settings.own, 'locks');
		mkdirSync(this.#locks, { mode: 0o700, recursive: true });
		const owner = own(join(settings.own, 'owner.sqlite'));
		if (owner === undefined) throw new SettingsInvalid(`another service uses ${settings.own}`);
		this.#owner = owner;
		this.#skills = new Skills(settings.skills);
		this.#folders = new RunFolders(settings.data);
		const onSaid = (said: Said) => {
			this.words.take(said);
			this.changes.nudge(said.run_id);
		};
		const turnOver = (runId: string) => this.words.forget(runId);
		this.#agents = new Agents(this.#engines, this.#folders, { marks: this.#locks, onSaid, turnOver });
		this.host = new hostClass({
			settings,
			processes: this.#agents,
			changes: this.changes,
			onObservation: (observation) => this.telemetry.observe(observation),
		});
		this.telemetry = new Telemetry(process.env, () => this.host.countUnfinished());
		this.listing = new Listing(this.host);
	}

	/** Whether nothing new is taken any more. */
	get stopping(): boolean {
		return this.#stopping;
	}

	/** Goes on with what an earlier process left. */
	async start(): Promise<void> {
		await this.telemetry.start();
		await predecessorGone(this.#locks);
		await this.host.start();
	}

	/** Takes no more requests, lets those under way finish, and ends every agent. The next start goes on. */
	async stop(): Promise<void> {
		log.info`stopping`;
		this.#stopping = true;
		this.changes.tellAll();
		await Promise.race([Promise.allSettled(this.#atWork), sleep(LAST_REQUESTS_MS, undefined, { ref: false })]);
		await this.host.stop();
		await this.#agents.close();
	}

	/** Closes the files, when nobody reads any more, and sends the last spans. */
	async close(): Promise<void> {
		await this.telemetry.close();
		await this.host.close();
		this.#owner.close();
	}

	/** Makes a run as the core reads the request. Its id, and what it looked like when it was made. */
	createJob(body: string): Promise<{ runId: string; view: string }> {
		return this.#working(async () => {
			const job = readJob(body, randomUUID());
			const skill = await this.#skills.open(job.skill);
			using plan = admit(skill.manifest, job.request, { engines: this.#engines.names });
			await this.host.make(plan, job.skill, this.#folders.new(skill, plan, job.request));
			log.info`run ${job.run_id} of skill ${job.skill} was made`;
			// By now the run may have gone on; a client gets to see where it began.
			const [first = ''] = await this.host.lines(job.run_id);
			using replayer = new Replayer(plan);
			replayer.next(first);
			using run = replayer.run;
			if (run === undefined) throw new Error('a replayer has a run after its first line');
			return { runId: job.run_id, view: run.statusViewJson() };
		});
	}

	/** Hands a client's request to the run. Returns the receipt, or throws if the request was refused. */
	tell(runId: string, kind: 'reply' | 'cancel', body: string): Promise<Receipt> {
		const event = requestEventJson(kind, body);
		return this.#working(async () => {
			const receipt = await this.host.tell(runId, event);
			if (receipt === undefined) throw new Error('requests get receipts');
			checkTaken(receipt);
			log.info`run ${runId} took a ${kind}: ${receipt.kind}`;
			return receipt;
		});
	}

	/** The run as it was saved last. What is not the form of an id is unknown like any other. */
	async snapshot(runId: string): Promise<string> {
		try {
			return await this.host.snapshot(runId);
		} catch (error) {
			if (error instanceof RunNotFoundError) throw new NotServed('RUN_UNKNOWN', 'there is no run of this id');
			throw error;
		}
	}

	/** The run as it was saved last, to be read and then freed. */
	async run(runId: string): Promise<Run> {
		return Run.restore(await this.snapshot(runId));
	}

	/** The skills and engines as JSON text. */
	async skills(): Promise<string> {
		const engines = this.#engines.names;
		return compact({ engines, skills: await this.#skills.describe(engines) });
	}

	/** How the service is, as JSON text. */
	async health(): Promise<string> {
		const [slots, counts] = [await this.host.slots(), await this.host.countUnfinished()];
		const unfinished = Object.values(counts).reduce((sum, count) => sum + count, 0);
		return compact({ status: this.#stopping ? 'stopping' : 'ok', version: version(), slots, unfinished });
	}

	/** Throws if nothing new is taken any more. */
	checkOpen(): void {
		if (this.#stopping) throw new NotServed('SERVICE_STOPPING', 'the service is stopping; try again when it is back');
	}

	async #working<T>(work: () => Promise<T>): Promise<T> {
		this.checkOpen();
		const working = work();
		this.#atWork.add(working);
		try {
			return await working;
		} finally {
			this.#atWork.delete(working);
		}
	}
}

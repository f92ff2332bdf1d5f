/** The service behind the routes: the driver with its parts, and the making of jobs. */

import { randomUUID } from 'node:crypto';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { admit, type Receipt, Run, readJob, requestEventJson, version } from 'turnlatch';
import { Driver, DriverMisused, LocalSlots, LocalTimers, RunUnknown } from 'turnlatch/driver';
import type { Said } from 'turnlatch/node';
import { Agents } from './agents.js';
import { type Database, openDatabase, own } from './database.js';
import { type EngineTable, readEngines } from './engines.js';
import { compact, NotServed } from './errors.js';
import { Jobs } from './jobs.js';
import { Listing } from './listing.js';
import { inWords, log } from './log.js';
import { predecessorGone } from './predecessor.js';
import { RunFolders } from './run-folders.js';
import { type Settings, SettingsInvalid } from './settings.js';
import { Skills } from './skills.js';
import { Changes, WatchedStore } from './store.js';
import { LiveWords } from './words.js';

const TRY_AGAIN_MS = 30_000;
const LAST_REQUESTS_MS = 5000;

/** One data folder, driven by one process. */
export class Service {
	readonly changes = new Changes();
	readonly words = new LiveWords();
	readonly store: WatchedStore;
	readonly jobs: Jobs;
	readonly listing: Listing;
	readonly #engines: EngineTable;
	readonly #owner: Database;
	readonly #database: Database;
	readonly #skills: Skills;
	readonly #folders: RunFolders;
	readonly #slots: LocalSlots;
	readonly #locks: string;
	readonly #agents: Agents;
	readonly #driver: Driver;
	readonly #making = new Map<string, Promise<void>>();
	readonly #atWork = new Set<Promise<unknown>>();
	#stopping = false;

	constructor(settings: Settings) {
		this.#engines = readEngines(settings.engines);
		if (!statSync(settings.skills, { throwIfNoEntry: false })?.isDirectory()) {
			throw new SettingsInvalid(`there is no skills folder ${settings.skills}`);
		}
		this.#locks = join(settings.data, 'locks');
		mkdirSync(this.#locks, { mode: 0o700, recursive: true });
		const owner = own(join(settings.data, 'owner.sqlite'));
		if (owner === undefined) throw new SettingsInvalid(`another service uses ${settings.data}`);
		this.#owner = owner;
		const file = join(settings.data, 'turnlatch.sqlite');
		this.store = new WatchedStore(file, this.changes, (runId) => this.#forgetSoon(runId));
		this.#database = openDatabase(file);
		this.jobs = new Jobs(this.#database);
		this.listing = new Listing(this.#database);
		this.#skills = new Skills(settings.skills);
		this.#folders = new RunFolders(settings.data);
		this.#slots = new LocalSlots(settings.slots);
		const onSaid = (said: Said) => {
			this.words.take(said);
			this.changes.nudge(said.run_id);
		};
		const turnOver = (runId: string) => this.words.forget(runId);
		this.#agents = new Agents(this.#engines, this.#folders, { marks: this.#locks, onSaid, turnOver });
		this.#driver = new Driver({
			slots: this.#slots,
			timers: new LocalTimers({ keepAlive: false }),
			processes: this.#agents,
			store: this.store,
			onError: (runId, what, error, attempt) =>
				log.warning(`run ${runId}: ${what?.type ?? 'recovery'} failed (attempt ${attempt}): ${inWords(error)}`),
		});
	}

	/** Whether nothing new is taken any more. */
	get stopping(): boolean {
		return this.#stopping;
	}

	/** Goes on with what an earlier process left. */
	async start(): Promise<void> {
		await predecessorGone(this.#locks);
		const unfinished = await this.#driver.recover();
		log.info(`recovered ${unfinished.length} unfinished runs`);
	}

	/** Takes no more requests, lets those under way finish, and ends every agent. The next start goes on. */
	async stop(): Promise<void> {
		log.info('stopping');
		this.#stopping = true;
		this.changes.tellAll();
		await Promise.race([Promise.allSettled(this.#atWork), sleep(LAST_REQUESTS_MS, undefined, { ref: false })]);
		await this.#driver.close();
		await this.#agents.close();
	}

	/** Closes the files, when nobody reads any more. */
	close(): void {
		this.store.close();
		this.#database.close();
		this.#owner.close();
	}

	/** Makes a run as the core reads the request. Its id, and what it looked like when it was made. */
	createJob(body: string): Promise<{ runId: string; view: string }> {
		return this.#working(async () => {
			const job = readJob(body, randomUUID());
			const skill = await this.#skills.open(job.skill);
			using plan = admit(skill.manifest, job.request, { engines: this.#engines.names });
			await this.#onlyMakerOf(job.run_id, async () => {
				if (this.jobs.exists(job.run_id)) throw new NotServed('RUN_EXISTS', 'there is a run of this id already');
				this.jobs.note(job.run_id, job.skill);
				await this.#folders.make(skill, plan, job.request);
				await this.#driver.start(plan);
			});
			log.info(`run ${job.run_id} of skill ${job.skill} was made`);
			// By now the run may have gone on; a client gets to see where it began.
			const [first = ''] = this.store.lines(job.run_id);
			using run = Run.firstJson(plan, first)[0];
			return { runId: job.run_id, view: run.statusViewJson() };
		});
	}

	/** Hands a client's request to the run. The receipt, or the core's rejection. */
	tell(runId: string, kind: 'reply' | 'cancel', body: string): Promise<Receipt> {
		const event = requestEventJson(kind, body);
		return this.#working(async () => {
			try {
				const { receipt } = await this.#driver.tellJson(runId, event);
				if (receipt === undefined) throw new Error('requests get receipts');
				log.info(`run ${runId} took a ${kind}: ${receipt.receipt}`);
				return receipt;
			} finally {
				// Telling an ended run something takes it into memory again.
				this.#forgetSoon(runId);
			}
		});
	}

	/** The run as it was saved last. What is not the form of an id is unknown like any other. */
	snapshot(runId: string): string {
		try {
			return this.store.load(runId);
		} catch (error) {
			if (error instanceof RunUnknown) throw new NotServed('RUN_UNKNOWN', 'there is no run of this id');
			throw error;
		}
	}

	/** The run as it was saved last, to be read and then freed. */
	run(runId: string): Run {
		return Run.fromJson(this.snapshot(runId));
	}

	/** The skills and engines as JSON text. */
	async skills(): Promise<string> {
		const engines = this.#engines.names;
		return compact({ engines, skills: await this.#skills.describe(engines) });
	}

	/** How the service is, as JSON text. */
	health(): string {
		const held = [...this.#slots.granted()].sort();
		const slots = { total: this.#slots.size, held, waiting: this.#slots.held().size - held.length };
		const unfinished = this.store.unfinished().length;
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

	/** Two requests for one id must not mix up their folders: the second waits and is told that it is taken. */
	async #onlyMakerOf(runId: string, work: () => Promise<void>): Promise<void> {
		for (let other = this.#making.get(runId); other !== undefined; other = this.#making.get(runId)) {
			await other.catch(() => {});
		}
		const making = work();
		this.#making.set(runId, making);
		try {
			await making;
		} finally {
			this.#making.delete(runId);
		}
	}

	#forgetSoon(runId: string): void {
		// Not at once: this may be called inside of the save that ends the run.
		setImmediate(() => {
			this.#forget(runId).catch((error) => log.error(`run ${runId} could not be forgotten`, error));
		});
	}

	/** Takes an ended run out of memory as soon as nothing is owed for it. */
	async #forget(runId: string): Promise<void> {
		while (!this.#stopping && this.#hasEnded(runId)) {
			try {
				await this.#driver.settled(runId);
				this.#driver.forget(runId);
				return;
			} catch (error) {
				if (!(error instanceof DriverMisused)) throw error;
				await sleep(TRY_AGAIN_MS, undefined, { ref: false });
			}
		}
	}

	/** Whether the run is in memory and has ended. */
	#hasEnded(runId: string): boolean {
		try {
			using run = this.#driver.run(runId);
			return run.ended;
		} catch (error) {
			if (error instanceof RunUnknown) return false;
			throw error;
		}
	}
}

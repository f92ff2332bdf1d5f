/** What the service needs of whoever drives its runs, and the hosts that there are. */

import type { Journal, Plan, Receipt } from 'turnlatch';
import type { OnObservation, Processes } from 'turnlatch/driver';
import type { Jobs } from './jobs.js';
import type { NewFolder } from './run-folders.js';
import type { Settings } from './settings.js';
import type { Changes } from './store.js';

/** The slots of everybody who carries out turns of these runs. */
export interface SlotsView {
	readonly total: number;
	/** In use, in order. */
	readonly held: readonly string[];
	/** How many runs wait for one. */
	readonly waiting: number;
}

/** Drives runs and keeps them. What throws `RunNotFoundError` does so for whatever is not the id of a run. */
export interface Host {
	readonly jobs: Jobs;
	/** Goes on with what was left. */
	start(): Promise<void>;
	/** Carries out nothing more; what there is can still be read. */
	stop(): Promise<void>;
	/** When nobody reads any more. */
	close(): Promise<void>;
	/**
	 * Makes a run of a skill and lets it go on, or throws `RUN_EXISTS`. Its folder is put into its place while nobody else
	 * can make a run of this id, and before its first turn.
	 */
	make(plan: Plan, skill: string, folder: NewFolder): Promise<void>;
	/** Tells a run an event, as JSON text. The receipt, if it was a request. */
	tell(runId: string, event: string): Promise<Receipt | undefined>;
	/** The run as it was saved last. Throws `RunNotFoundError`. */
	snapshot(runId: string): Promise<string>;
	/** The lines of its journal after a revision. Throws `RunNotFoundError`. */
	lines(runId: string, after?: number): Promise<string[]>;
	/** Its journal. Throws `RunNotFoundError`. */
	journal(runId: string): Promise<Journal>;
	slots(): Promise<SlotsView>;
	/** How many runs have not ended, by their status. */
	countUnfinished(): Promise<Record<string, number>>;
}

/** What a host is made of. */
export interface HostParts {
	readonly settings: Settings;
	readonly processes: Processes;
	/** To be told of every change of a run. */
	readonly changes: Changes;
	/** To be told what is worth measuring. */
	readonly onObservation: OnObservation;
}

export type HostClass = new (parts: HostParts) => Host;

/** The host of an engine. Only its own libraries are loaded. */
export async function hostOf(engine: Settings['engine']): Promise<HostClass> {
	switch (engine) {
		case 'embedded':
			return (await import('./embedded-host.js')).EmbeddedHost;
		case 'dbos':
			return (await import('./dbos-host.js')).DbosHost;
	}
}

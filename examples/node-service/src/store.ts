/** The store of runs, and who is told when it has changed. */

import { DatabaseSync } from '@photostructure/sqlite';
import { SqliteStore } from 'turnlatch/node';

/** Somebody who waits for changes. A wake-up says only that it is worth looking. */
export class Follower {
	#woken = false;
	#wake: () => void = () => {};

	wake(): void {
		this.#woken = true;
		this.#wake();
	}

	/** Waits for a wake-up since the last time. `false` if none came in this time. */
	async woken(withinMs: number): Promise<boolean> {
		if (!this.#woken) {
			await new Promise<void>((resolve) => {
				const timer = setTimeout(resolve, withinMs);
				this.#wake = () => {
					clearTimeout(timer);
					resolve();
				};
			});
		}
		const woken = this.#woken;
		this.#woken = false;
		return woken;
	}
}

/** Wakes those who follow a run, or all runs. */
export class Changes {
	/** By the run's id; `null` for all runs. */
	readonly #followers = new Map<string | null, Set<Follower>>();

	follow(runId: string | null, follower: Follower): void {
		const followers = this.#followers.get(runId) ?? new Set();
		this.#followers.set(runId, followers.add(follower));
	}

	unfollow(runId: string | null, follower: Follower): void {
		const followers = this.#followers.get(runId);
		followers?.delete(follower);
		if (followers?.size === 0) this.#followers.delete(runId);
	}

	/** This run has changed. */
	tell(runId: string): void {
		for (const key of [runId, null]) for (const follower of this.#followers.get(key) ?? []) follower.wake();
	}

	/** There is something new to see of this run, although it has not changed. */
	nudge(runId: string): void {
		for (const follower of this.#followers.get(runId) ?? []) follower.wake();
	}

	/** Something else than a run has changed. */
	tellAll(): void {
		for (const followers of this.#followers.values()) for (const follower of followers) follower.wake();
	}
}

/** Tells of every save when it has been made. */
export class WatchedStore extends SqliteStore {
	readonly #changes: Changes;
	readonly #ended: (runId: string) => void;

	constructor(path: string, changes: Changes, ended: (runId: string) => void) {
		super(new DatabaseSync(path));
		this.#changes = changes;
		this.#ended = ended;
	}

	override create(runId: string, snapshot: string, entry: string): void {
		super.create(runId, snapshot, entry);
		this.#changes.tell(runId);
	}

	override save(runId: string, expectedRevision: number, snapshot: string, entry: string, ended: boolean): void {
		super.save(runId, expectedRevision, snapshot, entry, ended);
		this.#changes.tell(runId);
		if (ended) this.#ended(runId);
	}
}

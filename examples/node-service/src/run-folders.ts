/** The folders of runs: the skill as it was when the run was made, and the agent's working folder. */

import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plan } from 'turnlatch';
import { memberLaidOut } from './json-text.js';
import { copyForRun, type SkillFolder } from './skills.js';

/** `runs/<run_id>` with `skill`, `work` and `prompt.md`. Run ids are checked by the core and are names of files. */
export class RunFolders {
	readonly #runs: string;

	constructor(data: string) {
		this.#runs = join(data, 'runs');
	}

	/** The copy of the skill. */
	skill(runId: string): string {
		return join(this.#runs, runId, 'skill');
	}

	/** Where the agent works. */
	work(runId: string): string {
		return join(this.#runs, runId, 'work');
	}

	/** What the agent is told first. */
	prompt(runId: string): string {
		return readFileSync(join(this.#runs, runId, 'prompt.md'), 'utf8');
	}

	/** Everything that the run's turns will need, to be made before the run is. */
	new(skill: SkillFolder, plan: Plan, request: string): NewFolder {
		return new NewFolder(this.#runs, plan.runId, async (folder) => {
			const instructions = await copyForRun(skill, join(folder, 'skill'), plan);
			await mkdir(join(folder, 'work'));
			const prompt = instructions + section(request, 'input', 'Input') + section(request, 'parameter', 'Parameter');
			await writeFile(join(folder, 'prompt.md'), prompt);
		});
	}
}

/** A run's folder that is filled under another name and then put into its place, which takes no time. */
export class NewFolder {
	readonly #path: string;
	readonly #filled: string;
	readonly #aside: string;
	readonly #fill: (folder: string) => Promise<void>;

	constructor(runs: string, runId: string, fill: (folder: string) => Promise<void>) {
		this.#path = join(runs, runId);
		// No run has an id with such a character.
		this.#filled = join(runs, `~${randomUUID()}`);
		this.#aside = `${this.#filled}.old`;
		this.#fill = fill;
	}

	/** Fills it, which may take long. */
	async prepare(): Promise<void> {
		await mkdir(this.#filled, { recursive: true });
		await this.#fill(this.#filled);
	}

	/** Puts it into its place, once; `false` if there is something. */
	async place(): Promise<boolean> {
		if (!existsSync(this.#filled)) return true;
		try {
			await rename(this.#filled, this.#path);
			return true;
		} catch (error) {
			if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
			return false;
		}
	}

	/** Puts it into its place instead of what a creation has left that was cut off. */
	async replace(): Promise<void> {
		await rename(this.#path, this.#aside);
		await rename(this.#filled, this.#path);
	}

	/** Removes what did not come to its place, and what was there before. */
	async discard(): Promise<void> {
		for (const folder of [this.#filled, this.#aside]) await rm(folder, { recursive: true, force: true });
	}
}

/** A member of the request as the agent reads it. */
function section(request: string, member: string, title: string): string {
	const text = memberLaidOut(request, member);
	return text === undefined ? '' : `\n\n## ${title}\n\n\`\`\`json\n${text}\n\`\`\`\n`;
}

/** The folders of runs: the skill as it was when the run was made, and the agent's working folder. */

import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plan } from 'turnlatch';
import { memberLaidOut } from './json-text.js';
import { copyForRun, type Skill } from './skills.js';

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

	/** Makes everything that the run's turns will need, before the run is made. */
	async make(skill: Skill, plan: Plan, request: string): Promise<void> {
		const { runId } = plan;
		const instructions = await copyForRun(skill, this.skill(runId), plan);
		await mkdir(this.work(runId), { recursive: true });
		const prompt = instructions + section(request, 'input', 'Input') + section(request, 'parameter', 'Parameter');
		await writeFile(join(this.#runs, runId, 'prompt.md'), prompt);
	}
}

/** A member of the request as the agent reads it. */
function section(request: string, member: string, title: string): string {
	const text = memberLaidOut(request, member);
	return text === undefined ? '' : `\n\n## ${title}\n\n\`\`\`json\n${text}\n\`\`\`\n`;
}

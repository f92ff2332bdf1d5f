/** The skills folder: which skills there are, what they say, and the copy that a run works with. */

import { realpathSync } from 'node:fs';
import { cp, lstat, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { appendInstructions, describeSkill, type ExecutionMode, type Plan, type Skill } from 'turnlatch';
import { NotServed } from './errors.js';
import { inWords, log } from './log.js';
import { isIn, realFileIn, realPath } from './paths.js';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const MOST_BYTES = 4 * 1024 * 1024;

/** Whether this could be a skill's name. None of them leads out of a folder. */
export function isSkillName(name: string): boolean {
	return NAME.test(name);
}

/** A skill as it is in its folder now. */
export interface SkillFolder {
	readonly name: string;
	readonly folder: string;
	readonly text: string;
	readonly manifest: Skill;
}

/** The real folders directly in one folder. */
export class Skills {
	readonly #folder: string;

	constructor(folder: string) {
		this.#folder = realpathSync(folder);
	}

	/** Reads a skill, or throws `SKILL_UNKNOWN`. */
	async open(name: string): Promise<SkillFolder> {
		const skill = isSkillName(name) ? await this.#read(name) : undefined;
		if (skill === undefined) throw new NotServed('SKILL_UNKNOWN', 'there is no skill of this name');
		return skill;
	}

	/** Every skill with what the core says about its manifest, by name. */
	async describe(engines: readonly string[]): Promise<object[]> {
		const described: object[] = [];
		for (const name of (await readdir(this.#folder)).filter(isSkillName).sort()) {
			const skill = await this.#read(name);
			if (skill === undefined) continue;
			described.push({ name, description: descriptionOf(skill.text), ...describeSkill(skill.manifest, { engines }) });
		}
		return described;
	}

	async #read(name: string): Promise<SkillFolder | undefined> {
		const folder = await realPath(join(this.#folder, name));
		// A link that leads out is no skill.
		if (folder === undefined || dirname(folder) !== this.#folder) return undefined;
		try {
			const text = await textIn(folder, 'SKILL.md');
			const runner = await textIn(folder, 'runner.json');
			const schemas: Partial<Record<'output_schema' | 'input_schema' | 'parameter_schema', string>> = {};
			for (const which of ['output', 'input', 'parameter'] as const) {
				const schema = await textIn(folder, `assets/${which}.schema.json`);
				if (schema !== undefined) schemas[`${which}_schema`] = schema;
			}
			if (text === undefined || runner === undefined) return undefined;
			return { name, folder, text, manifest: { runner, ...schemas } };
		} catch (error) {
			if (!(error instanceof Unreadable)) throw error;
			// Without its schema a skill would accept what its author refuses, so there is no such skill.
			log.warning`skill ${name} is not served: ${error.message}`;
			return undefined;
		}
	}
}

/** Copies the skill's folder as it is now, with the run's instructions in its SKILL.md. Gives that text. */
export async function copyForRun(skill: SkillFolder, to: string, plan: Plan): Promise<string> {
	await cp(skill.folder, to, {
		recursive: true,
		preserveTimestamps: true,
		verbatimSymlinks: true,
		filter: (path) => staysIn(skill.folder, path),
	});
	const patched = appendInstructions(skill.text, plan.toJSON().execution_mode as ExecutionMode, plan);
	const instructions = join(to, 'SKILL.md');
	// It may be a link to another file of the skill.
	await rm(instructions);
	await writeFile(instructions, patched);
	return patched;
}

/** The `description:` of a SKILL.md's front matter: one line, or the indented lines that follow `>` or `|`. */
export function descriptionOf(text: string): string {
	const lines = text.split('\n').map((line) => line.replace(/\r+$/, ''));
	const end = lines.indexOf('---', 1);
	if (lines[0] !== '---' || end < 0) return '';
	const front = lines.slice(1, end);
	const place = front.findIndex((line) => line.startsWith('description:'));
	if (place < 0) return '';
	const value = trimmed((front[place] ?? '').slice('description:'.length));
	if (/^[>|][+-]?$/.test(value)) {
		const following = front.slice(place + 1);
		const after = following.findIndex((line) => !/^[ \t]/.test(line));
		return following
			.slice(0, after < 0 ? undefined : after)
			.map(trimmed)
			.join(' ');
	}
	return /^(["']).*\1$/s.test(value) && value.length > 1 ? value.slice(1, -1) : value;
}

function trimmed(text: string): string {
	return text.replace(/^[ \t]+/, '').replace(/[ \t]+$/, '');
}

/** There is something, but it cannot be taken. */
class Unreadable extends Error {}

/** A text file of a skill, `undefined` if there is none. */
async function textIn(folder: string, name: string): Promise<string | undefined> {
	const path = join(folder, name);
	const isThere = await lstat(path).then(
		() => true,
		() => false,
	);
	if (!isThere) return undefined;
	const file = await realFileIn(folder, path);
	if (file === undefined) throw new Unreadable(`${name} is not a file of the skill's folder`);
	if ((await stat(file)).size > MOST_BYTES) throw new Unreadable(`${name} is larger than ${MOST_BYTES} bytes`);
	try {
		return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(file));
	} catch (error) {
		throw new Unreadable(`${name} cannot be read: ${inWords(error)}`);
	}
}

/** Whether it is copied: not links out of the skill's folder, nor what is neither file nor folder. */
async function staysIn(folder: string, path: string): Promise<boolean> {
	const real = await realPath(path);
	const found = await lstat(path);
	return real !== undefined && isIn(folder, real) && (found.isSymbolicLink() || found.isFile() || found.isDirectory());
}

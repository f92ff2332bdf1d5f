/** The engine table: which command lines run an agent, and how its output is read. */

import { readFileSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { inWords } from './log.js';
import { SettingsInvalid } from './settings.js';

const MEMBERS = ['first', 'resume', 'sticky', 'output', 'timeout_sec', 'env'];
const INHERITED = ['PATH', 'HOME', 'LANG'];

/** How one agent CLI is run. Commands are lists of arguments; there is no shell. */
export interface Engine {
	readonly first: readonly string[];
	readonly resume: readonly string[] | undefined;
	/** A process that stays alive while its run waits, and the line by which it says that a turn is over. */
	readonly sticky: { readonly command: readonly string[]; readonly endOfTurn: string } | undefined;
	readonly speaksMessages: boolean;
	readonly timeoutSec: number;
	readonly env: Readonly<Record<string, string>>;
}

/** The engines by name, and the folder that `{home}` stands for. */
export interface EngineTable {
	readonly home: string;
	readonly engines: ReadonlyMap<string, Engine>;
	/** Sorted. */
	readonly names: readonly string[];
}

/** All that the agent gets of this service's environment, and what the table adds. */
export function environmentOf(engine: Engine): Record<string, string> {
	const inherited = INHERITED.flatMap((name) => {
		const value = process.env[name];
		return value === undefined ? [] : [[name, value]];
	});
	return { ...Object.fromEntries(inherited), TERM: 'dumb', ...engine.env };
}

/** The command with its placeholders replaced, each in one go: a value that looks like one stays as it is. */
export function filled(command: readonly string[], values: Readonly<Record<string, string>>): string[] {
	return command.map((argument) =>
		argument.replaceAll(
			/\{([^{}]*)\}/g,
			(whole, name: string) => (Object.hasOwn(values, name) ? values[name] : whole) ?? whole,
		),
	);
}

/** Reads the table, or says what is wrong with it. */
export function readEngines(path: string): EngineTable {
	let document: unknown;
	try {
		document = JSON.parse(readFileSync(path, 'utf8'));
	} catch (error) {
		throw new SettingsInvalid(`the engine table ${path} cannot be read: ${inWords(error)}`);
	}
	const { engines } = membersOf(document);
	if (Object.keys(membersOf(engines)).length === 0) {
		throw new SettingsInvalid(`the engine table ${path} is not of the form {"engines": {name: {...}}}`);
	}
	const table = new Map<string, Engine>();
	for (const [name, given] of Object.entries(membersOf(engines))) {
		try {
			table.set(name, engineOf(membersOf(given)));
		} catch (error) {
			if (!(error instanceof Wrong)) throw error;
			throw new SettingsInvalid(`engine ${name} in ${path}: ${error.message}`);
		}
	}
	return { home: dirname(realpathSync(path)), engines: table, names: [...table.keys()].sort() };
}

/** What is wrong with an engine. */
class Wrong extends Error {}

function engineOf(given: Record<string, unknown>): Engine {
	const unknown = Object.keys(given)
		.filter((name) => !MEMBERS.includes(name))
		.sort()[0];
	if (unknown !== undefined) throw new Wrong(`unknown member ${unknown}`);
	const { output = 'text', timeout_sec: timeoutSec = 600 } = given;
	if (output !== 'text' && output !== 'messages') throw new Wrong('output is text or messages');
	if (typeof timeoutSec !== 'number' || timeoutSec <= 0) throw new Wrong('timeout_sec is a number above 0');
	const env = membersOf(given.env);
	if (!areTexts(env)) throw new Wrong('env is an object of texts');
	const first = commandOf(given.first, 'first');
	if (first.some((part) => part.includes('{session_handle}'))) throw new Wrong('first has no session_handle yet');
	return {
		first,
		resume: 'resume' in given ? commandOf(given.resume, 'resume') : undefined,
		sticky: 'sticky' in given ? stickyOf(membersOf(given.sticky)) : undefined,
		speaksMessages: output === 'messages',
		timeoutSec,
		env,
	};
}

function stickyOf({ command, end_of_turn: endOfTurn }: Record<string, unknown>): NonNullable<Engine['sticky']> {
	if (typeof endOfTurn !== 'string' || !/^[^\r\n]+$/.test(endOfTurn)) {
		throw new Wrong('sticky.end_of_turn is one line of text');
	}
	return { command: commandOf(command, 'sticky.command'), endOfTurn };
}

function commandOf(given: unknown, which: string): string[] {
	if (!Array.isArray(given) || given.length === 0 || !given.every((part) => typeof part === 'string')) {
		throw new Wrong(`${which} is a list of texts, not empty`);
	}
	return given;
}

/** The members of an object; of anything else none. */
function membersOf(value: unknown): Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function areTexts(members: Record<string, unknown>): members is Record<string, string> {
	return Object.values(members).every((value) => typeof value === 'string');
}

/** The engine table: which command lines run an agent, and how its output is read. */

import { readFileSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { type DecoderOptions, EventRejectedError, StreamDecoder, type StreamFormat } from 'turnlatch';
import { inWords } from './log.js';
import { isSecret, SettingsInvalid } from './settings.js';

const MEMBERS = ['first', 'resume', 'sticky', 'stream', 'timeout_sec', 'env', 'inherit'];
const STICKY_MEMBERS = ['command', 'stream', 'end_of_turn'];
const INHERITED = ['PATH', 'HOME', 'LANG'];

/** How one agent CLI is run. Commands are lists of arguments; there is no shell. */
export interface Engine {
	readonly first: readonly string[];
	readonly resume: readonly string[] | undefined;
	/** A process that stays alive while its run waits. */
	readonly sticky: StickyEngine | undefined;
	/** How the output is written. */
	readonly stream: StreamFormat;
	readonly timeoutSec: number;
	readonly env: Readonly<Record<string, string>>;
	/** The variables of the service's own environment that the agent gets too. */
	readonly inherit: readonly string[];
}

/** With the line by which it says that a turn is over, if its output does not say it by itself. */
export interface StickyEngine {
	readonly command: readonly string[];
	readonly stream: StreamFormat;
	readonly endOfTurn: string | undefined;
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
	const inherited = [...INHERITED, ...engine.inherit].flatMap((name) => {
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

/** Whether the prompt is an argument of this command, and not its input. */
export function takesPrompt(command: readonly string[]): boolean {
	return command.some((argument) => argument.includes('{prompt}'));
}

/** Reads the table, or says everything that is wrong with it. */
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
	const wrong: string[] = [];
	for (const [name, given] of Object.entries(membersOf(engines))) {
		try {
			table.set(name, engineOf(membersOf(given)));
		} catch (error) {
			if (!(error instanceof Wrong)) throw error;
			wrong.push(`engine ${name} in ${path}: ${error.message}`);
		}
	}
	if (wrong.length > 0) throw new SettingsInvalid(wrong.join('\n'));
	return { home: dirname(realpathSync(path)), engines: table, names: [...table.keys()].sort() };
}

/** What is wrong with an engine. */
class Wrong extends Error {}

function engineOf(given: Record<string, unknown>): Engine {
	refuseOthers(given, MEMBERS, '');
	const { timeout_sec: timeoutSec = 600, inherit = [] } = given;
	const stream = streamOf(given.stream ?? 'text', 'stream');
	if (typeof timeoutSec !== 'number' || timeoutSec <= 0) throw new Wrong('timeout_sec is a number above 0');
	const env = membersOf(given.env ?? {});
	if (!isObject(given.env ?? {}) || !areTexts(env)) throw new Wrong('env is an object of texts');
	if (!Array.isArray(inherit) || !inherit.every(isVariable)) throw new Wrong('inherit is a list of names of variables');
	const secret = inherit.find(isSecret);
	if (secret !== undefined) {
		throw new Wrong(`inherit cannot have ${secret}: agents must not speak for those who use the service`);
	}
	const first = commandOf(given.first, 'first');
	if (first.some((part) => part.includes('{session_handle}'))) throw new Wrong('first has no session_handle yet');
	return {
		first,
		resume: 'resume' in given ? commandOf(given.resume, 'resume') : undefined,
		sticky: 'sticky' in given ? stickyOf(membersOf(given.sticky), stream) : undefined,
		stream,
		timeoutSec,
		env,
		inherit,
	};
}

function stickyOf(given: Record<string, unknown>, usual: StreamFormat): StickyEngine {
	refuseOthers(given, STICKY_MEMBERS, 'sticky.');
	const command = commandOf(given.command, 'sticky.command');
	if (takesPrompt(command)) throw new Wrong('sticky.command has no prompt: it is written to the process');
	const { end_of_turn: endOfTurn } = given;
	if (endOfTurn !== undefined && typeof endOfTurn !== 'string') throw new Wrong('sticky.end_of_turn is a line of text');
	const how: DecoderOptions = endOfTurn === undefined ? { sticky: true } : { endOfTurn };
	const stream = streamOf(given.stream ?? usual, 'sticky', how);
	return { command, stream, endOfTurn };
}

/** The core knows what it can read. */
function streamOf(format: unknown, member: string, how: DecoderOptions = {}): StreamFormat {
	try {
		new StreamDecoder(format as StreamFormat, how).free();
	} catch (error) {
		if (!(error instanceof EventRejectedError)) throw error;
		throw new Wrong(`${member}: ${error.message}`);
	}
	return format as StreamFormat;
}

function refuseOthers(given: Record<string, unknown>, members: readonly string[], inside: string): void {
	const [unknown] = Object.keys(given)
		.filter((name) => !members.includes(name))
		.sort();
	if (unknown !== undefined) throw new Wrong(`unknown member ${inside}${unknown}`);
}

function isVariable(name: unknown): name is string {
	return typeof name === 'string' && /^[^=\0]+$/.test(name);
}

function commandOf(given: unknown, which: string): string[] {
	if (!Array.isArray(given) || given.length === 0 || !given.every((part) => typeof part === 'string')) {
		throw new Wrong(`${which} is a list of texts, not empty`);
	}
	return given;
}

/** The members of an object; of anything else none. */
function membersOf(value: unknown): Record<string, unknown> {
	return isObject(value) ? { ...value } : {};
}

function isObject(value: unknown): value is object {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function areTexts(members: Record<string, unknown>): members is Record<string, string> {
	return Object.values(members).every((value) => typeof value === 'string');
}

/** What the service is told on its command line and in its environment. */

import { BlockList, isIP } from 'node:net';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { LogForm } from './log.js';

// From dist/, where this file is a part of main.js.
const EXAMPLES = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
/** What both services share: the API's description, the engine table, the scripted agent, the skills. */
export const SHARED = join(EXAMPLES, 'service');

const USAGE = `usage: turnlatch-service [--host HOST] [--port PORT] [--data DIR] [--skills DIR] [--engines FILE]
                         [--console DIR] [--slots SLOTS] [--engine embedded|dbos] [--database-url URL]
                         [--worker ID] [--log text|json]

Serves turnlatch runs over HTTP.

  --host HOST      where to listen; anything but loopback needs a token (127.0.0.1)
  --port PORT      0 chooses a free one (8642)
  --data DIR       the folder that everything is kept in (turnlatch-data)
  --skills DIR     the folder of skills
  --engines FILE   the engine table
  --console DIR    the built console
  --slots SLOTS    how many turns run at a time (2)
  --engine ENGINE  embedded: one service, everything in the data folder; dbos: any number of services that share
                   a database, a data folder and the slots (embedded)
  --database-url URL
                   the PostgreSQL database of dbos; better told in TURNLATCH_DATABASE_URL, which others cannot read
  --worker ID      the name of this service among those of the database (that of the machine)
  --log FORM       how the log is written to stderr: text or json (text)

TURNLATCH_TOKEN in the environment is the bearer token that clients must send.
`;

/** The variable of the environment that has the token. */
export const TOKEN = 'TURNLATCH_TOKEN';

/** The variable of the environment that has the address of the database. */
export const DATABASE_URL = 'TURNLATCH_DATABASE_URL';

/** The variables of the environment by which tests shorten the time that a request may take to arrive. */
const HEADERS_SEC = 'TURNLATCH_HEADERS_SEC';
const BODY_SEC = 'TURNLATCH_BODY_SEC';

/** Whether agents must not get this variable: the token, the database's address, and what spans are sent with. */
export function isSecret(variable: string): boolean {
	return variable === TOKEN || variable === DATABASE_URL || /^OTEL_.*_HEADERS$/.test(variable);
}

/** The service cannot start like this. */
export class SettingsInvalid extends Error {}

/** Where to listen, what to serve, and how much at a time. */
export interface Settings {
	readonly host: string;
	readonly port: number;
	readonly data: string;
	/** The part of it that is for this process alone. */
	readonly own: string;
	readonly skills: string;
	readonly engines: string;
	readonly console: string;
	readonly slots: number;
	/** Who drives the runs. */
	readonly engine: 'embedded' | 'dbos';
	/** Where the runs of `dbos` are; empty for others. */
	readonly databaseUrl: string;
	readonly worker: string;
	readonly token: string | undefined;
	readonly log: LogForm;
	/** How long the headers of a request may take to arrive. */
	readonly headersMs: number;
	/** How long its body may take; Node counts from the first byte of the headers. */
	readonly bodyMs: number;
	/** Whether only programs of this machine can connect. */
	readonly onLoopback: boolean;
}

/** Reads the command line; `undefined` if it only asks for the usage, which has been printed then. */
export function readSettings(
	given: readonly string[],
	environment: Readonly<Record<string, string | undefined>>,
): Settings | undefined {
	const options = readOptions(given);
	if (options.help) {
		process.stdout.write(USAGE);
		return undefined;
	}
	const { host } = options;
	const token = environment[TOKEN] || undefined;
	const onLoopback = isLoopback(host);
	if (!onLoopback && token === undefined) {
		throw new SettingsInvalid(`${host} can be reached from outside: set ${TOKEN}, or use 127.0.0.1`);
	}
	const { engine, databaseUrl, worker } = readEngine(options, environment);
	const data = resolve(options.data);
	return {
		host,
		port: wholeNumber('--port', options.port, 0, 65_535),
		data,
		own: engine === 'dbos' ? join(data, 'workers', worker) : data,
		skills: resolve(options.skills),
		engines: resolve(options.engines),
		console: resolve(options.console),
		slots: wholeNumber('--slots', options.slots, 1, 1000),
		engine,
		databaseUrl,
		worker,
		token,
		log: logForm(options.log),
		headersMs: Number(environment[HEADERS_SEC] ?? 10) * 1000,
		bodyMs: Number(environment[BODY_SEC] ?? 60) * 1000,
		onLoopback,
	};
}

function readEngine(
	options: Readonly<{ engine: string; 'database-url': string; worker: string }>,
	environment: Readonly<Record<string, string | undefined>>,
): Pick<Settings, 'engine' | 'databaseUrl' | 'worker'> {
	const { engine, worker } = options;
	if (engine === 'embedded') return { engine, databaseUrl: '', worker };
	if (engine !== 'dbos') throw new SettingsInvalid(`--engine is embedded or dbos, not ${engine}`);
	const databaseUrl = options['database-url'] || environment[DATABASE_URL] || '';
	// The address itself is not repeated: it may have a password in it.
	if (!/^postgres(ql)?:\/\//.test(databaseUrl)) {
		throw new SettingsInvalid(
			`dbos needs the address of a PostgreSQL database, postgresql://…: in ${DATABASE_URL}, or as --database-url`,
		);
	}
	if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(worker)) {
		throw new SettingsInvalid(
			'--worker is up to 100 of the characters A-Z a-z 0-9 . _ - and begins with a letter or digit',
		);
	}
	return { engine, databaseUrl, worker };
}

function readOptions(given: readonly string[]) {
	const text = (fallback: string) => ({ type: 'string', default: fallback }) as const;
	try {
		return parseArgs({
			args: [...given],
			options: {
				host: text('127.0.0.1'),
				port: text('8642'),
				data: text('turnlatch-data'),
				skills: text(join(SHARED, 'skills')),
				engines: text(join(SHARED, 'engines.json')),
				console: text(join(EXAMPLES, 'console/dist')),
				slots: text('2'),
				engine: text('embedded'),
				'database-url': text(''),
				worker: text(hostname()),
				log: text('text'),
				help: { type: 'boolean', short: 'h', default: false },
			},
		}).values;
	} catch (error) {
		throw new SettingsInvalid(`${error instanceof Error ? error.message : error}\n${USAGE}`);
	}
}

function logForm(text: string): LogForm {
	if (text !== 'text' && text !== 'json') throw new SettingsInvalid(`--log is text or json, not ${text}`);
	return text;
}

function wholeNumber(option: string, text: string, least: number, most: number): number {
	const number = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN;
	if (!(number >= least && number <= most)) {
		throw new SettingsInvalid(`${option} is a whole number from ${least} to ${most}, not ${text}`);
	}
	return number;
}

function isLoopback(host: string): boolean {
	const loopback = new BlockList();
	loopback.addSubnet('127.0.0.0', 8);
	loopback.addAddress('::1', 'ipv6');
	const version = isIP(host);
	return host === 'localhost' || (version !== 0 && loopback.check(host, version === 4 ? 'ipv4' : 'ipv6'));
}

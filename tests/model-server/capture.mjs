#!/usr/bin/env node
// node capture.mjs --agents DIR [NAME …] [--case CASE]: runs real agents on scripts and writes what they print to
// tests/captures. Agents that are not yet in DIR are installed there by npm.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { AGENTS } from './captures/agents.mjs';
import { PROMPT, SLEEP } from './captures/cases.mjs';
import { runToEnd } from './captures/process.mjs';
import { tidier } from './captures/tidy.mjs';
import { ModelServer } from './server.mjs';

const CAPTURES = fileURLToPath(new URL('../captures', import.meta.url));
/** A port of the system's own services, on which no agent's model ever listens. */
const NOBODY = 'http://127.0.0.1:9';

const { values, positionals } = parseArgs({
	options: { agents: { type: 'string' }, case: { type: 'string' } },
	allowPositionals: true,
});
if (values.agents === undefined) throw new Error('usage: node capture.mjs --agents DIR [NAME …] [--case CASE]');
const agentsFolder = resolve(values.agents);
const server = await new ModelServer().listen();
for (const agent of AGENTS) {
	if (positionals.length === 0 || positionals.includes(agent.file)) await capture(agent);
}
await server.close();

async function capture(agent) {
	const command = install(agent);
	const captures = [];
	for (const turns of agent.cases) {
		if (values.case === undefined || turns.some((turn) => turn.name === values.case)) {
			captures.push(...(await captureTurns(agent, command, turns)));
		}
	}
	write(agent, captures);
}

/** One sequence of turns, in a home of its own that is gone afterwards. */
async function captureTurns(agent, command, turns) {
	const home = mkdtempSync(join(tmpdir(), 'capture-'));
	const [project, temporary] = ['project', 'tmp'].map((name) => join(home, name));
	for (const folder of [project, temporary]) mkdirSync(folder);
	const captured = [];
	let session = agent.unknownSession;
	try {
		for (const turn of turns) {
			const model = turn.down ? NOBODY : server.url('turn');
			const place = { home, project, temporary, model, retries: turn.retries === true };
			const outcome = await captureTurn(agent, command, turn, place, session);
			session = agent.session.exec(outcome.stdout)?.[1] ?? session;
			captured.push(tidyCapture(outcome, turn, tidier(place, agentsFolder)));
			process.stderr.write(
				`${agent.file} ${turn.name}: ${outcome.exit_code ?? outcome.signal} ${outcome.note ?? ''}\n`,
			);
		}
	} finally {
		rmSync(home, { recursive: true, force: true });
	}
	return captured;
}

async function captureTurn(agent, command, turn, place, session) {
	server.play('turn', { steps: turn.steps });
	for (const [file, content] of Object.entries(agent.settings?.(place) ?? {})) {
		mkdirSync(dirname(file), { recursive: true });
		writeFileSync(file, JSON.stringify(content));
	}
	const prompt = turn.prompt ?? PROMPT;
	const again = turn.resumes || turn.unknownSession;
	const args = again ? agent.resumed(place, session, prompt) : agent.first(place, prompt);
	const launch = { command, args, env: { ...plainEnvironment(place), ...agent.env(place) }, cwd: place.project };
	return { args, ...(await runToEnd(launch, { signal: turn.signal, duringCommand: SLEEP })) };
}

/** Nothing of the environment of whoever captures: keys, proxies and settings would change what the agents do. */
function plainEnvironment({ home, temporary }) {
	return { PATH: process.env.PATH, HOME: home, TMPDIR: temporary, USER: 'user', LANG: 'C.UTF-8', TERM: 'dumb' };
}

function tidyCapture({ args, note, stdout, stderr, exit_code, signal }, turn, tidy) {
	return {
		case: turn.name,
		...(note === undefined ? {} : { note }),
		arguments: args.map(tidy),
		stdout: tidy(stdout),
		stderr: tidy(stderr),
		exit_code,
		signal,
	};
}

function install({ package: name, version, cli }) {
	const folder = join(agentsFolder, basename(name));
	const command = join(folder, 'node_modules/.bin', cli);
	const installed = join(folder, 'node_modules', name, 'package.json');
	if (!existsSync(installed) || JSON.parse(readFileSync(installed, 'utf8')).version !== version) {
		mkdirSync(folder, { recursive: true });
		const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', `${name}@${version}`];
		const { status } = spawnSync('npm', args, { stdio: ['ignore', 'inherit', 'inherit'] });
		if (status !== 0) throw new Error(`npm could not install ${name}@${version}`);
	}
	return command;
}

/** With --case, the other cases of the file stay as they are. */
function write({ file, cli, version, format }, captured) {
	mkdirSync(CAPTURES, { recursive: true });
	const path = join(CAPTURES, `${file}.json`);
	let captures = captured;
	if (values.case !== undefined && existsSync(path)) {
		const made = new Map(captured.map((one) => [one.case, one]));
		const before = JSON.parse(readFileSync(path, 'utf8')).captures;
		captures = before.map((one) => made.get(one.case) ?? one);
		captures.push(...captured.filter((one) => !before.some((old) => old.case === one.case)));
	}
	writeFileSync(path, `${JSON.stringify({ cli, version, format, captures }, null, 2)}\n`);
}

#!/usr/bin/env node
// node capture.mjs --agents DIR [NAME …] [--case CASE] [--patience SECONDS]: runs real agents on scripts and writes what
// they print to tests/vectors/stream. Agents that are not yet in DIR are installed there by npm.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ACP_AGENTS, AGENTS } from './captures/agents/index.mjs';
import { captureConversation } from './captures/conversation.mjs';
import { captureTurns } from './captures/turns.mjs';
import { vectorFile } from './captures/vectors.mjs';
import { ModelServer } from './server.mjs';

/**
 * @typedef {object} Means what a capture is made with
 * @property {string} command
 * @property {ModelServer} server
 * @property {string} agentsFolder
 * @property {number} longest_ms how long a turn may take
 */

const VECTORS = fileURLToPath(new URL('../vectors/stream', import.meta.url));

const { values, positionals } = parseArgs({
	options: { agents: { type: 'string' }, case: { type: 'string' }, patience: { type: 'string', default: '60' } },
	allowPositionals: true,
});
if (values.agents === undefined)
	throw new Error('usage: node capture.mjs --agents DIR [NAME …] [--case CASE] [--patience SECONDS]');
const agentsFolder = resolve(values.agents);
const server = await new ModelServer().listen();
for (const agent of [...AGENTS, ...ACP_AGENTS]) {
	if (positionals.length === 0 || positionals.includes(agent.file)) await capture(agent);
}
await server.close();

async function capture(agent) {
	/** @type {Means} */
	const means = { command: install(agent), server, agentsFolder, longest_ms: Number(values.patience) * 1000 };
	const captureCase = ACP_AGENTS.includes(agent) ? captureConversation : captureTurns;
	const captures = [];
	for (const turns of agent.cases) {
		if (values.case !== undefined && !turns.some((turn) => turn.name === values.case)) continue;
		for (const one of await captureCase(agent, turns, means)) {
			captures.push(one);
			process.stderr.write(`${agent.file} ${one.case}: ${one.exit_code ?? one.signal} ${one.note ?? ''}\n`);
		}
	}
	write(agent, captures);
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
function write(agent, captures) {
	const path = join(VECTORS, `captured-${agent.file}.json`);
	const file = vectorFile(agent, captures);
	if (values.case !== undefined && existsSync(path)) {
		const made = new Set(file.vectors.map((one) => one.name));
		const before = JSON.parse(readFileSync(path, 'utf8')).vectors;
		file.vectors = inOrder(agent, [...before.filter((one) => !made.has(one.name)), ...file.vectors]);
	}
	writeFileSync(path, `${JSON.stringify(file, null, 2)}\n`);
}

/** The order of the agent's cases, so that a case made again stays where it was. */
function inOrder({ cases }, vectors) {
	const order = cases.flat().map((turn) => turn.name);
	const place = ({ name }) => order.indexOf(name.split(': ')[1].split('+')[0]);
	return vectors.sort((one, other) => place(one) - place(other));
}

#!/usr/bin/env node
// node main.mjs (--script FILE | --scripts DIR) [--port N] [--log FILE]: serves until it is told to stop.
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { ScriptError } from './script.mjs';
import { DEFAULT_SCRIPT, ModelServer } from './server.mjs';

const USAGE = 'usage: node main.mjs (--script FILE | --scripts DIR) [--port N] [--log FILE]';

async function main() {
	const { values } = parseArgs({
		options: {
			script: { type: 'string' },
			scripts: { type: 'string' },
			port: { type: 'string', default: '0' },
			log: { type: 'string' },
		},
	});
	if (values.script === undefined && values.scripts === undefined) throw new ScriptError(USAGE);
	const { log } = values;
	const server = new ModelServer({
		scripts: readScripts(values),
		log: log === undefined ? undefined : (entry) => appendFileSync(log, `${JSON.stringify(entry)}\n`),
	});
	await server.listen(Number(values.port));
	process.stdout.write(`${JSON.stringify({ port: server.port })}\n`);
	for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => server.close());
}

function readScripts({ script, scripts }) {
	const found = {};
	for (const name of scripts === undefined ? [] : readdirSync(scripts)) {
		if (name.endsWith('.json')) found[basename(name, '.json')] = readScript(join(scripts, name));
	}
	if (script !== undefined) found[DEFAULT_SCRIPT] = readScript(script);
	return found;
}

function readScript(file) {
	try {
		return JSON.parse(readFileSync(file, 'utf8'));
	} catch (error) {
		throw new ScriptError(`${file}: ${error.message}`);
	}
}

main().catch((error) => {
	process.stderr.write(`${error.message}\n`);
	process.exitCode = 2;
});

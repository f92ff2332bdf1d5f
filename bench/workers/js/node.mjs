// A contender in Node: `node.mjs NAME` answers requests on standard input, a line each; `node.mjs NAME --cold CASE` decides
// one turn as soon as it can. bench/README.md has the protocol.
const began = performance.now();

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

// The package is the one that was built; its peers are the pinned ones beside it.
const require = createRequire(new URL('../../../bindings-wasm/package.json', import.meta.url));
const skill = JSON.parse(readFileSync(new URL('../../skill.json', import.meta.url), 'utf8'));

const CONTENDERS = {
	node: async () => (await import('./turnlatch.mjs')).turnlatch(require('./dist/node.cjs'), skill),
	'xstate+ajv': async () => {
		const { default: Ajv } = require('ajv/dist/2020.js');
		return (await import('./xstate.mjs')).xstateAndAjv({ Ajv, ...require('xstate') }, skill);
	},
	'wasm-limit': () => limit(false),
	'wasm-limit, bytes': () => limit(true),
};

async function limit(asBytes) {
	const wasm = new WebAssembly.Module(readFileSync(process.env.BENCH_LIMIT_WASM));
	return (await import('./wasm-limit.mjs')).wasmLimit(wasm, skill, asBytes);
}

function read(path) {
	return JSON.parse(readFileSync(path, 'utf8'));
}

function memoryOf(runs, makeWaiting) {
	global.gc();
	const before = process.memoryUsage().rss;
	const living = Array.from({ length: runs }, (_, number) => makeWaiting(number));
	global.gc();
	return Math.max(0, process.memoryUsage().rss - before + 0 * living.length);
}

const [name, cold, path] = process.argv.slice(2);
const contender = await CONTENDERS[name]();
if (cold !== undefined) {
	const { decision } = contender.prepare(read(path));
	console.log(JSON.stringify({ nanoseconds: Math.round((performance.now() - began) * 1e6), decision }));
	process.exit();
}
let prepared;
const answers = {
	prepare: ({ case: of }) => {
		prepared = contender.prepare(read(of));
		return prepared && { decision: prepared.decision };
	},
	run: ({ calls }) => ({ nanoseconds: prepared.batch(calls) }),
	memory: ({ runs }) => contender.makeWaiting && { bytes: memoryOf(runs, contender.makeWaiting) },
};
for await (const line of createInterface({ input: process.stdin })) {
	const request = JSON.parse(line);
	process.stdout.write(`${JSON.stringify(answers[request.do](request) ?? { unsupported: true })}\n`);
}

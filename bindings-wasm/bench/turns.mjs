// What a turn costs through JavaScript in Node beside the core alone, taken in turns: read the ratios, not the times.
// usage: node bench/turns.mjs STOPWATCH     with the built package and a release build of the stopwatch; `make bench` does it
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { admit, Run } from 'turnlatch';

const ROUNDS = 10;
const ENOUGH_NS = 20_000_000;
/** Of a long turn the first call alone would mostly measure the machine. */
const ENOUGH_CALLS = 5;
const PROSE = 'The build is green and the tests have passed, as far as I can see. Shall I go on with the release?\n';
const REQUEST = { run_id: 'r1', engine: 'codex', execution_mode: 'interactive' };
const ITEM = {
	type: 'object',
	required: ['id', 'name'],
	properties: { id: { type: 'integer' }, name: { type: 'string' } },
};
const SKILL = {
	runner: { execution_modes: ['interactive'] },
	output_schema: {
		type: 'object',
		required: ['summary', 'items'],
		properties: { summary: { type: 'string' }, items: { type: 'array', items: ITEM } },
	},
};
const SIZES = { '200 B': 200, '4 KB': 4_000, '64 KB': 64_000, '1 MB': 1_000_000 };
const TURNS = {
	question: (size) => PROSE.repeat(Math.max(1, Math.floor(size / PROSE.length))),
	'marker + valid': (size) => {
		const items = Array.from({ length: Math.max(1, Math.floor(size / 40)) }, (_, id) => ({
			id,
			name: `item number ${id}`,
		}));
		return JSON.stringify({ summary: 'done', items, __SKILL_DONE__: true });
	},
};

function scriptOf(text) {
	const granted = { type: 'slot_granted', slot_id: 'r1/s1' };
	const finished = { type: 'turn_finished', attempt_number: 1, text };
	return {
		given: { skill: SKILL, request: REQUEST },
		at: 0,
		events: [
			[granted, 1],
			[finished, 2],
		],
	};
}

/** The nanoseconds of the last event at best. */
function throughJavaScript({ events: [[granted, at], [event, now]] }) {
	const [before] = Run.create(admit(SKILL, REQUEST, { engines: ['codex'] }), 0);
	before.apply(granted, at);
	let [best, total, calls] = [Number.POSITIVE_INFINITY, 0, 0];
	while (total < ENOUGH_NS || calls < ENOUGH_CALLS) {
		const run = before.copy();
		const start = process.hrtime.bigint();
		run.apply(event, now);
		const took = Number(process.hrtime.bigint() - start);
		run.free();
		best = Math.min(best, took);
		total += took;
		calls += 1;
	}
	before.free();
	return best;
}

const stopwatch = spawn(process.argv[2], { stdio: ['pipe', 'pipe', 'inherit'] });
const answers = createInterface({ input: stopwatch.stdout });

/** The same in the core, without any binding. */
async function throughCore(script) {
	const answer = once(answers, 'line');
	stopwatch.stdin.write(`${JSON.stringify(script)}\n`);
	return Number((await answer)[0]);
}

const micros = (nanos) => `${(nanos / 1000).toFixed(1)}µs`.padStart(12);
console.log(`\n${'turn'.padEnd(28)}      bytes      Node.js         core    ratio       on top`);
for (const [name, textOf] of Object.entries(TURNS)) {
	for (const [size, count] of Object.entries(SIZES)) {
		const script = scriptOf(textOf(count));
		let [node, core] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
		for (let round = 0; round < ROUNDS; round += 1) {
			node = Math.min(node, throughJavaScript(script));
			core = Math.min(core, await throughCore(script));
		}
		const length = String(script.events[1][0].text.length).padStart(10);
		const ratio = (node / core).toFixed(2).padStart(8);
		console.log(
			`${`${name} ${size}`.padEnd(28)} ${length} ${micros(node)} ${micros(core)} ${ratio} ${micros(node - core)}`,
		);
	}
}
stopwatch.stdin.end();
await once(stopwatch, 'exit');

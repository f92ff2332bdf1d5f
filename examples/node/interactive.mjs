// One interactive run against a real process: it asks, is answered, and finishes.
//
// usage: interactive.mjs [--sticky]     with --sticky the agent's process stays alive while it waits for the answer
import { join } from 'node:path';
import { admit } from 'turnlatch';
import { Driver, LocalSlots, LocalTimers, MemoryStore } from 'turnlatch/driver';
import { SubprocessRunner } from 'turnlatch/node';

const AGENT = [process.execPath, join(import.meta.dirname, 'agent.mjs')];
const STICKY = process.argv.includes('--sticky');
const SCHEMA = { type: 'object', required: ['file'], properties: { file: { type: 'string' } } };
const say = (what) => console.log(`${performance.now().toFixed().padStart(5)} ms  ${what}`);

function command(_run, effect) {
	if (STICKY) return { argv: [...AGENT, '--sticky'], endOfTurn: '---' };
	return { argv: effect.resume ? [...AGENT, effect.resume.response] : AGENT, timeoutMs: 60_000 };
}

const skill = { runner: { execution_modes: ['interactive'] }, output_schema: SCHEMA };
const profile = { kind: STICKY ? 'sticky_process' : 'resumable' };
const request = { run_id: 'r1', engine: 'demo', execution_mode: 'interactive', interactive_profile: profile };
const driver = new Driver({
	slots: new LocalSlots(1),
	timers: new LocalTimers(),
	processes: new SubprocessRunner(command),
	store: new MemoryStore(),
	onNotify: (runId, effect) => say(`${runId} is ${effect.status}`),
});
const runId = await driver.start(admit(skill, request, { engines: ['demo'] }));
await driver.wait(runId, 'waiting_user');
await driver.settled(runId); // what was notified is printed, the slot is given back
const question = driver.run(runId).pendingView().pending;
say(`agent asks: ${question.display_prompt} ${JSON.stringify(question.options.map((option) => option.label))}`);
say('user answers: b.txt');
const { kind } = await driver.reply(runId, question.interaction_id, 'b.txt');
say(`receipt: ${kind}`);
const view = await driver.wait(runId);
await driver.settled(runId);
say(`result: ${JSON.stringify(view.data)}  because ${driver.run(runId).explain().reason}`);
await driver.close();

// What every consumer runs: one whole run, which ends with the word that the test expects.
const body = (names) => `
  ${names}
  await init();
  const skill = { runner: { execution_modes: ['interactive'] }, output_schema: { type: 'object', required: ['file'] } };
  const plan = admit(skill, { run_id: 'r1', engine: 'codex', execution_mode: 'interactive' }, { engines: ['codex'] });
  const [run] = Run.create(plan, new Date());
  run.apply({ type: 'slot_granted', slot_id: 'r1/s1' }, Date.now());
  run.apply({ type: 'turn_finished', attempt_number: 1, text: '{"file": "b.txt", "__SKILL_DONE__": true}' }, Date.now());
  return run.status + ' ' + run.statusView().data.file;
`;
export const EXPECTED = 'succeeded b.txt';
/** A module that offers the run; `print` is what Node-like runtimes do with it. */
export const APP = `import { Run, admit, init } from 'turnlatch';\nexport async function main() {${body('')}}\n`;
export const COMMONJS = `async function main() {${body("const { Run, admit, init } = require('turnlatch');")}}\nmain().then(console.log);\n`;
export const INLINE = APP.replace("'turnlatch'", "'turnlatch/inline'");
export const PRINT = "import { main } from './app.js';\nconsole.log(await main());\n";
export const PAGE = "import { main } from './app.js';\nmain().then((told) => { globalThis.done = told; });\n";
export const HTML = '<!doctype html><title>consumer</title><script type="module" src="./page.js"></script>';

/** Fails unless this is what the run says. */
export function expectRun(told) {
	if (String(told).trim() !== EXPECTED) throw new Error(`expected ${EXPECTED}, found ${told}`);
	return String(told).trim();
}

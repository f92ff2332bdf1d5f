// turnlatch, as a host in JavaScript calls it: in Node and in a page.
import { DONE, decisionOf, QUESTION } from './skill.mjs';
import { atOnce, fresh, repeated, timed } from './timing.mjs';

const JOURNAL_LENGTH = 10_000;
const free = (run) => run.free();

/** The contender, of the package and of what bench/skill.json says. */
export function turnlatch({ admit, Journal, replay, Run }, skill) {
	const manifest = { runner: skill.runner, output_schema: skill.output_schema };

	function planOf(runId) {
		const request = JSON.stringify({ ...skill.request, run_id: runId });
		return admit(manifest, request, { engines: ['codex'] });
	}

	function runningRun(runId) {
		const plan = planOf(runId);
		const [run] = Run.create(plan, 0);
		plan.free();
		run.apply({ type: 'slot_granted', slot_id: `${runId}/s1` }, 0);
		return run;
	}

	function waitingRun(runId) {
		const run = runningRun(runId);
		finishWithText(run, QUESTION);
		return run;
	}

	function lifecycle(plan, keep) {
		const [run, created] = Run.create(plan, 0);
		keep(created);
		keep(run.apply({ type: 'slot_granted', slot_id: 'r1/s1' }, 0));
		keep(run.apply({ type: 'turn_finished', attempt_number: 1, text: 'Which one?' }, 0));
		keep(run.apply({ type: 'reply', interaction_id: 1, response: 'this one' }, 0));
		keep(run.apply({ type: 'slot_granted', slot_id: 'r1/s2' }, 0));
		keep(run.apply({ type: 'turn_finished', attempt_number: 2, text: DONE }, 0));
		return run;
	}

	/** The text of a journal in which one question follows another. */
	function longJournal(plan) {
		const journal = new Journal(plan);
		const [run, created] = Run.create(plan, 0);
		journal.push(created.entry);
		for (let number = 1; journal.length < JOURNAL_LENGTH; number += 1) {
			for (const event of [
				{ type: 'slot_granted', slot_id: `r1/s${number}` },
				{ type: 'turn_finished', attempt_number: number, text: QUESTION },
				{ type: 'reply', interaction_id: number, response: 'the second' },
			]) {
				if (journal.length < JOURNAL_LENGTH) journal.push(run.apply(event, 0).entry);
			}
		}
		run.free();
		return journal.serialize();
	}

	const measures = {
		turn: ({ text, is_stream }) => {
			const bytes = new TextEncoder().encode(text);
			const before = runningRun('r1');
			const finish = is_stream ? finishWithStream : finishWithText;
			const run = before.copy();
			finish(run, fresh(bytes));
			const decision = decisionOf(run.status, run.statusView().data);
			run.free();
			const prepare = () => ({ run: before.copy(), text: fresh(bytes) });
			const work = (given) => finish(given.run, given.text);
			return { decision, batch: (calls) => timed(calls, atOnce(bytes.length), prepare, work, ({ run }) => run.free()) };
		},
		lifecycle: () => {
			const plan = planOf('r1');
			return repeated(
				() => lifecycle(plan, () => {}),
				(run) => run.status,
				free,
			);
		},
		journal: () => {
			const plan = planOf('r1');
			return repeated(
				() => {
					const journal = new Journal(plan);
					lifecycle(plan, ({ entry }) => journal.push(entry)).free();
					return journal;
				},
				(journal) => journal.length,
			);
		},
		snapshot: () => {
			const run = waitingRun('r1');
			return repeated(
				() => run.snapshot(),
				(text) => text.length,
			);
		},
		restore: () => {
			const snapshot = waitingRun('r1').snapshot();
			return repeated(
				() => Run.restore(snapshot),
				(run) => run.status,
				free,
			);
		},
		replay: () => {
			const plan = planOf('r1');
			const text = longJournal(plan);
			return repeated(
				() => replay(plan, Journal.restore(text)),
				([run]) => run.revision,
				([run]) => run.free(),
			);
		},
	};
	return {
		prepare: (given) => measures[given.what](given),
		makeWaiting: (number) => waitingRun(`r${number}`),
	};
}

function finishWithText(run, text) {
	return run.apply({ type: 'turn_finished', attempt_number: 1, text }, 0);
}

function finishWithStream(run, stdout) {
	const stream = { format: 'codex-jsonl', stdout, exit_code: 0 };
	return run.apply({ type: 'turn_finished', attempt_number: 1, stream }, 0);
}

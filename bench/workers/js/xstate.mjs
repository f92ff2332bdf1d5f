// xstate+ajv: XState 5 with an actor for each run, Ajv 2020 compiled once.
import { lookAt } from './evidence.mjs';
import { DONE, decisionOf, QUESTION } from './skill.mjs';
import { atOnce, fresh, repeated, timed } from './timing.mjs';

/** The contender, of the two packages and of what bench/skill.json says. */
export function xstateAndAjv({ Ajv, assign, createActor, createMachine }, skill) {
	const isValid = new Ajv().compile(skill.output_schema);
	const machine = createMachine({
		initial: 'queued',
		context: { attempt: 0, pending: null, history: [], output: null },
		states: {
			queued: {
				on: { grant: { target: 'running', actions: assign({ attempt: ({ context }) => context.attempt + 1 }) } },
			},
			running: {
				on: {
					complete: { target: 'succeeded', actions: assign({ output: ({ event }) => event.output }) },
					fail: 'failed',
					ask: {
						target: 'waiting_user',
						actions: assign({
							pending: ({ context, event }) => ({
								interaction_id: context.attempt,
								prompt: event.text.slice(-16_384),
							}),
						}),
					},
				},
			},
			waiting_user: {
				on: {
					answer: {
						target: 'queued',
						actions: assign({
							history: ({ context, event }) => [...context.history, { ...context.pending, response: event.response }],
							pending: null,
						}),
					},
				},
			},
			succeeded: { type: 'final' },
			failed: { type: 'final' },
		},
	});

	const runningRun = () => {
		const run = createActor(machine).start();
		run.send({ type: 'grant' });
		return run;
	};
	const waitingRun = () => {
		const run = runningRun();
		finish(run, fresh(new TextEncoder().encode(QUESTION)), false);
		return run;
	};
	function finish(run, text, isStream) {
		const { marker, output } = lookAt(text, isStream);
		if (output !== undefined && isValid(output)) run.send({ type: 'complete', output });
		else if (marker) run.send({ type: 'fail' });
		else run.send({ type: 'ask', text });
	}

	const statusOf = (run) => run.getSnapshot().value;
	const measures = {
		turn: ({ text, is_stream }) => {
			const bytes = new TextEncoder().encode(text);
			const run = runningRun();
			finish(run, text, is_stream);
			const decision = decisionOf(statusOf(run), run.getSnapshot().context.output);
			const prepare = () => ({ run: runningRun(), text: fresh(bytes) });
			const work = (given) => finish(given.run, given.text, is_stream);
			return { decision, batch: (calls) => timed(calls, atOnce(bytes.length), prepare, work) };
		},
		lifecycle: () =>
			repeated(() => {
				const run = runningRun();
				finish(run, 'Which one?', false);
				run.send({ type: 'answer', response: 'this one' });
				run.send({ type: 'grant' });
				finish(run, DONE, false);
				return run;
			}, statusOf),
		snapshot: () => {
			const run = waitingRun();
			return repeated(
				() => JSON.stringify(run.getPersistedSnapshot()),
				(text) => text.length,
			);
		},
		restore: () => {
			const text = JSON.stringify(waitingRun().getPersistedSnapshot());
			return repeated(() => createActor(machine, { snapshot: JSON.parse(text) }).start(), statusOf);
		},
	};
	return { prepare: (given) => measures[given.what]?.(given), makeWaiting: waitingRun };
}

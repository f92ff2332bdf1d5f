/**
 * Agents for the tests: shell scripts that note when their turns begin and end.
 *
 * The run's id says what its agent does: `ask` asks once, `hold` does so when a file says that it may, `talk` is sticky,
 * `done` never asks, `deaf` holds and does not hear SIGTERM, and `nap` asks after a short while.
 */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Run, StartTurn } from 'turnlatch';
import type { Command } from 'turnlatch/node';

const QUESTION = "echo 'Which file?'";
const ANSWER = `printf '{"file": "%s", "__SKILL_DONE__": true}\\n' "$reply"`;
const HOLD = 'while [ ! -e "go-$run" ]; do sleep 0.05; done';
const TALK = `
n=1; echo "start $slot $n" >> turns.log; echo 'Which file?'; echo "end $slot $n" >> turns.log; echo ==
while read -r reply; do
	n=$((n + 1)); echo "start $slot $n" >> turns.log
	if [ "$reply" = again ]; then echo 'Which one, again?'; else ${ANSWER}; fi
	echo "end $slot $n" >> turns.log; echo ==
done`;

/** Makes the command of a turn; the scripts work in one folder and carry a mark in their environment. */
export function agents(folder: string, mark = ''): (run: Run, effect: StartTurn) => Command {
	return ({ runId }, { slot_id: slot, attempt_number: attempt, resume }) => {
		const [kind = ''] = runId.split('-');
		const known = { run: runId, slot, attempt: String(attempt), reply: resume?.response ?? 'b.txt' };
		const env = { PATH: '/usr/bin:/bin', TURNLATCH_TEST: mark, ...known };
		const common = { cwd: folder, env };
		if (kind === 'talk') return { argv: ['sh', '-c', TALK], endOfTurn: '==', ...common };
		const wait = kind === 'hold' || kind === 'deaf' ? HOLD : kind === 'nap' ? 'sleep 0.15' : ':';
		const script = [
			kind === 'deaf' ? 'trap "" TERM' : ':',
			'echo "start $slot $attempt" >> turns.log',
			wait,
			kind === 'done' || attempt > 1 ? ANSWER : QUESTION,
			'echo "end $slot $attempt" >> turns.log',
		];
		return { argv: ['sh', '-c', script.join('\n')], ...common };
	};
}

export interface Noted {
	readonly what: string;
	readonly slot: string;
	readonly attempt: number;
}

/** What the agents noted, in order. */
export function turns(folder: string): Noted[] {
	const log = join(folder, 'turns.log');
	if (!existsSync(log)) return [];
	const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
	return lines.map((line) => {
		const [what = '', slot = '', attempt = ''] = line.split(' ');
		return { what, slot, attempt: Number(attempt) };
	});
}

/** The largest number of turns that were under way together. */
export function mostAtATime(folder: string): number {
	let [now, most] = [0, 0];
	for (const { what } of turns(folder)) {
		now += what === 'start' ? 1 : -1;
		most = Math.max(most, now);
	}
	return most;
}

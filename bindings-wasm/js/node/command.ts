/** What a host says of an agent's command, and how its output is read. */

import { type Run, StreamDecoder, type StreamFormat } from '../public.js';

/**
 * How to run a turn. `stream` says how the command writes its output (`text` unless told), `env` replaces the
 * environment, `timeoutMs` is for one turn.
 *
 * The turn ends with the process, which reads `stdin` and then the end of its input. A `sticky` process lives on: its
 * input stays open, what it is given is written as its format wants it, and a turn ends with the row that says so
 * (`claude-stream-json`, `acp`) or with a line of output that is equal to `endOfTurn` (`text`, `ndjson`), which implies
 * `sticky`.
 */
export interface Command {
	readonly argv: readonly string[];
	readonly stdin?: string;
	readonly env?: Readonly<Record<string, string | undefined>>;
	readonly cwd?: string;
	readonly timeoutMs?: number;
	readonly stream?: StreamFormat;
	readonly sticky?: boolean;
	readonly endOfTurn?: string;
}

/** Throws if no process can be made of it. */
export function checkCommand({ argv, timeoutMs }: Command): void {
	if (argv.length === 0) throw new TypeError('argv names no program');
	// Above that, `setTimeout` would fire at once.
	if (timeoutMs !== undefined && !(timeoutMs >= 0 && timeoutMs < 2 ** 31)) {
		throw new RangeError('timeoutMs is between 0 and 2 147 483 647');
	}
}

/** Whether the process lives on after a turn. */
export function isSticky({ sticky = false, endOfTurn }: Command): boolean {
	return sticky || endOfTurn !== undefined;
}

/** Throws `EventRejectedError` if the command's format and its way of living do not go together. */
export function decoderOf(run: Run, command: Command): StreamDecoder {
	const { limits } = run.plan.toJSON() as { limits: { turn_text_bytes: number } };
	const { stream = 'text', endOfTurn, cwd = '' } = command;
	return new StreamDecoder(stream, {
		textLimit: limits.turn_text_bytes,
		sticky: isSticky(command),
		workFolder: cwd,
		...(endOfTurn === undefined ? {} : { endOfTurn }),
	});
}

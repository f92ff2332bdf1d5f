/** What agents' programs print, decoded: the whole of it, or piece by piece while it is written. */

import * as glue from 'turnlatch-glue';
import { EventRejectedError } from './errors.js';
import { callWith, Holder } from './holder.js';
import { call } from './instance.js';
import { encode, eventText } from './json.js';
import type * as types from './types.js';

/** How a decoder reads. */
export interface DecoderOptions {
	/** The plan's `turn_text_bytes`: of the assistant's text no more is kept than shows that it is over; not limited if absent. */
	readonly textLimit?: number;
	/** The process lives on after a turn; `endOfTurn` implies it. */
	readonly sticky?: boolean;
	/** The line by which a process that lives on ends a turn, for the formats that do not say it (`text`, `ndjson`). */
	readonly endOfTurn?: string;
	/** The folder that the process works in, for agents that need to know it (`acp`). */
	readonly workFolder?: string;
}

/** Reads a process's stream while it is written, and says what to write to the process. */
export class StreamDecoder extends Holder {
	/** Throws {@link EventRejectedError} if there is no such format, or if it cannot say when a turn of a living process is over. */
	constructor(format: types.StreamFormat, options: DecoderOptions = {}) {
		const { textLimit, endOfTurn, workFolder = '' } = options;
		const sticky = options.sticky === true || endOfTurn !== undefined;
		const name = checked(format, 'the format');
		const limit = textLimit === undefined ? undefined : bytesOf(textLimit);
		const line = endOfTurn === undefined ? undefined : checked(endOfTurn, 'endOfTurn');
		const folder = sticky ? checked(workFolder, 'workFolder') : undefined;
		super(
			'decoder',
			call(() => new glue.StreamDecoder(name, limit, line, folder)),
		);
	}

	/**
	 * Takes the next bytes of stdout, cut anywhere, and says what they brought. When a turn is over, what a sticky process
	 * has printed behind its end is kept until `finish` was called; it is read with the next bytes, also with none.
	 */
	feed(bytes: ArrayBufferView): types.Progress {
		if (!ArrayBuffer.isView(bytes)) throw malformed(`a stream is fed with bytes, found ${typeof bytes}`);
		const taken = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
		return callWith(this, (decoder: glue.StreamDecoder) => decoder.feed(taken));
	}

	/** What to write to the process to give it a prompt, or a reply. One that ends with its turn is given the text itself. */
	prompt(words: string): string {
		const bytes = encode(checked(words, 'a prompt'));
		return callWith(this, (decoder: glue.StreamDecoder) => decoder.prompt(bytes));
	}

	/** What the turn says, now that it is over; without `exitCode` the process lives on, or was ended by the host. */
	finish(stderr = '', exitCode?: number | bigint): types.Decoded {
		const bytes = encode(checked(stderr, 'stderr'));
		const code = exitCode === undefined ? undefined : whole(exitCode);
		return callWith(this, (decoder: glue.StreamDecoder) => decoder.finish(bytes, code));
	}
}

/** Decodes the whole of a turn's stream, or throws {@link EventRejectedError}. */
export function decodeStream(stream: types.TurnStream): types.Decoded {
	const bytes = encode(eventText(stream));
	return call(() => glue.decode_stream(bytes));
}

function malformed(message: string): EventRejectedError {
	return new EventRejectedError('EVENT_MALFORMED', message);
}

function checked(value: string, name: string): string {
	if (typeof value !== 'string') throw malformed(`${name} must be a string, found ${typeof value}`);
	return value;
}

/** The core counts bytes in 32 bits; what is more is no limit to it. */
function bytesOf(limit: number): number {
	if (!(Number.isInteger(limit) && limit >= 0)) throw malformed('textLimit must be a whole number of bytes');
	return Math.min(limit, 0xffff_ffff);
}

function whole(code: number | bigint): bigint {
	const exact = typeof code === 'bigint' || Number.isSafeInteger(code) ? BigInt(code) : undefined;
	if (exact === undefined || BigInt.asIntN(64, exact) !== exact) throw malformed('an exit code must be a whole number');
	return exact;
}

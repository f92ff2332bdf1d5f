/// <reference lib="esnext.disposable" preserve="true" />
/** What agents' programs print, decoded: the whole of it, or piece by piece while it is written. */

import * as glue from 'turnlatch-glue';
import { CorePanicked, malformed } from './errors.js';
import { encode, eventText } from './input.js';
import { call, currentGeneration, type Handle } from './instance.js';
import { readJson } from './json.js';
import type * as types from './types.js';

/** How a decoder reads. */
export interface DecoderOptions {
	/** The plan's `turn_text_bytes`: of the assistant's text no more is kept than shows that it is over; no limit unless told. */
	readonly textLimit?: number;
	/** The process lives on after a turn; `endOfTurn` implies it. */
	readonly sticky?: boolean;
	/** The line by which a process that lives on ends a turn, for the formats that do not say it (`text`, `ndjson`). */
	readonly endOfTurn?: string;
	/** The folder that the process works in, for agents that are told (`acp`). */
	readonly workFolder?: string;
}

interface DecoderHandle extends Handle {
	freed: boolean;
}

const abandoned = new FinalizationRegistry<DecoderHandle>((handle) => {
	try {
		release(handle);
	} catch {
		// Only a broken instance throws here. Its memory goes with it, and nobody is there to be told.
	}
});

/** Reads a process's stream while it is written, and says what to write to the process. */
export class StreamDecoder {
	readonly #handle: DecoderHandle;

	/** Throws {@link EventRejectedError} if there is no such format, or if it cannot say when a turn of a living process is over. */
	constructor(format: types.StreamFormat, options: DecoderOptions = {}) {
		const { textLimit, endOfTurn, workFolder = '' } = options;
		const sticky = options.sticky === true || endOfTurn !== undefined;
		const name = text(format, 'the format');
		const limit = textLimit === undefined ? undefined : bytesOf(textLimit);
		const line = endOfTurn === undefined ? undefined : text(endOfTurn, 'endOfTurn');
		const folder = sticky ? text(workFolder, 'workFolder') : undefined;
		const generation = currentGeneration();
		const id = call(() => glue.decoder_create(name, limit, line, folder));
		this.#handle = { generation, id, freed: false };
		abandoned.register(this, this.#handle, this.#handle);
	}

	/**
	 * Takes the next bytes of stdout, cut anywhere, and says what they brought. When a turn is over, what a sticky process
	 * has printed behind its end is kept until `finish` was called; it is read with the next bytes, also with none.
	 */
	feed(bytes: ArrayBufferView): types.Progress {
		if (!ArrayBuffer.isView(bytes)) throw malformed(`a stream is fed with bytes, found ${typeof bytes}`);
		const taken = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
		return JSON.parse(this.#call((id) => glue.decoder_feed(id, taken))) as types.Progress;
	}

	/** What to write to the process to give it a prompt, or a reply. One that ends with its turn is given the text itself. */
	prompt(words: string): string {
		const bytes = encode(text(words, 'a prompt'));
		return this.#call((id) => glue.decoder_prompt(id, bytes));
	}

	/** What the turn says, now that it is over; without `exitCode` the process lives on, or was ended by the host. */
	finish(stderr = '', exitCode?: number | bigint): types.Decoded {
		const bytes = encode(text(stderr, 'stderr'));
		const code = exitCode === undefined ? undefined : whole(exitCode);
		return readJson(this.#call((id) => glue.decoder_finish(id, bytes, code))) as types.Decoded;
	}

	/** Gives its memory back at once, instead of when it is collected. The decoder cannot be used afterwards. */
	free(): void {
		if (this.#handle.freed) return;
		abandoned.unregister(this.#handle);
		release(this.#handle);
	}

	/** The same as {@link StreamDecoder.free}, for `using`. */
	declare [Symbol.dispose]: () => void;

	#call<T>(work: (id: number) => T): T {
		const { generation, id, freed } = this.#handle;
		if (freed) throw new TypeError('the decoder was freed');
		if (generation !== currentGeneration()) {
			throw new CorePanicked(
				'the instance broke and this decoder was lost with it; make a new one',
				undefined,
				undefined,
			);
		}
		return call(() => work(id));
	}
}

if (Symbol.dispose)
	Object.defineProperty(StreamDecoder.prototype, Symbol.dispose, { value: StreamDecoder.prototype.free });

/** Decodes the whole of a turn's stream, or throws {@link EventRejectedError}. */
export function decodeStream(stream: types.TurnStream): types.Decoded {
	const bytes = encode(eventText(stream));
	return readJson(call(() => glue.decode_stream(bytes))) as types.Decoded;
}

function release(handle: DecoderHandle): void {
	handle.freed = true;
	if (handle.generation === currentGeneration()) call(() => glue.decoder_free(handle.id));
}

function text(value: string, name: string): string {
	if (typeof value !== 'string') throw malformed(`${name} must be a text, found ${typeof value}`);
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

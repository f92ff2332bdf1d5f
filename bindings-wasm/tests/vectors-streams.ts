/** The steps of vectors that feed a decoder. Like the runner they import nothing of the package. */

import type * as turnlatch from 'turnlatch';

type Package = typeof turnlatch;
type Chunk = string | number[] | { prompt: string } | { finish: { stderr?: string; exit_code?: number } };

/** The step `feed`; with a `work_folder` the process is sticky. */
export interface Fed {
	format: turnlatch.StreamFormat;
	limit?: number;
	end_of_turn?: string;
	work_folder?: string;
	chunks: Chunk[];
}

/** What a decoder answers to chunks: a text, a list of bytes, a prompt to write, or the end of a turn. */
export function fed(core: Package, { format, limit, end_of_turn, work_folder, chunks }: Fed): unknown[] {
	const decoder = new core.StreamDecoder(format, {
		sticky: work_folder !== undefined,
		...(limit === undefined ? {} : { textLimit: limit }),
		...(end_of_turn === undefined ? {} : { endOfTurn: end_of_turn }),
		...(work_folder === undefined ? {} : { workFolder: work_folder }),
	});
	const answers = chunks.map((chunk) => {
		if (typeof chunk === 'string') return decoder.feed(new TextEncoder().encode(chunk));
		if (Array.isArray(chunk)) return decoder.feed(Uint8Array.from(chunk));
		if ('prompt' in chunk) return decoder.prompt(chunk.prompt);
		return decoder.finish(chunk.finish.stderr, chunk.finish.exit_code);
	});
	decoder.free();
	return answers;
}

/** What a decoder says of a stream that comes in pieces. */
export function decodedInPieces(core: Package, stream: turnlatch.TurnStream, bytesEach: number): turnlatch.Decoded {
	const decoder = new core.StreamDecoder(stream.format);
	const bytes = new TextEncoder().encode(stream.stdout);
	for (let at = 0; at < bytes.length; at += bytesEach) decoder.feed(bytes.subarray(at, at + bytesEach));
	const decoded = decoder.finish(stream.stderr, stream.exit_code);
	decoder.free();
	return decoded;
}

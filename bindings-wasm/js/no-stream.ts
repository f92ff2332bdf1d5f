/** What stands in the place of `stream.ts` in the slim entry: a page that shows runs has no agents. */

import { malformed } from './errors.js';

/** Refuses to be made. */
export class StreamDecoder {
	constructor() {
		throw malformed(MISSING);
	}
}

/** Refuses. */
export function decodeStream(): never {
	throw malformed(MISSING);
}

const MISSING = 'this build cannot decode a `stream`; use `turnlatch` itself';

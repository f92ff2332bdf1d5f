/** How the service says no: the core's codes with the core's HTTP statuses, in one form. */

import { AdmissionError, codes, type Receipt, TurnlatchError } from 'turnlatch';

const HTTP = new Map<string, number>(codes().map(({ code, http }) => [code, http]));

/** The service does not serve a request: by its own rules, or because the run refused it. */
export class NotServed extends TurnlatchError {
	readonly headers: Readonly<Record<string, string>>;

	constructor(
		code: string,
		message: string,
		{ details = null, headers = {} }: { details?: unknown; headers?: Readonly<Record<string, string>> } = {},
	) {
		super(code, message, { details });
		this.headers = headers;
	}
}

export function runExists(): NotServed {
	return new NotServed('RUN_EXISTS', 'there is a run of this id already');
}

/** An answer whose text is JSON already. */
export interface JsonAnswer {
	readonly status: number;
	readonly headers: Readonly<Record<string, string>>;
	readonly text: string;
}

/** Throws the error of a request that the run refused. */
export function checkTaken(receipt: Receipt): void {
	const { code, message = '' } = receipt;
	if (code !== undefined) throw new NotServed(code, message, { details: receipt });
}

/** Data as JSON text without spaces. `JSON.stringify` alone refuses bigints, which is how large integers come. */
export function compact(data: unknown): string {
	if (typeof data === 'bigint') return String(data);
	if (Array.isArray(data)) return `[${data.map(compact).join(',')}]`;
	if (typeof data !== 'object' || data === null) return JSON.stringify(data);
	const members = Object.entries(data).filter(([, value]) => value !== undefined);
	return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${compact(value)}`).join(',')}}`;
}

/** The error as clients see it; `undefined` for what is no refusal but a bug. */
export function errorAnswer(error: unknown): JsonAnswer | undefined {
	if (!(error instanceof TurnlatchError)) return undefined;
	const status = HTTP.get(error.code);
	if (status === undefined) return undefined;
	const { code, message } = error;
	const details = error instanceof AdmissionError ? { problems: error.details } : error.details;
	const headers = error instanceof NotServed ? error.headers : {};
	return { status, headers, text: compact({ error: { code, message, details } }) };
}

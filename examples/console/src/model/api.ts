/** The service's HTTP API, as far as the console uses it. */

import { signal } from '@preact/signals';
import type { ExecutionMode, Json, Problem, Receipt, StatusView } from 'turnlatch';
import { learnTime } from './clock.js';
import { keep, kept } from './kept.js';

export interface Health {
	status: 'ok' | 'stopping';
	version: string;
	slots: { total: number; held: string[]; waiting: number };
	unfinished: number;
}

export interface Skill {
	name: string;
	description: string;
	execution_modes: ExecutionMode[];
	engines: string[];
	max_attempt?: number;
	problems: Problem[];
}

export interface Skills {
	engines: string[];
	skills: Skill[];
}

export type JobView = Omit<StatusView, 'data' | 'data_text'>;

export interface Jobs {
	jobs: { skill: string; view: JobView }[];
	next: string | null;
}

/** The service said no, or was not there: then the code is `UNREACHABLE` and the status 0. */
export class ApiError extends Error {
	constructor(
		readonly status: number,
		readonly code: string,
		message: string,
		readonly details: unknown = null,
	) {
		super(message);
	}

	/** What became of a reply or a cancel that was refused. */
	get receipt(): Receipt | undefined {
		const { details } = this;
		return typeof details === 'object' && details !== null && 'kind' in details ? (details as Receipt) : undefined;
	}

	/** What admission found wrong. */
	get problems(): Problem[] {
		const { details } = this;
		if (typeof details !== 'object' || details === null || !('problems' in details)) return [];
		return Array.isArray(details.problems) ? (details.problems as Problem[]) : [];
	}
}

/** Whether the service wants a token that it has not been given. */
export const tokenWanted = signal(false);
const token = signal(kept('session', 'token') ?? '');

/** Uses a token from now on, in this tab only. */
export function keepToken(value: string): void {
	token.value = value.trim();
	keep('session', 'token', token.value === '' ? null : token.value);
	tokenWanted.value = false;
}

/** Sends a request; anything but a good answer is an {@link ApiError}. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
	const headers = new Headers(init.headers);
	if (token.value !== '') headers.set('authorization', `Bearer ${token.value}`);
	let response: Response;
	try {
		response = await fetch(path, { ...init, headers, cache: 'no-store' });
	} catch (error) {
		if (init.signal?.aborted) throw error;
		throw new ApiError(0, 'UNREACHABLE', 'the service does not answer');
	}
	learnTime(response.headers.get('date'));
	if (response.ok) return response;
	if (response.status === 401) tokenWanted.value = true;
	throw await errorOf(response);
}

export const health = (): Promise<Health> => read('/v1/health');
export const skills = (): Promise<Skills> => read('/v1/skills');
export const jobs = (query: URLSearchParams): Promise<Jobs> => read(`/v1/jobs?${query}`);
export const snapshot = (runId: string): Promise<string> => text(`${job(runId)}/snapshot`);
export const record = (runId: string): Promise<string> => text(`${job(runId)}/record`);
export const stepsPath = (runId: string): string => `${job(runId)}/events`;

/** Takes the request as JSON text. */
export function createJob(body: string): Promise<StatusView> {
	return send('/v1/jobs', body);
}

export interface ReplyBody {
	interaction_id: number;
	response: Json;
	idempotency_key: string;
}

export function reply(runId: string, body: ReplyBody): Promise<Receipt> {
	return send(`${job(runId)}/interaction/reply`, JSON.stringify(body));
}

export function cancel(runId: string, reason: string): Promise<Receipt> {
	return send(`${job(runId)}/cancel`, JSON.stringify(reason === '' ? {} : { reason }));
}

const job = (runId: string): string => `/v1/jobs/${encodeURIComponent(runId)}`;

async function text(path: string): Promise<string> {
	return (await request(path)).text();
}

async function read<T>(path: string): Promise<T> {
	return (await (await request(path)).json()) as T;
}

async function send<T>(path: string, body: string): Promise<T> {
	const headers = { 'content-type': 'application/json' };
	return (await (await request(path, { method: 'POST', headers, body })).json()) as T;
}

async function errorOf(response: Response): Promise<ApiError> {
	try {
		const { error } = (await response.json()) as { error: { code: string; message: string; details?: unknown } };
		return new ApiError(response.status, String(error.code), String(error.message), error.details ?? null);
	} catch {
		return new ApiError(response.status, `HTTP_${response.status}`, response.statusText);
	}
}

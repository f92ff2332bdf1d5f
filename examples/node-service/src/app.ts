/** The routes. Each reads its request, asks the core by the service, and sends the core's own text. */

import { readFileSync } from 'node:fs';
import { METHODS, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { exportRun } from 'turnlatch';
import { consoleFile } from './console.js';
import { compact, errorAnswer, type JsonAnswer, NotServed } from './errors.js';
import { readListQuery } from './listing.js';
import { log } from './log.js';
import { admitRequest, ClientGone, plainAddress, readBody, SAFE_HEADERS } from './safety.js';
import type { Service } from './service.js';
import { type Settings, SHARED } from './settings.js';
import { allEvents, readLastEventId, runEvents } from './streams.js';

const TIMEOUT_CHECK_MS = 1000;
const CONSOLE = '/*';
// An empty name is no name: `/v1/jobs/` is another path.
const RUN_ID = ':run_id(.+)';
const RUN = `/v1/jobs/${RUN_ID}`;

type OfRun = { Params: { run_id: string } };

/** The whole API and the console. No request is looked at before `ready`. */
export function makeApp(service: Service, settings: Settings, ready: Promise<void>): FastifyInstance {
	const app = Fastify({
		rewriteUrl: ({ url = '/' }) => plainAddress(url),
		exposeHeadRoutes: false,
		return503OnClosing: false,
		forceCloseConnections: 'idle',
		requestTimeout: settings.bodyMs,
		routerOptions: { maxParamLength: 65_536 },
		http: {
			maxHeaderSize: 65_536,
			headersTimeout: settings.headersMs,
			requestTimeout: settings.bodyMs,
			connectionsCheckingInterval: Math.min(settings.headersMs / 10, TIMEOUT_CHECK_MS),
		},
		clientErrorHandler: (error, socket) => refuseUnreadable(error, socket, answers.get(socket)),
	});
	const answers = new WeakMap<Socket, ServerResponse>();
	// Routes read bodies themselves: how much is read, and what is said about it, is the same in every service.
	for (const method of METHODS) app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
	const routes = new Routes();
	app.addHook('onRoute', ({ method, url }) => routes.add(String(method), url));
	app.addHook('onRequest', async (request, reply) => {
		answers.set(request.raw.socket, reply.raw);
		mark(reply.raw);
		admitRequest(request.raw, pathOf(request), settings);
		await ready;
	});
	app.setErrorHandler((error, request, reply) => answerError(error, request, reply));
	app.setNotFoundHandler((request) => {
		throw routes.noneFor(pathOf(request));
	});
	addServiceRoutes(app, service);
	addJobRoutes(app, service);
	addRunRoutes(app, service);
	app.get<{ Params: { '*': string } }>(CONSOLE, async (request, reply) => {
		const path = pathOf(request);
		if (path.startsWith('/v1/')) throw routes.noneFor(path);
		const { headers, content } = await consoleFile(settings.console, request.params['*']);
		return reply.headers(headers).send(content);
	});
	return app;
}

function addServiceRoutes(app: FastifyInstance, service: Service): void {
	const description = readFileSync(join(SHARED, 'openapi.json'), 'utf8');
	app.get('/v1/health', async (_request, reply) => send(reply, await service.health()));
	app.get('/metrics', async (_request, reply) => {
		const { type, text } = await service.telemetry.metrics();
		return reply.type(type).send(Buffer.from(text));
	});
	app.get('/v1/skills', async (_request, reply) => send(reply, await service.skills()));
	app.get('/v1/openapi.json', async (_request, reply) => send(reply, description));
	app.get('/v1/events', async (request, reply) => {
		await allEvents(service, reply, lastEventId(request));
		return reply;
	});
}

function addJobRoutes(app: FastifyInstance, service: Service): void {
	app.get('/v1/jobs', async (request, reply) => {
		return send(reply, await service.listing.page(readListQuery(queryOf(request))));
	});
	app.post('/v1/jobs', async (request, reply) => {
		service.checkOpen();
		const { runId, view } = await service.createJob(await readBody(request.raw));
		return send(reply.code(201).header('Location', `/v1/jobs/${runId}`), view);
	});
	for (const [path, kind] of [
		['interaction/reply', 'reply'],
		['cancel', 'cancel'],
	] as const) {
		app.post<OfRun>(`${RUN}/${path}`, async (request, reply) => {
			const { run_id: runId } = request.params;
			service.checkOpen();
			// An unknown run is unknown, whatever the body says.
			await service.snapshot(runId);
			return send(reply, compact(await service.tell(runId, kind, await readBody(request.raw))));
		});
	}
}

function addRunRoutes(app: FastifyInstance, service: Service): void {
	const get = (path: string, answer: (runId: string, reply: FastifyReply) => Promise<string>) =>
		app.get<OfRun>(`${RUN}${path}`, async (request, reply) => send(reply, await answer(request.params.run_id, reply)));
	get('', async (runId) => {
		using run = await service.run(runId);
		return run.statusViewJson();
	});
	get('/interaction/pending', async (runId) => {
		using run = await service.run(runId);
		return run.pendingViewJson();
	});
	get('/interaction/history', async (runId) => {
		using run = await service.run(runId);
		return `{"run_id":${compact(runId)},"history":${JSON.stringify(run.history())}}`;
	});
	get('/explanation', async (runId) => {
		using run = await service.run(runId);
		return run.explainJson();
	});
	get('/snapshot', (runId) => service.snapshot(runId));
	get('/record', async (runId, reply) => {
		using run = await service.run(runId);
		using plan = run.plan;
		reply.header('Content-Disposition', `attachment; filename="${runId}.record.json"`);
		return exportRun(plan, await service.host.journal(runId));
	});
	app.get<OfRun>(`${RUN}/events`, async (request, reply) => {
		await runEvents(service, reply, request.params.run_id, lastEventId(request));
		return reply;
	});
}

/** Which methods the paths of the API take. */
class Routes {
	readonly #routes: { readonly method: string; readonly path: RegExp }[] = [];

	add(method: string, url: string): void {
		// Everything can be a path of the console, so that its route says nothing about paths of the API.
		const path =
			url === CONSOLE ? /^(?!\/v1\/)/ : new RegExp(`^${url.replace(RUN_ID, '[^/]+').replaceAll('.', '\\.')}$`);
		this.#routes.push({ method, path });
	}

	/** Why no route takes a request: another method would do, or nothing is there. */
	noneFor(path: string): NotServed {
		const methods = this.#routes.filter((route) => route.path.test(path)).map(({ method }) => method);
		if (methods.length === 0) return new NotServed('PATH_UNKNOWN', 'there is nothing at this path');
		const allow = [...new Set(methods)].sort().join(', ');
		return new NotServed('METHOD_NOT_ALLOWED', `this path takes ${allow}`, { headers: { Allow: allow } });
	}
}

function lastEventId(request: FastifyRequest): number | undefined {
	return readLastEventId(request.raw.headersDistinct['last-event-id']?.[0], queryOf(request));
}

function pathOf({ url }: FastifyRequest): string {
	return url.split('?', 1)[0] ?? '';
}

function queryOf({ url }: FastifyRequest): string {
	const mark = url.indexOf('?');
	return mark < 0 ? '' : url.slice(mark + 1);
}

/** Sends a text that is JSON already. As bytes, because the framework would add a charset to the type of a text. */
function send(reply: FastifyReply, text: string): FastifyReply {
	return reply.type('application/json').send(Buffer.from(text));
}

function sendAnswer(reply: FastifyReply, { status, headers, text }: JsonAnswer): FastifyReply {
	return send(reply.code(status).headers(headers), text);
}

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
	const answer = errorAnswer(error);
	if (answer !== undefined) return sendAnswer(reply, answer);
	if (error instanceof ClientGone) {
		log.info`${request.method} ${pathOf(request)} was given up by its client`;
		return reply.hijack();
	}
	log.error(error)`${request.method} ${pathOf(request)} broke`;
	// A client is told nothing of the service's insides.
	const bug = new NotServed('SERVICE_FAILED', 'something went wrong inside of the service; its log says what');
	return sendAnswer(reply, errorAnswer(bug) as JsonAnswer);
}

function mark(response: ServerResponse): void {
	for (const [name, value] of Object.entries(SAFE_HEADERS)) response.setHeader(name, value);
}

/**
 * What is not HTTP gets an error of the usual form, unless another answer has begun. A connection whose request does not
 * arrive in time is closed without an answer.
 */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket, answer: ServerResponse | undefined): void {
	const isAnswering = answer?.headersSent && !answer.writableFinished;
	if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' || isAnswering) {
		socket.destroy();
		return;
	}
	const { status, text } = errorAnswer(new NotServed('REQUEST_MALFORMED', 'this is not a request')) as JsonAnswer;
	const headers = {
		...SAFE_HEADERS,
		'Content-Type': 'application/json',
		'Content-Length': text.length,
		Connection: 'close',
	};
	const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
	if (socket.writable) socket.write(`HTTP/1.1 ${status} Bad Request\r\n${head.join('')}\r\n${text}`);
	socket.destroySoon();
}

// The server: finds the script and the API of each request, plays one step for each request of the agent's main loop.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerOf, UnplayableStep } from './answer.mjs';
import { apiFor, probe } from './apis/index.mjs';
import { BadRequest, readBody } from './request-body.mjs';
import { checkScript, ScriptPlayer } from './script.mjs';
import { onTheWire } from './sse.mjs';

/**
 * @typedef {object} LoggedRequest
 * @property {string} path
 * @property {string | null} script
 * @property {string | null} api
 * @property {number | null} step the step that was played; null for a request that plays none
 * @property {string[]} tools
 * @property {string} last_user_text
 * @property {string} [problem] why the server answered with an error that the script did not ask for
 */

/** The script of requests whose path names none. */
export const DEFAULT_SCRIPT = 'default';

/** What a request without tools gets: agents make such ones for titles and summaries. */
const SIDE_STEP = { text: 'A short title' };

export class ModelServer {
	/** @type {LoggedRequest[]} every request so far */
	requests = [];
	/** @type {Map<string, ScriptPlayer>} */
	#players = new Map();
	#log;
	#http = createServer((request, response) => this.#serve(request, response));

	/** @param {{ scripts?: Record<string, import('./script.mjs').Script>, log?: (line: LoggedRequest) => void }} [options] */
	constructor({ scripts = {}, log = () => {} } = {}) {
		this.#log = log;
		for (const [name, script] of Object.entries(scripts)) this.play(name, script);
	}

	/** Gives a name a script, from its beginning. */
	play(name, script) {
		this.#players.set(name, new ScriptPlayer(checkScript(script, name)));
	}

	async listen(port = 0) {
		this.#http.listen(port, '127.0.0.1');
		await once(this.#http, 'listening');
		return this;
	}

	get port() {
		return this.#http.address().port;
	}

	/** Where the agent finds its model: a base address without the API's own path. */
	url(name = DEFAULT_SCRIPT) {
		return `http://127.0.0.1:${this.port}/s/${name}`;
	}

	async close() {
		this.#http.close();
		this.#http.closeAllConnections();
		await once(this.#http, 'close');
	}

	async #serve(request, response) {
		const entry = { path: request.url, script: null, api: null, step: null, tools: [], last_user_text: '' };
		let reply;
		try {
			reply = await this.#reply(request, entry);
		} catch (error) {
			reply = refusal(error, apiFor(pathOf(request.url).path));
		}
		if (reply.problem !== undefined) entry.problem = reply.problem;
		this.requests.push(entry);
		this.#log(entry);
		await send(response, reply);
	}

	async #reply(request, entry) {
		const { name, path } = pathOf(request.url);
		entry.script = name;
		const known = probe(request.method, path);
		if (known !== undefined) return { status: 200, json: known };
		const player = this.#players.get(name);
		if (player === undefined) return { status: 404, ...problem(`there is no script "${name}"`) };
		if (request.method === 'POST' && path === '/rewind') {
			player.rewind();
			return { status: 200, json: { script: name } };
		}
		const api = apiFor(path);
		if (api === undefined || request.method !== 'POST') {
			return { status: 404, ...problem(`${request.method} ${path} is no request for an answer of a model`) };
		}
		return answerTo(api, path, await readBody(request), player, entry);
	}
}

/** `/s/<name>/v1/…` is a request to the script of that name. The query says nothing that the body does not. */
function pathOf(url) {
	const [path] = url.split('?', 1);
	const named = /^\/s\/([\w-]+)(\/.*)?$/.exec(path);
	return named === null ? { name: DEFAULT_SCRIPT, path } : { name: named[1], path: named[2] ?? '/' };
}

function answerTo(api, path, body, player, entry) {
	const offered = api.tools(body);
	entry.api = api.name;
	entry.tools = offered.map((tool) => tool.name);
	entry.last_user_text = api.lastUserText(body);

	let step = SIDE_STEP;
	if (offered.length > 0) {
		const next = player.next();
		if (next === null) {
			const words = `the script "${entry.script}" is used up: it has ${player.length} steps, and all were played`;
			return { status: 500, json: api.error(500, words), problem: words };
		}
		entry.step = next.index;
		step = next.step;
	}
	const { status, delay_ms: delay = 0, drop } = step;
	if (status !== undefined) {
		return { status, delay, json: api.error(status, step.message ?? `The script answers with ${status}.`) };
	}
	const answer = answerOf(step, api.model(path, body), offered);
	return api.streams(path, body)
		? { status: 200, delay, drop, frames: api.frames(answer) }
		: { status: 200, delay, drop, json: api.whole(answer) };
}

function problem(words) {
	return { json: { error: { message: words } }, problem: words };
}

/** An answer to a request that cannot be played, in the form of the API if it is known. */
function refusal(error, api) {
	const status = error instanceof BadRequest ? 400 : 500;
	const words = error instanceof BadRequest || error instanceof UnplayableStep ? error.message : String(error.stack);
	return { ...problem(words), status, ...(api === undefined ? {} : { json: api.error(status, words) }) };
}

async function send(response, { status, json, frames, delay = 0, drop }) {
	const gone = new AbortController();
	response.on('close', () => gone.abort());
	const whole = json === undefined ? [] : [{ text: JSON.stringify(json), piece: true, closing: false }];
	try {
		await sleep(delay, undefined, { signal: gone.signal });
		response.writeHead(status, { 'content-type': json === undefined ? 'text/event-stream' : 'application/json' });
		await pipeline(Readable.from(onTheWire(frames ?? whole, drop)), response);
	} catch {
		// The agent went away, or the script broke the connection off; either way there is nobody left to tell.
		response.destroy();
	}
}

// Agents that speak the Agent Client Protocol: one process for many turns, JSON-RPC over its standard streams.
import { createInterface } from 'node:readline';
import { NO_SESSION, PROMPT, SLEEP } from './cases.mjs';
import { environment, furnish, inNewHome } from './place.mjs';
import { appears, endAll, start, within } from './process.mjs';
import { tidier } from './tidy.mjs';

const LONGEST_GOODBYE_MS = 3_000;

/**
 * One sequence of turns in one home: a capture for each process, with the lines that were sent to it.
 *
 * @param {import('./agents/index.mjs').AcpAgent} agent
 * @param {import('./cases.mjs').Turn[]} turns
 * @param {import('../capture.mjs').Means} means
 */
export function captureConversation(agent, turns, means) {
	return inNewHome(async (folders) => {
		const captured = [];
		let session = NO_SESSION;
		for (const ofProcess of processes(turns)) {
			const place = furnish(folders, agent, ofProcess[0], means.server);
			const { note, args, sent, stdout, stderr, ...end } = await captureProcess(
				agent,
				ofProcess,
				place,
				session,
				means,
			);
			session = /"sessionId":"([^"]+)"/.exec(stdout)?.[1] ?? session;
			const tidy = tidier(place, means.agentsFolder);
			captured.push({
				case: ofProcess.map((turn) => turn.name).join('+'),
				...(note === undefined ? {} : { note }),
				arguments: args.map(tidy),
				sent: sent.map(tidy),
				stdout: tidy(stdout),
				stderr: tidy(stderr),
				...end,
			});
		}
		return captured;
	});
}

/** All turns are in one process, but a turn that loads its session begins another. */
function processes(turns) {
	const list = [];
	for (const turn of turns) {
		if (list.length === 0 || turn.loads) list.push([]);
		list.at(-1).push(turn);
	}
	return list;
}

async function captureProcess(agent, turns, place, session, { command, server, longest_ms }) {
	const args = agent.arguments(place);
	const env = environment(place, agent.env(place));
	const { child, exited, closed, text } = start({ command, args, env, cwd: place.project, stdin: 'pipe' });
	const client = new AcpClient(child);
	let note;
	if (!(await within(converse(client, turns, place, session, server), longest_ms))) {
		note = `no answer within ${longest_ms / 1000} s`;
	}
	child.stdin.end();
	let end = await within(exited, LONGEST_GOODBYE_MS);
	if (end === null) {
		note ??= 'did not end when its input was closed, and was sent SIGTERM';
		process.kill(-child.pid, 'SIGTERM');
		end = await within(exited, LONGEST_GOODBYE_MS);
	}
	await endAll(place.home);
	await closed;
	const { exit_code, signal } = end ?? { exit_code: null, signal: null };
	return { note, args, sent: client.sent, stdout: text('stdout'), stderr: text('stderr'), exit_code, signal };
}

/** @returns {Promise<true>} when all turns have been answered */
async function converse(client, turns, place, session, server) {
	const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false } };
	await client.request('initialize', { protocolVersion: 1, clientCapabilities });
	const where = { cwd: place.project, mcpServers: [] };
	let sessionId = session;
	if (turns[0].loads || turns[0].unknownSession) await client.request('session/load', { sessionId, ...where });
	else sessionId = (await client.request('session/new', where)).result?.sessionId;
	for (const [index, turn] of turns.entries()) {
		if (index > 0) server.play('turn', { steps: turn.steps });
		const answered = client.request('session/prompt', {
			sessionId,
			prompt: [{ type: 'text', text: turn.prompt ?? PROMPT }],
		});
		if (turn.cancels && (await appears(place.home, SLEEP)))
			client.send({ method: 'session/cancel', params: { sessionId } });
		await answered;
	}
	return true;
}

/** The client's side of the protocol: it asks, allows what it is asked for, and has no files or terminals to lend. */
class AcpClient {
	/** @type {string[]} */
	sent = [];
	#stdin;
	#waiting = new Map();

	constructor({ stdin, stdout }) {
		this.#stdin = stdin;
		// An agent that has ended reads no more; its exit says so better than an error of its pipe.
		stdin.on('error', () => {});
		createInterface({ input: stdout, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => this.#read(line));
	}

	/** @returns {Promise<{ result?: any, error?: any }>} */
	request(method, params) {
		const id = this.#waiting.size + 1;
		this.send({ id, method, params });
		return new Promise((resolve) => this.#waiting.set(id, resolve));
	}

	send(message) {
		const line = JSON.stringify({ jsonrpc: '2.0', ...message });
		this.sent.push(line);
		this.#stdin.write(`${line}\n`);
	}

	#read(line) {
		let message;
		try {
			message = JSON.parse(line);
		} catch {
			return; // Not of the protocol; the capture shows it.
		}
		if (message.method === undefined) this.#waiting.get(message.id)?.(message);
		else if (message.method === 'session/request_permission') this.#allow(message);
		else if (message.id !== undefined)
			this.send({ id: message.id, error: { code: -32601, message: 'Method not found' } });
	}

	#allow({ id, params }) {
		const { optionId } = params.options.find((option) => option.kind === 'allow_once');
		this.send({ id, result: { outcome: { outcome: 'selected', optionId } } });
	}
}

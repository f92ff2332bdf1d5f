// Agents that speak the Agent Client Protocol: one process for many turns, JSON-RPC over its standard streams.
import { createInterface } from 'node:readline';
import { PROMPT, SLEEP } from './cases.mjs';
import { environment, furnish, inNewHome } from './place.mjs';
import { appears, endAll, start, within } from './process.mjs';
import { tidier } from './tidy.mjs';

const LONGEST_GOODBYE_MS = 3_000;

/**
 * One sequence of turns in one process: one capture for all of them, with the lines that were sent.
 *
 * @param {import('./acp-agents.mjs').AcpAgent} agent
 * @param {import('./cases.mjs').Turn[]} turns
 * @param {import('../capture.mjs').Means} means
 */
export function captureConversation(agent, turns, { command, server, agentsFolder, longest_ms }) {
	return inNewHome(async (folders) => {
		const place = furnish(folders, agent, turns[0], server);
		const args = agent.arguments(place);
		const env = environment(place, agent.env(place));
		const running = start({ command, args, env, cwd: place.project, stdin: 'pipe' });
		const client = new AcpClient(running.child);
		let note;
		if (!(await within(converse(client, turns, place, server), longest_ms))) {
			note = `no answer within ${longest_ms / 1000} s`;
		}
		running.child.stdin.end();
		let end = await within(running.exited, LONGEST_GOODBYE_MS);
		if (end === null) {
			note ??= 'did not end when its input was closed, and was sent SIGTERM';
			process.kill(-running.child.pid, 'SIGTERM');
			end = await within(running.exited, LONGEST_GOODBYE_MS);
		}
		await endAll(place.home);
		await running.closed;
		const tidy = tidier(place, agentsFolder);
		return [
			{
				case: turns.map((turn) => turn.name).join('+'),
				...(note === undefined ? {} : { note }),
				arguments: args.map(tidy),
				sent: client.sent.map(tidy),
				stdout: tidy(running.text('stdout')),
				stderr: tidy(running.text('stderr')),
				...(end ?? { exit_code: null, signal: null }),
			},
		];
	});
}

/** @returns {Promise<true>} when all turns have been answered */
async function converse(client, turns, place, server) {
	const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false } };
	await client.request('initialize', { protocolVersion: 1, clientCapabilities });
	const where = { cwd: place.project, mcpServers: [] };
	let sessionId = '00000000-0000-4000-8000-000000000000';
	if (turns[0].unknownSession) await client.request('session/load', { sessionId, ...where });
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
		const { optionId } = params.options.find((option) => option.kind.startsWith('allow')) ?? params.options[0];
		this.send({ id, result: { outcome: { outcome: 'selected', optionId } } });
	}
}

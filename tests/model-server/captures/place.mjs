// Where an agent runs: a home, a project and temporary files of its own, which are gone afterwards.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A port of the system's own services, on which no model ever listens. */
const NOBODY = 'http://127.0.0.1:9';

/**
 * @typedef {object} Place
 * @property {string} home
 * @property {string} project the agent's working folder
 * @property {string} temporary what it takes for the system's folder of temporary files
 * @property {string} model the model server's base address
 * @property {boolean} retries whether the agent may try again
 * @property {boolean} asksPermission whether it asks before it runs a tool
 */

/**
 * @template T
 * @param {(folders: Pick<Place, 'home' | 'project' | 'temporary'>) => Promise<T>} work
 */
export async function inNewHome(work) {
	const home = mkdtempSync(join(tmpdir(), 'capture-'));
	const folders = { home, project: join(home, 'project'), temporary: join(home, 'tmp') };
	mkdirSync(folders.project);
	mkdirSync(folders.temporary);
	try {
		return await work(folders);
	} finally {
		rmSync(home, { recursive: true, force: true });
	}
}

/**
 * The place of one turn, with the model's script and the agent's settings in it.
 *
 * @returns {Place}
 */
export function furnish(folders, agent, turn, server) {
	server.play('turn', { steps: turn.steps });
	const model = turn.down ? NOBODY : server.url('turn');
	const place = { ...folders, model, retries: turn.retries === true, asksPermission: turn.asksPermission === true };
	for (const [file, content] of Object.entries(agent.settings?.(place) ?? {})) {
		mkdirSync(dirname(file), { recursive: true });
		writeFileSync(file, JSON.stringify(content));
	}
	return place;
}

/** Nothing of the environment of whoever captures: keys, proxies and settings would change what the agents do. */
export function environment({ home, temporary }, more) {
	return {
		PATH: process.env.PATH,
		HOME: home,
		TMPDIR: temporary,
		USER: 'user',
		LANG: 'C.UTF-8',
		TERM: 'dumb',
		...more,
	};
}

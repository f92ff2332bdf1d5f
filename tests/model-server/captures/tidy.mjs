// What is of this machine and not of the agent is replaced by names that stay the same.
import { hostname } from 'node:os';

/**
 * @param {import('./place.mjs').Place} place
 * @param {string} agents where the agents are installed
 * @returns {(text: string) => string}
 */
export function tidier({ home, project, model }, agents) {
	const names = [
		[project, '/home/user/project'],
		[home, '/home/user'],
		[agents, '/opt/agents'],
		[model, 'http://127.0.0.1:8080'],
		[new URL(model).host, '127.0.0.1:8080'],
		[hostname(), 'host'],
	];
	return (text) => names.reduce((tidied, [ours, stable]) => replaceName(tidied, ours, stable), text);
}

/** Claude names folders after paths, with dashes for everything that is not a letter or a digit. */
function replaceName(text, ours, stable) {
	const dashed = (name) => name.replaceAll(/[^A-Za-z0-9]/g, '-');
	const replaced = text.replaceAll(ours, stable);
	return ours.startsWith('/') ? replaced.replaceAll(dashed(ours), dashed(stable)) : replaced;
}

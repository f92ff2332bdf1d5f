// Agents that are started for each turn.
import { NO_SESSION, PROMPT, SLEEP } from './cases.mjs';
import { environment, furnish, inNewHome } from './place.mjs';
import { runToEnd } from './process.mjs';
import { tidier } from './tidy.mjs';

/**
 * One sequence of turns in one home: a capture for each.
 *
 * @param {import('./agents/index.mjs').Agent} agent
 * @param {import('./cases.mjs').Turn[]} turns
 * @param {import('../capture.mjs').Means} means
 */
export function captureTurns(agent, turns, { command, server, agentsFolder, longest_ms }) {
	return inNewHome(async (folders) => {
		const captured = [];
		let session = agent.unknownSession ?? NO_SESSION;
		for (const turn of turns) {
			const place = furnish(folders, agent, turn, server);
			const prompt = turn.prompt ?? PROMPT;
			const again = turn.resumes || turn.unknownSession;
			const args = again ? agent.resumed(place, session, prompt) : agent.first(place, prompt);
			const launch = { command, args, env: environment(place, agent.env(place)), cwd: place.project };
			const { note, stdout, stderr, ...end } = await runToEnd(launch, longest_ms, {
				signal: turn.signal,
				duringCommand: SLEEP,
			});
			session = agent.session.exec(stdout)?.[1] ?? session;
			const tidy = tidier(place, agentsFolder);
			const output = { arguments: args.map(tidy), stdout: tidy(stdout), stderr: tidy(stderr) };
			captured.push({ case: turn.name, ...(note === undefined ? {} : { note }), ...output, ...end });
		}
		return captured;
	});
}

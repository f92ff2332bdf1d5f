// The agents that speak the Agent Client Protocol.
import { CODEX_SETTINGS, codexProvider, gemini } from './agents.mjs';
import { CASES, SLEEPING_TOOL } from './cases.mjs';

/**
 * @typedef {Pick<import('./agents.mjs').Agent, 'file' | 'cli' | 'package' | 'version' | 'format' | 'env' | 'settings' | 'cases'>
 *   & { arguments: (place: import('./place.mjs').Place) => string[] }} AcpAgent
 */

/** A running agent is not ended by a signal but by a request, so there is one case for that in place of two. */
const ACP_CASES = [
	...CASES.filter(([turn]) => turn.signal === undefined),
	[{ name: 'cancel', cancels: true, steps: [SLEEPING_TOOL, { text: 'I was not stopped.' }] }],
];

/** @type {AcpAgent} */
const codexAcp = {
	file: 'codex-acp',
	cli: 'codex-acp',
	package: '@zed-industries/codex-acp',
	version: '0.16.0',
	format: 'acp',
	env: () => ({ MOCK_KEY: 'dummy' }),
	arguments: (place) =>
		[
			'model=mock',
			'approval_policy=never',
			'sandbox_mode=danger-full-access',
			...CODEX_SETTINGS,
			codexProvider(place),
		].flatMap((setting) => ['-c', setting]),
	cases: ACP_CASES,
};

/** @type {AcpAgent} */
const geminiAcp = {
	...gemini,
	file: 'gemini-acp',
	format: 'acp',
	arguments: () => ['--acp', '--approval-mode', 'yolo', '-m', 'gemini-2.5-flash'],
	cases: ACP_CASES,
};

/** @type {AcpAgent[]} */
export const ACP_AGENTS = [codexAcp, geminiAcp];

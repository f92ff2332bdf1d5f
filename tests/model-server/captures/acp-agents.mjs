// The agents that speak the Agent Client Protocol.
import { CODEX_SETTINGS, codexProvider, gemini } from './agents.mjs';
import { CONVERSATION_CASES } from './cases.mjs';

/**
 * @typedef {Pick<import('./agents.mjs').Agent, 'file' | 'cli' | 'package' | 'version' | 'format' | 'env' | 'settings' | 'cases'>
 *   & { arguments: (place: import('./place.mjs').Place) => string[] }} AcpAgent
 */

/** @type {AcpAgent} */
const codexAcp = {
	file: 'codex-acp',
	cli: 'codex-acp',
	package: '@zed-industries/codex-acp',
	version: '0.16.0',
	format: 'acp',
	env: () => ({ MOCK_KEY: 'dummy' }),
	arguments(place) {
		const approval = `approval_policy=${place.asksPermission ? 'untrusted' : 'never'}`;
		const settings = [
			'model=mock',
			approval,
			'sandbox_mode=danger-full-access',
			...CODEX_SETTINGS,
			codexProvider(place),
		];
		return settings.flatMap((setting) => ['-c', setting]);
	},
	cases: CONVERSATION_CASES,
};

/** @type {AcpAgent} */
const geminiAcp = {
	...gemini,
	file: 'gemini-acp',
	format: 'acp',
	arguments: ({ asksPermission }) => [
		'--acp',
		'--approval-mode',
		asksPermission ? 'default' : 'yolo',
		'-m',
		'gemini-2.5-flash',
	],
	cases: CONVERSATION_CASES,
};

/** @type {AcpAgent[]} */
export const ACP_AGENTS = [codexAcp, geminiAcp];

// Gemini CLI: rows, one object, and the Agent Client Protocol.
import { join } from 'node:path';
import { CASES, CONVERSATION_CASES, casesNamed, questionTool } from '../cases.mjs';

const MODEL = ['-m', 'gemini-2.5-flash'];

function geminiCommands(format) {
	const options = ['--output-format', format, '--approval-mode', 'yolo', ...MODEL];
	return {
		first: (_place, prompt) => [...options, '-p', prompt],
		resumed: (_place, session, reply) => [...options, '--resume', session, '-p', reply],
	};
}

/** @type {import('./index.mjs').Agent} */
export const gemini = {
	file: 'gemini',
	cli: 'gemini',
	package: '@google/gemini-cli',
	version: '0.61.0',
	format: 'gemini-stream-json',
	env: ({ model }) => ({ GEMINI_API_KEY: 'dummy', GOOGLE_GEMINI_BASE_URL: model }),
	settings: ({ home, retries }) => ({
		[join(home, '.gemini/settings.json')]: {
			security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
			privacy: { usageStatisticsEnabled: false },
			telemetry: { enabled: false },
			general: { enableAutoUpdate: false, maxAttempts: retries ? 3 : 1, retryFetchErrors: retries },
		},
	}),
	...geminiCommands('stream-json'),
	session: /"session_id": ?"([^"]+)"/,
	cases: [...CASES, [questionTool('ask_user')]],
};

/** @type {import('./index.mjs').Agent} */
export const geminiJson = {
	...gemini,
	file: 'gemini-json',
	format: 'gemini-json',
	...geminiCommands('json'),
	cases: casesNamed(
		...['final', 'ask', 'tool_echo', 'empty', 'http_401', 'http_429', 'http_500'],
		...['down', 'broken_off', 'unknown_session', 'sigterm'],
	),
};

/** @type {import('./index.mjs').AcpAgent} */
export const geminiAcp = {
	...gemini,
	file: 'gemini-acp',
	format: 'acp',
	arguments: ({ asksPermission }) => ['--acp', '--approval-mode', asksPermission ? 'default' : 'yolo', ...MODEL],
	cases: CONVERSATION_CASES,
};

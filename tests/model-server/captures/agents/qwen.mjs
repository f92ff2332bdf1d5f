// Qwen Code.
import { join } from 'node:path';
import { CASES, questionTool } from '../cases.mjs';

const QWEN_OPTIONS = ['--output-format', 'stream-json', '--approval-mode', 'yolo'];

/** @type {import('./index.mjs').Agent} */
export const qwen = {
	file: 'qwen',
	cli: 'qwen',
	package: '@qwen-code/qwen-code',
	version: '0.15.10',
	format: 'qwen-stream-json',
	env: ({ model }) => ({ OPENAI_API_KEY: 'dummy', OPENAI_BASE_URL: `${model}/v1`, OPENAI_MODEL: 'mock' }),
	settings: ({ home }) => ({
		[join(home, '.qwen/settings.json')]: {
			security: { auth: { selectedType: 'openai' } },
			// Its memory would ask the model again after each turn, with tools, and use up the script.
			memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
			privacy: { usageStatisticsEnabled: false },
			telemetry: { enabled: false },
			general: { disableAutoUpdate: true },
		},
	}),
	first: (_place, prompt) => [...QWEN_OPTIONS, '-p', prompt],
	resumed: (_place, session, reply) => [...QWEN_OPTIONS, '--resume', session, '-p', reply],
	session: /"session_id":"([^"]+)"/,
	cases: [...CASES, [questionTool('ask_user_question')]],
};

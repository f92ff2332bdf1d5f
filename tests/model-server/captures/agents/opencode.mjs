// opencode.
import { join } from 'node:path';
import { CASES } from '../cases.mjs';

const OPENCODE_OPTIONS = ['run', '--format', 'json', '--pure', '--model', 'mock/mock'];

/** @type {import('./index.mjs').Agent} */
export const opencode = {
	file: 'opencode',
	cli: 'opencode',
	package: 'opencode-ai',
	version: '1.18.33',
	format: 'opencode-json',
	env: ({ home }) => ({
		XDG_CONFIG_HOME: join(home, '.config'),
		XDG_DATA_HOME: join(home, '.local/share'),
		XDG_STATE_HOME: join(home, '.local/state'),
		XDG_CACHE_HOME: join(home, '.cache'),
		OPENCODE_DISABLE_AUTOUPDATE: '1',
		OPENCODE_DISABLE_MODELS_FETCH: '1',
		OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
	}),
	settings: ({ project, model }) => ({
		[join(project, 'opencode.json')]: {
			autoupdate: false,
			share: 'disabled',
			model: 'mock/mock',
			small_model: 'mock/mock',
			enabled_providers: ['mock'],
			provider: {
				mock: {
					npm: '@ai-sdk/openai-compatible',
					name: 'mock',
					options: { baseURL: `${model}/v1`, apiKey: 'dummy' },
					models: { mock: { name: 'mock', tool_call: true, reasoning: true } },
				},
			},
			permission: { bash: 'allow' },
		},
	}),
	first: (_place, prompt) => [...OPENCODE_OPTIONS, prompt],
	resumed: (_place, session, reply) => [...OPENCODE_OPTIONS, '--session', session, reply],
	session: /"sessionID":"([^"]+)"/,
	unknownSession: 'ses_000000000000AAAAAAAAAAAAAA',
	cases: CASES,
};

/** It shows what the model thinks only if it is told to. @type {import('./index.mjs').Agent} */
export const opencodeThinking = {
	...opencode,
	file: 'opencode-thinking',
	first: (_place, prompt) => [...OPENCODE_OPTIONS, '--thinking', prompt],
	cases: CASES.filter(([turn]) => turn.name === 'reasoning_echo'),
};

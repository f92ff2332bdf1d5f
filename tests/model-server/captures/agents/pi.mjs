// pi.
import { join } from 'node:path';
import { CASES } from '../cases.mjs';

const PI_OPTIONS = ['-p', '--mode', 'json', '--offline', '--provider', 'mock', '--model', 'mock', '-ne', '-ns'];

/** @type {import('./index.mjs').Agent} */
export const pi = {
	file: 'pi',
	cli: 'pi',
	package: '@mariozechner/pi-coding-agent',
	version: '0.73.1',
	format: 'pi-json',
	env: ({ home }) => ({ PI_CODING_AGENT_DIR: join(home, '.pi'), PI_OFFLINE: '1', PI_TELEMETRY: '0' }),
	settings: ({ home, model, retries }) => ({
		[join(home, '.pi/settings.json')]: { retry: { enabled: retries } },
		[join(home, '.pi/models.json')]: {
			providers: {
				mock: {
					baseUrl: `${model}/v1`,
					api: 'openai-completions',
					apiKey: 'dummy',
					models: [{ id: 'mock', name: 'mock', reasoning: true }],
				},
			},
		},
	}),
	first: (_place, prompt) => [...PI_OPTIONS, prompt],
	resumed: (_place, session, reply) => [...PI_OPTIONS, '--session', session, reply],
	session: /"type":"session"[^\n]*?"id":"([^"]+)"/,
	cases: CASES,
};

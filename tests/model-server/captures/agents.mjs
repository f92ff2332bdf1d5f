// The agents: which version, how it is told where its model is, and the command line of a first and of a resumed turn.
import { join } from 'node:path';
import { CASES, questionTool, structuredOutput } from './cases.mjs';

/**
 * @typedef {import('./place.mjs').Place} Place
 *
 * @typedef {object} Agent
 * @property {string} file the capture's file, without `.json`
 * @property {string} cli
 * @property {string} package
 * @property {string} version
 * @property {string} format the decoder that reads it
 * @property {(place: Place) => Record<string, string>} env
 * @property {(place: Place) => Record<string, object>} [settings] files by path, written as JSON
 * @property {(place: Place, prompt: string) => string[]} first
 * @property {(place: Place, session: string, reply: string) => string[]} resumed
 * @property {RegExp} session finds the session's id in the output
 * @property {string} unknownSession
 * @property {import('./cases.mjs').Turn[][]} cases
 */

const UUID = '00000000-0000-4000-8000-000000000000';

export const CODEX_SETTINGS = [
	'model_provider=mock',
	// These three ask the vendor's hosts, and wait some seconds for hosts that they cannot reach.
	'analytics.enabled=false',
	'features.plugins=false',
	'features.apps=false',
	// Otherwise an agent whose model is down tries for ever.
	'features.unbounded_connection_retries=false',
];

/** @param {Place} place */
export function codexProvider({ model, retries }) {
	const tries = retries ? 2 : 0;
	const address = `name="mock",base_url="${model}/v1",env_key="MOCK_KEY",wire_api="responses"`;
	return `model_providers.mock={${address},request_max_retries=${tries},stream_max_retries=${tries}}`;
}

function codexOptions(place) {
	const flags = [
		'--json',
		'--skip-git-repo-check',
		'--ignore-user-config',
		'--dangerously-bypass-approvals-and-sandbox',
	];
	const settings = [...CODEX_SETTINGS, codexProvider(place)];
	return [...flags, '-m', 'mock', ...settings.flatMap((setting) => ['-c', setting])];
}

/** @type {Agent} */
const codex = {
	file: 'codex',
	cli: 'codex',
	package: '@openai/codex',
	version: '0.166.0',
	format: 'codex-jsonl',
	env: () => ({ MOCK_KEY: 'dummy' }),
	first: (place, prompt) => ['exec', ...codexOptions(place), prompt],
	resumed: (place, session, reply) => ['exec', 'resume', ...codexOptions(place), session, reply],
	session: /"thread_id":"([^"]+)"/,
	unknownSession: UUID,
	cases: [...CASES, [questionTool('request_user_input')]],
};

const GEMINI_OPTIONS = ['--approval-mode', 'yolo', '-m', 'gemini-2.5-flash'];

/** @type {Agent} */
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
	first: (_place, prompt) => ['--output-format', 'stream-json', ...GEMINI_OPTIONS, '-p', prompt],
	resumed: (_place, session, reply) => [
		'--output-format',
		'stream-json',
		...GEMINI_OPTIONS,
		'--resume',
		session,
		'-p',
		reply,
	],
	session: /"session_id": ?"([^"]+)"/,
	unknownSession: UUID,
	cases: [...CASES, [questionTool('ask_user')]],
};

/** @type {Agent} */
const geminiJson = {
	...gemini,
	file: 'gemini-json',
	format: 'gemini-json',
	first: (_place, prompt) => ['--output-format', 'json', ...GEMINI_OPTIONS, '-p', prompt],
	resumed: (_place, session, reply) => ['--output-format', 'json', ...GEMINI_OPTIONS, '--resume', session, '-p', reply],
};

const CLAUDE_OPTIONS = [
	'--verbose',
	'--model',
	'claude-sonnet-4-5',
	'--dangerously-skip-permissions',
	'--tools',
	'Bash',
];

/** The option for tools takes all that follows, so a prompt needs the dashes before it. */
function claudeCommands(...more) {
	const options = ['-p', '--output-format', 'stream-json', ...more, ...CLAUDE_OPTIONS];
	return {
		first: (_place, prompt) => [...options, '--', prompt],
		resumed: (_place, session, reply) => [...options, '--resume', session, '--', reply],
	};
}

/** @type {Agent} */
const claude = {
	file: 'claude',
	cli: 'claude',
	package: '@anthropic-ai/claude-code',
	version: '2.1.197',
	format: 'claude-stream-json',
	env: ({ model, retries }) => ({
		ANTHROPIC_BASE_URL: model,
		ANTHROPIC_API_KEY: 'dummy',
		CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
		DISABLE_AUTOUPDATER: '1',
		DISABLE_TELEMETRY: '1',
		DISABLE_ERROR_REPORTING: '1',
		CLAUDE_CODE_MAX_RETRIES: retries ? '2' : '0',
		// It refuses to skip permissions as root without this.
		IS_SANDBOX: '1',
	}),
	...claudeCommands(),
	session: /"session_id":"([^"]+)"/,
	unknownSession: UUID,
	cases: [...CASES, [questionTool('AskUserQuestion')]],
};

/** @type {Agent} */
const claudePartial = { ...claude, file: 'claude-partial', ...claudeCommands('--include-partial-messages') };

const SCHEMA = JSON.stringify({
	type: 'object',
	required: ['file'],
	properties: { file: { type: 'string' }, __SKILL_DONE__: { type: 'boolean' } },
});

/** With a schema it answers nothing without the tool for it, so the cases of all agents do not fit. @type {Agent} */
const claudeSchema = {
	...claude,
	file: 'claude-schema',
	...claudeCommands('--json-schema', SCHEMA),
	cases: structuredOutput('StructuredOutput'),
};

const OPENCODE_OPTIONS = ['run', '--format', 'json', '--pure', '--model', 'mock/mock'];

/** @type {Agent} */
const opencode = {
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

/** It shows what the model thinks only if it is told to. @type {Agent} */
const opencodeThinking = {
	...opencode,
	file: 'opencode-thinking',
	first: (_place, prompt) => [...OPENCODE_OPTIONS, '--thinking', prompt],
	cases: CASES.filter(([turn]) => turn.name === 'reasoning_echo'),
};

const QWEN_OPTIONS = ['--output-format', 'stream-json', '--approval-mode', 'yolo'];

/** @type {Agent} */
const qwen = {
	file: 'qwen',
	cli: 'qwen',
	package: '@qwen-code/qwen-code',
	version: '0.15.10',
	format: 'claude-stream-json',
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
	unknownSession: UUID,
	cases: [...CASES, [questionTool('ask_user_question')]],
};

const PI_OPTIONS = ['-p', '--mode', 'json', '--offline', '--provider', 'mock', '--model', 'mock', '-ne', '-ns'];

/** @type {Agent} */
const pi = {
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
	unknownSession: UUID,
	cases: CASES,
};

/** @type {Agent[]} */
export const AGENTS = [
	codex,
	gemini,
	geminiJson,
	claude,
	claudePartial,
	claudeSchema,
	opencode,
	opencodeThinking,
	qwen,
	pi,
];

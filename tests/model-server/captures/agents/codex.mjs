// Codex CLI, by itself and behind its adapter for the Agent Client Protocol.
import { CASES, CONVERSATION_CASES, questionTool } from '../cases.mjs';

const CODEX_SETTINGS = [
	'model_provider=mock',
	// These three ask the vendor's hosts, and wait some seconds for hosts that they cannot reach.
	'analytics.enabled=false',
	'features.plugins=false',
	'features.apps=false',
	// Otherwise an agent whose model is down tries for ever.
	'features.unbounded_connection_retries=false',
];

/** @param {import('../place.mjs').Place} place */
function codexProvider({ model, retries }) {
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

/** @type {import('./index.mjs').Agent} */
export const codex = {
	file: 'codex',
	cli: 'codex',
	package: '@openai/codex',
	version: '0.166.0',
	format: 'codex-jsonl',
	env: () => ({ MOCK_KEY: 'dummy' }),
	first: (place, prompt) => ['exec', ...codexOptions(place), prompt],
	resumed: (place, session, reply) => ['exec', 'resume', ...codexOptions(place), session, reply],
	session: /"thread_id":"([^"]+)"/,
	cases: [...CASES, [questionTool('request_user_input')]],
};

/** @type {import('./index.mjs').AcpAgent} */
export const codexAcp = {
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

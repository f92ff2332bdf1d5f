// Claude Code: whole messages, messages in parts, and with an output schema.
import { CASES, casesNamed, questionTool, structuredOutput } from '../cases.mjs';

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

/** @type {import('./index.mjs').Agent} */
export const claude = {
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
	cases: [...CASES, [questionTool('AskUserQuestion')]],
};

/** @type {import('./index.mjs').Agent} */
export const claudePartial = {
	...claude,
	file: 'claude-partial',
	...claudeCommands('--include-partial-messages'),
	cases: casesNamed('final', 'split', 'ask', 'tool_echo', 'reasoning_echo', 'broken_off'),
};

const SCHEMA = JSON.stringify({
	type: 'object',
	required: ['file'],
	properties: { file: { type: 'string' }, __SKILL_DONE__: { type: 'boolean' } },
});

/** With a schema it answers nothing without the tool for it, so the cases of all agents do not fit. @type {import('./index.mjs').Agent} */
export const claudeSchema = {
	...claude,
	file: 'claude-schema',
	...claudeCommands('--json-schema', SCHEMA),
	cases: structuredOutput('StructuredOutput'),
};

// Captures as vectors: `UPDATE_VECTORS=1 cargo test --workspace --test vectors` fills in what the core makes of them.
import { constants } from 'node:os';

/** The rules that a case is about; the others are about failures. */
const COVERS = {
	final: ['STREAM-1'],
	split: ['STREAM-4'],
	ask: ['STREAM-1'],
	resume: ['STREAM-7'],
	tool_echo: ['STREAM-2', 'MARK-2'],
	reasoning_echo: ['STREAM-2', 'MARK-2'],
	two_messages: ['STREAM-1'],
	unicode: ['STREAM-3'],
	broken_off_retried: ['STREAM-4', 'MARK-4'],
	structured_output: ['STREAM-2'],
};

const GIVEN = {
	skill: {
		output_schema: {
			type: 'object',
			required: ['file'],
			properties: { file: { type: 'string' } },
			additionalProperties: false,
		},
	},
};

/** The file of an agent's captures. */
export function vectorFile({ file, version, format }, captures) {
	return {
		about: `What ${file} ${version} printed (${format}); made by tests/model-server/capture.mjs`,
		vectors: captures.map((capture) => vectorOf(`${file} ${version}`, format, capture)),
	};
}

function vectorOf(agent, format, capture) {
	const step = format === 'acp' ? { feed: conversation(capture.stdout) } : { stream: streamOf(format, capture) };
	const covers = format === 'acp' ? ['STREAM-8'] : (COVERS[capture.case] ?? ['STREAM-5']);
	return { name: `${agent}: ${capture.case}`, covers, given: GIVEN, steps: [step] };
}

function streamOf(format, { stdout, stderr, exit_code, signal }) {
	// As a shell tells it; an agent that did not end by itself was killed.
	const code = exit_code ?? 128 + constants.signals[signal ?? 'SIGKILL'];
	return { format, stdout, stderr, exit_code: code };
}

/** Everything up to the answer to a prompt is one turn. */
function conversation(stdout) {
	const chunks = [];
	let turn = '';
	for (const row of stdout.split('\n').filter((line) => line !== '')) {
		turn += `${row}\n`;
		const { result, error } = JSON.parse(row);
		if (result?.stopReason !== undefined || error !== undefined) {
			chunks.push(turn, { finish: {} });
			turn = '';
		}
	}
	if (turn !== '') chunks.push(turn);
	return { format: 'acp', work_folder: '/home/user/project', chunks };
}

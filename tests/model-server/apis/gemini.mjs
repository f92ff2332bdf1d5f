// Gemini: generateContent and streamGenerateContent.
import { pieces } from '../answer.mjs';
import { lastUserText, objectsAt } from '../request-body.mjs';
import { frame } from '../sse.mjs';

const PATH = /\/models\/([^/:]+):(stream)?[gG]enerateContent$/;
const STATUS_NAMES = {
	400: 'INVALID_ARGUMENT',
	401: 'UNAUTHENTICATED',
	403: 'PERMISSION_DENIED',
	404: 'NOT_FOUND',
	429: 'RESOURCE_EXHAUSTED',
	503: 'UNAVAILABLE',
};

/** @type {import('./index.mjs').ModelApi} */
export const gemini = {
	name: 'gemini',
	recognises: (path) => PATH.test(path),
	model: (path) => PATH.exec(path)[1],
	streams: (path) => PATH.exec(path)[2] === 'stream',
	tools: (body) =>
		objectsAt(body.tools, 'tools')
			.flatMap((tool) => objectsAt(tool.functionDeclarations, 'tools[].functionDeclarations'))
			.map((tool) => ({ name: String(tool.name), parameters: tool.parametersJsonSchema ?? tool.parameters })),

	lastUserText(body) {
		const contents = objectsAt(body.contents, 'contents').map(({ role, parts }) => ({ role, content: parts }));
		return lastUserText(contents, 'contents[].parts');
	},

	error(status, message) {
		return { error: { code: status, message, status: STATUS_NAMES[status] ?? 'INTERNAL' } };
	},

	whole: (answer) => piece(answer, parts({ ...answer, chunk: Number.POSITIVE_INFINITY }), true),

	*frames(answer) {
		const all = parts(answer);
		// The last piece carries the end, so an answer without words is one piece that only ends.
		for (const part of all) {
			yield frame(piece(answer, [part], false), { piece: part.text !== undefined && part.thought !== true });
		}
		yield frame(piece(answer, all.length === 0 ? [{ text: '' }] : [], true), { closing: true });
	},
};

function parts({ reasoning, text, tool, chunk }) {
	return [
		...pieces(reasoning, chunk).map((thought) => ({ text: thought, thought: true })),
		...pieces(text, chunk).map((words) => ({ text: words })),
		...(tool === null ? [] : [{ functionCall: { name: tool.name, args: tool.arguments } }]),
	];
}

function piece({ id, model }, content, last) {
	const end = last ? { finishReason: 'STOP' } : {};
	const usage = { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 } };
	return {
		candidates: [{ content: { role: 'model', parts: content }, index: 0, ...end }],
		...(last ? usage : {}),
		modelVersion: model,
		responseId: id,
	};
}

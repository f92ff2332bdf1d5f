// The form of errors that both OpenAI APIs share.

const KINDS = {
	401: { type: 'invalid_request_error', code: 'invalid_api_key' },
	429: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
};

/** @type {import('./index.mjs').ModelApi['error']} */
export function openaiError(status, message) {
	const other = status < 500 ? 'invalid_request_error' : 'server_error';
	return { error: { message, param: null, ...(KINDS[status] ?? { type: other, code: null }) } };
}

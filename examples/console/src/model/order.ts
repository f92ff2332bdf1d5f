/** A job in the making, and the request that it becomes. */

import type { ExecutionMode } from 'turnlatch';

export interface Order {
	skill: string;
	engine: string;
	execution_mode: ExecutionMode;
	strict: boolean;
	/** Seconds, as they were typed; empty for the default. */
	timeout: string;
	profile: 'resumable' | 'sticky_process';
	input: string;
	parameter: string;
	/** More runtime options, as JSON text. */
	options: string;
	run_id: string;
}

export const EMPTY_ORDER: Order = {
	skill: '',
	engine: '',
	execution_mode: 'interactive',
	strict: true,
	timeout: '',
	profile: 'resumable',
	input: '',
	parameter: '',
	options: '',
	run_id: '',
};

type JsonPart = 'input' | 'parameter' | 'options';

/** What is not JSON, and why. */
export function unreadableParts(order: Order): Partial<Record<JsonPart, string>> {
	const wrong: Partial<Record<JsonPart, string>> = {};
	for (const part of ['input', 'parameter', 'options'] as const) {
		try {
			const value = parsed(order[part]);
			const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
			if (part === 'options' && value !== undefined && !isObject) wrong[part] = 'This is not a JSON object.';
		} catch (error) {
			wrong[part] = `This is not JSON: ${error instanceof Error ? error.message : String(error)}`;
		}
	}
	return wrong;
}

/** The request's JSON text. The parts that were typed as JSON go into it as they are, so that no number is rounded. */
export function orderText(order: Order): string {
	const options: [string, string][] = [];
	if (order.execution_mode === 'interactive') {
		if (!order.strict) options.push(['interactive_require_user_reply', 'false']);
		if (order.timeout !== '') options.push(['session_timeout_sec', String(Number(order.timeout))]);
		if (order.profile !== 'resumable') options.push(['interactive_profile', JSON.stringify({ kind: order.profile })]);
	}
	const more = order.options.trim().slice(1, -1).trim();
	const runtime = [...options.map(member), ...(more === '' ? [] : [more])].join(',');
	const members: [string, string][] = [
		['skill', JSON.stringify(order.skill)],
		['engine', JSON.stringify(order.engine)],
		['execution_mode', JSON.stringify(order.execution_mode)],
	];
	if (order.input.trim() !== '') members.push(['input', order.input]);
	if (order.parameter.trim() !== '') members.push(['parameter', order.parameter]);
	if (runtime !== '') members.push(['runtime_options', `{${runtime}}`]);
	if (order.run_id.trim() !== '') members.push(['run_id', JSON.stringify(order.run_id.trim())]);
	return `{${members.map(member).join(',')}}`;
}

const member = ([name, text]: [string, string]): string => `${JSON.stringify(name)}:${text}`;

function parsed(text: string): unknown {
	return text.trim() === '' ? undefined : JSON.parse(text);
}

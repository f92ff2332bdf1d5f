/** JSON as a tree that can be opened and closed, with remarks at their place. */

import { useState } from 'preact/hooks';
import type { Violation } from 'turnlatch';
import { visible } from '../model/words.js';

/** A number as it was written: JavaScript's own would round large ones. */
class Literal {
	constructor(readonly text: string) {}
}

type Tree = null | boolean | string | Literal | Tree[] | { [key: string]: Tree };

const OPEN_DEPTH = 4;
const MOST_MEMBERS = 100;

/** Reads JSON with its numbers to the letter. */
export function readTree(text: string): Tree {
	return JSON.parse(text, function literal(this: unknown, _key: string, value: unknown, context?: { source?: string }) {
		return typeof value === 'number' ? new Literal(context?.source ?? String(value)) : value;
	} as (key: string, value: unknown) => unknown) as Tree;
}

export function JsonTree({ text, violations = [] }: { text: string; violations?: readonly Violation[] }) {
	return (
		<div class="tree">
			<ul>
				<Node value={readTree(text)} path="" depth={0} violations={violations} />
			</ul>
		</div>
	);
}

interface NodeProps {
	value: Tree;
	/** The JSON pointer, as violations name their place. */
	path: string;
	name?: string;
	depth: number;
	violations: readonly Violation[];
}

function Node({ value, path, name, depth, violations }: NodeProps) {
	const here = violations.filter(({ instance_path }) => instance_path === path);
	const inside = violations.some(({ instance_path }) => instance_path.startsWith(`${path}/`));
	const members = membersOf(value);
	const label = name === undefined ? null : <span class="key">{visible(name)}: </span>;
	const remarks = here.map((violation) => (
		<span key={violation.schema_path + violation.message} class="remark">
			{visible(violation.message)} <code>{visible(violation.schema_path)}</code>
		</span>
	));
	if (members === undefined) {
		return (
			<li class={here.length > 0 ? 'wrong' : undefined}>
				{label}
				<Leaf value={value as null | boolean | string | Literal} />
				{remarks}
			</li>
		);
	}
	return (
		<li class={here.length > 0 ? 'wrong' : undefined}>
			<details open={depth < OPEN_DEPTH || inside}>
				<summary>
					{label}
					<span class="muted">{Array.isArray(value) ? `[ ${members.length} ]` : `{ ${members.length} }`}</span>
				</summary>
				{remarks}
				<Members members={members} path={path} depth={depth} violations={violations} />
			</details>
		</li>
	);
}

function Members({
	members,
	path,
	depth,
	violations,
}: {
	members: [string, Tree][];
	path: string;
	depth: number;
	violations: readonly Violation[];
}) {
	const [most, setMost] = useState(MOST_MEMBERS);
	const wrong = (step: string): boolean =>
		violations.some(({ instance_path }) => `${instance_path}/`.startsWith(`${path}/${step}/`));
	const shown = members.map(([name, value]) => ({ name, value, step: pointerStep(name) }));
	return (
		<ul>
			{shown
				.filter(({ step }, index) => index < most || wrong(step))
				.map(({ name, value, step }) => (
					<Node
						key={name}
						value={value}
						path={`${path}/${step}`}
						name={name}
						depth={depth + 1}
						violations={violations}
					/>
				))}
			{members.length > most && (
				<li>
					<button type="button" class="link" onClick={() => setMost(most + 10 * MOST_MEMBERS)}>
						Show more of {members.length}
					</button>
				</li>
			)}
		</ul>
	);
}

function Leaf({ value }: { value: null | boolean | string | Literal }) {
	if (typeof value === 'string') return <span class="text">“{visible(value)}”</span>;
	return <span class="literal">{value instanceof Literal ? value.text : String(value)}</span>;
}

function membersOf(value: Tree): [string, Tree][] | undefined {
	if (Array.isArray(value)) return value.map((item, index) => [String(index), item]);
	if (typeof value === 'object' && value !== null && !(value instanceof Literal)) return Object.entries(value);
	return undefined;
}

function pointerStep(name: string): string {
	return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

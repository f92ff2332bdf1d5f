/** What the agent says while its turn is under way. */

import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Piece } from 'turnlatch';
import type { AgentWords } from '../model/agent-words.js';
import { announce } from '../model/announce.js';
import { visible } from '../model/words.js';
import { Panel } from '../parts/small.js';

const ASSISTANT = 'assistant';
/** Of what others say (tools, thoughts, the user) a few lines are enough to know what is going on. */
const OTHERS_LENGTH = 400;
/** Of a message that is read out. */
const READ_OUT_LENGTH = 300;
/** A reader this near to the end has read all of it. */
const NEAR_PX = 24;

export function AgentWordsPanel({ words }: { words: AgentWords }) {
	const messages = words.messages.value;
	return messages.length === 0 ? null : <Words messages={messages} />;
}

function Words({ messages }: { messages: readonly Piece[] }) {
	const box = useRef<HTMLDivElement>(null);
	const atEnd = useRef(true);
	// Only who is at the end is taken along; who looks something up is left in peace.
	useLayoutEffect(() => {
		if (box.current !== null && atEnd.current) box.current.scrollTop = box.current.scrollHeight;
	}, [messages]);
	const whole = lastWhole(messages);
	useEffect(() => {
		if (whole !== '') announce(`The agent says: ${whole}`);
	}, [whole]);
	const scrolled = ({ currentTarget }: { currentTarget: HTMLDivElement }): void => {
		const { scrollHeight, scrollTop, clientHeight } = currentTarget;
		atEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_PX;
	};
	return (
		<Panel title="What the agent says" extra={<span class="muted">as it comes; nothing is decided by it</span>}>
			{/* Words that grow letter by letter are not for reading out; whole messages are announced. */}
			<div
				class="agent-words"
				ref={box}
				onScroll={scrolled}
				// biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be reached by the keyboard
				tabIndex={0}
				role="log"
				aria-live="off"
				aria-label="The agent's words"
			>
				{messages.map(({ message, role, text }) => (
					<Message key={`${message} ${role}`} role={role} text={text} />
				))}
			</div>
		</Panel>
	);
}

function Message({ role, text }: { role: string; text: string }) {
	const isOther = role !== ASSISTANT;
	const shown = isOther ? shortened(text, OTHERS_LENGTH) : text;
	// A turn has many messages, and only the last one changes.
	const words = useMemo(() => visible(shown), [shown]);
	return (
		<div class={isOther ? 'said other' : 'said'}>
			{isOther && <strong>{visible(role)}</strong>}
			<p dir="auto">{words}</p>
		</div>
	);
}

/** The assistant's last message that something has followed, so that it is complete. */
function lastWhole(messages: readonly Piece[]): string {
	const whole = messages.slice(0, -1).findLast(({ role }) => role === ASSISTANT);
	return whole === undefined ? '' : visible(shortened(whole.text, READ_OUT_LENGTH));
}

function shortened(text: string, length: number): string {
	return text.length <= length ? text : `${text.slice(0, length)}…`;
}

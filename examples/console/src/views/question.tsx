/** The pending question, shown by its kind. The box for free words is always there: options never bind. */

import { useMemo, useRef, useState } from 'preact/hooks';
import type { Interaction, Json, Receipt, Run } from 'turnlatch';
import { announce } from '../model/announce.js';
import { ApiError } from '../model/api.js';
import { type Choice, choicesOf, type Draft, EMPTY, freshKey, responseOf } from '../model/draft.js';
import { predictReply, type RunSource } from '../model/run-source.js';
import { codeInfo, visible } from '../model/words.js';
import { JsonTree } from '../parts/json-tree.js';
import { Panel, Said } from '../parts/small.js';
import { Countdown } from './countdown.js';
import { Prediction, Refusal, Taken } from './receipts.js';

export function Question({ source, run }: { source: RunSource; run: Run }) {
	const { pending } = run.pendingView();
	// A question that somebody is answering stays, also when it is overtaken: nobody's words vanish.
	const [held, setHeld] = useState<Interaction | undefined>(undefined);
	const [taken, setTaken] = useState<Receipt | undefined>(undefined);
	const shown = held ?? pending;
	if (shown === null && taken !== undefined) return <Taken receipt={taken} />;
	if (shown === null) return <NothingToAnswer source={source} run={run} />;
	const isOpen = pending?.interaction_id === shown.interaction_id;
	return (
		<Panel
			title={isOpen ? 'The agent asks' : 'A question that is no longer open'}
			id="question"
			tone={shown.kind === 'risk_ack' ? 'warning' : 'question'}
			extra={<span class="muted">Question {shown.interaction_id}</span>}
		>
			<Said text={shown.prompt} />
			{Object.keys(shown.context).length > 0 && (
				<details class="context">
					<summary>Around the question</summary>
					<JsonTree text={JSON.stringify(shown.context)} />
				</details>
			)}
			{isOpen && shown.deadline_at !== undefined && (
				<Countdown run={run} asked={shown} deadline={shown.deadline_at} now={source.now} />
			)}
			<AnswerForm
				key={shown.interaction_id}
				source={source}
				run={run}
				asked={shown}
				onTouched={() => setHeld(shown)}
				onDiscard={() => setHeld(undefined)}
				onTaken={(receipt) => {
					setHeld(undefined);
					setTaken(receipt);
				}}
			/>
		</Panel>
	);
}

/** Why an answer would not be taken, while the run can still come to ask. */
function NothingToAnswer({ source, run }: { source: RunSource; run: Run }) {
	const reply = run.allowed(source.now.peek()).requests.find(({ request }) => request === 'reply');
	if (run.ended || reply?.code === undefined) return null;
	return (
		<p class="hint">
			Nothing to answer: <code>{reply.code}</code> {codeInfo(reply.code)?.meaning}
		</p>
	);
}

interface AnswerFormProps {
	source: RunSource;
	run: Run;
	asked: Interaction;
	onTouched: () => void;
	onDiscard: () => void;
	onTaken: (receipt: Receipt) => void;
}

function AnswerForm({ source, run, asked, onTouched, onDiscard, onTaken }: AnswerFormProps) {
	const [draft, setDraft] = useState<Draft>(EMPTY);
	const [sending, setSending] = useState(false);
	const [refusal, setRefusal] = useState<ApiError | undefined>(undefined);
	const key = useRef(freshKey());
	const choices = choicesOf(asked);
	const response = responseOf(draft, choices);
	const told = response === undefined ? undefined : JSON.stringify(response);
	const predicted = useMemo(() => {
		if (response === undefined) return undefined;
		return predictReply(run, asked.interaction_id, response, key.current, source.now.peek());
	}, [run, asked.interaction_id, told]);
	const isTaken = predicted !== undefined && predicted.code === undefined;

	const change = (next: Partial<Draft>): void => {
		setDraft({ ...draft, ...next });
		setRefusal(undefined);
		key.current = freshKey();
		onTouched();
	};
	const send = async (answer: Json | undefined): Promise<void> => {
		if (answer === undefined || source.requests === undefined || !isTaken || sending) return;
		setSending(true);
		try {
			const receipt = await source.requests.reply(asked.interaction_id, answer, key.current);
			announce('Your answer was taken.');
			onTaken(receipt);
		} catch (error) {
			const refused = error instanceof ApiError ? error : new ApiError(0, 'NOT_SENT', String(error));
			announce(`Your answer was not taken: ${refused.code}`);
			setRefusal(refused);
		} finally {
			setSending(false);
		}
	};
	return (
		<form
			class="answer"
			onSubmit={(event) => {
				event.preventDefault();
				void send(response);
			}}
		>
			<Choices choices={choices} draft={draft} onChange={change} />
			<Fields names={asked.required_fields} draft={draft} onChange={change} />
			<label class="field">
				<span>{choices.length + asked.required_fields.length > 0 ? 'Or answer in your own words' : 'Your answer'}</span>
				{typeof asked.ui_hints.hint === 'string' && <small dir="auto">{visible(asked.ui_hints.hint)}</small>}
				<textarea
					id="answer"
					rows={3}
					dir="auto"
					value={draft.words}
					onInput={({ currentTarget }) => change({ words: currentTarget.value.toWellFormed(), from: 'words' })}
					onKeyDown={(event) => {
						if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send(response);
					}}
				/>
			</label>
			<div class="send">
				{source.requests !== undefined && (
					<button type="submit" class="primary" disabled={!isTaken || sending} aria-describedby="prediction">
						{sending ? 'Sending…' : 'Send answer'}
					</button>
				)}
				{draft.from !== undefined && (
					<button
						type="button"
						onClick={() => {
							setDraft(EMPTY);
							setRefusal(undefined);
							onDiscard();
						}}
					>
						Discard
					</button>
				)}
				<Prediction id="prediction" receipt={predicted} sends={response} live={source.requests !== undefined} />
			</div>
			{refusal !== undefined && <Refusal error={refusal} />}
		</form>
	);
}

interface PartProps {
	draft: Draft;
	onChange: (next: Partial<Draft>) => void;
}

function Choices({ choices, draft, onChange }: PartProps & { choices: readonly Choice[] }) {
	if (choices.length === 0) return null;
	return (
		<fieldset class="choices" aria-label="Suggested answers">
			{choices.map(({ label }, index) => (
				<button
					key={index}
					type="button"
					class="choice"
					data-choice={index + 1}
					aria-pressed={draft.from === 'choice' && draft.choice === index}
					onClick={() => onChange({ from: 'choice', choice: index })}
				>
					{index < 9 && (
						<span class="key" aria-hidden="true">
							{index + 1}
						</span>
					)}
					<span dir="auto">{visible(label)}</span>
				</button>
			))}
		</fieldset>
	);
}

function Fields({ names, draft, onChange }: PartProps & { names: readonly string[] }) {
	if (names.length === 0) return null;
	const fill = (name: string, value: string): void => {
		const filled = names.map((other): [string, string] => [
			other,
			other === name ? value : (draft.fields.get(other) ?? ''),
		]);
		onChange({ from: 'fields', fields: new Map(filled) });
	};
	return (
		<fieldset class="fields">
			<legend>The agent would like to know</legend>
			{[...new Set(names)].map((name) => (
				<label key={name} class="field">
					<span dir="auto">{visible(name)}</span>
					<input
						dir="auto"
						value={draft.fields.get(name) ?? ''}
						onInput={({ currentTarget }) => fill(name, currentTarget.value.toWellFormed())}
					/>
				</label>
			))}
		</fieldset>
	);
}

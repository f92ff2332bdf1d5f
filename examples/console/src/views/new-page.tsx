/** The form for a new job. What is allowed is the service's to say; the form only knows the skills' own words. */

import { useEffect, useState } from 'preact/hooks';
import type { ExecutionMode } from 'turnlatch';
import * as api from '../model/api.js';
import { EMPTY_ORDER, type Order, orderText, unreadableParts } from '../model/order.js';
import { go, runHref } from '../model/route.js';
import { visible } from '../model/words.js';
import { CodeNote, Panel, Problem } from '../parts/small.js';

export function NewPage() {
	const [known, setKnown] = useState<api.Skills | undefined>(undefined);
	const [order, setOrder] = useState<Order>(EMPTY_ORDER);
	const [failure, setFailure] = useState<api.ApiError | undefined>(undefined);
	const [sending, setSending] = useState(false);
	useEffect(() => {
		document.title = 'New job · turnlatch';
		void api
			.skills()
			.then((skills) => {
				setKnown(skills);
				const usable = skills.skills.find(({ problems }) => problems.length === 0);
				if (usable !== undefined) setOrder(forSkill(EMPTY_ORDER, usable));
			})
			.catch((error: unknown) => error instanceof api.ApiError && setFailure(error));
	}, []);
	const skill = known?.skills.find(({ name }) => name === order.skill);
	const unreadable = unreadableParts(order);
	const change = (next: Partial<Order>): void => {
		setOrder({ ...order, ...next });
		setFailure(undefined);
	};
	const send = async (): Promise<void> => {
		setSending(true);
		try {
			const view = await api.createJob(orderText(order));
			go(runHref(view.run_id));
		} catch (error) {
			setFailure(error instanceof api.ApiError ? error : new api.ApiError(0, 'NOT_SENT', String(error)));
		} finally {
			setSending(false);
		}
	};
	return (
		<form
			class="new-job"
			onSubmit={(event) => {
				event.preventDefault();
				void send();
			}}
		>
			<header class="page-head">
				<h1>New job</h1>
			</header>
			<Panel title="Skill">
				{known?.skills.length === 0 && <p class="muted">The service's skills folder is empty.</p>}
				<div class="skills" role="radiogroup" aria-label="Skill">
					{known?.skills.map((each) => (
						<SkillCard
							key={each.name}
							skill={each}
							chosen={each.name === order.skill}
							onChoose={() => change(forSkill(order, each))}
						/>
					))}
				</div>
			</Panel>
			<Panel title="How it runs">
				<div class="grid">
					<label class="field">
						<span>Engine</span>
						<select value={order.engine} onChange={({ currentTarget }) => change({ engine: currentTarget.value })}>
							{(skill?.engines ?? known?.engines ?? []).map((engine) => (
								<option key={engine} value={engine}>
									{visible(engine)}
								</option>
							))}
						</select>
					</label>
					<label class="field">
						<span>Mode</span>
						<select
							value={order.execution_mode}
							onChange={({ currentTarget }) => change({ execution_mode: currentTarget.value as ExecutionMode })}
						>
							{(skill?.execution_modes ?? ['auto', 'interactive']).map((mode) => (
								<option key={mode} value={mode}>
									{mode === 'auto' ? 'auto: nobody is asked' : 'interactive: the agent may ask'}
								</option>
							))}
						</select>
					</label>
				</div>
				{order.execution_mode === 'interactive' && <Waiting order={order} onChange={change} />}
			</Panel>
			<Panel title="What it works on">
				<JsonBox
					label="Input (JSON, may be empty)"
					value={order.input}
					wrong={unreadable.input}
					onInput={(input) => change({ input })}
				/>
				<details>
					<summary>More options</summary>
					<JsonBox
						label="Parameter (JSON)"
						value={order.parameter}
						wrong={unreadable.parameter}
						onInput={(parameter) => change({ parameter })}
					/>
					<JsonBox
						label="Further runtime options (a JSON object)"
						value={order.options}
						wrong={unreadable.options}
						onInput={(options) => change({ options })}
					/>
					<label class="field">
						<span>Run id (chosen by the service if empty)</span>
						<input
							class="mono"
							value={order.run_id}
							onInput={({ currentTarget }) => change({ run_id: currentTarget.value })}
						/>
					</label>
				</details>
			</Panel>
			{failure !== undefined && <AdmissionError failure={failure} />}
			<div class="send">
				<button
					type="submit"
					class="primary"
					disabled={sending || order.skill === '' || Object.keys(unreadable).length > 0}
				>
					{sending ? 'Starting…' : 'Start the job'}
				</button>
				<a class="button" href="#/">
					Back to the runs
				</a>
			</div>
		</form>
	);
}

/** The order with what this skill can do in place of what it cannot. */
function forSkill(order: Order, { name, engines, execution_modes }: api.Skill): Order {
	const mode = execution_modes.includes(order.execution_mode) ? order.execution_mode : (execution_modes[0] ?? 'auto');
	return {
		...order,
		skill: name,
		engine: engines.includes(order.engine) ? order.engine : (engines[0] ?? ''),
		execution_mode: mode,
	};
}

function SkillCard({ skill, chosen, onChoose }: { skill: api.Skill; chosen: boolean; onChoose: () => void }) {
	return (
		<label class="skill">
			<input type="radio" name="skill" checked={chosen} disabled={skill.problems.length > 0} onChange={onChoose} />
			<span>
				<strong>{visible(skill.name)}</strong>
				{skill.description !== '' && <span dir="auto">{visible(skill.description)}</span>}
				<span class="muted">
					{skill.execution_modes.join(', ')}
					{skill.max_attempt !== undefined && ` · at most ${skill.max_attempt} turns`}
				</span>
				{skill.problems.map(({ code, path, message }) => (
					<span key={path + message} class="wrong-skill">
						<code>{visible(code)}</code> {visible(path)}: {visible(message)}
					</span>
				))}
			</span>
		</label>
	);
}

function Waiting({ order, onChange }: { order: Order; onChange: (next: Partial<Order>) => void }) {
	return (
		<div class="grid">
			<label class="field">
				<span>If nobody answers</span>
				<select
					value={order.strict ? 'strict' : 'auto'}
					onChange={({ currentTarget }) => onChange({ strict: currentTarget.value === 'strict' })}
				>
					<option value="strict">only a person's answer counts</option>
					<option value="auto">decide automatically after the time</option>
				</select>
			</label>
			<label class="field">
				<span>Time to answer, in seconds</span>
				<input
					type="number"
					min="1"
					step="1"
					placeholder="1200"
					value={order.timeout}
					onInput={({ currentTarget }) => onChange({ timeout: currentTarget.value })}
				/>
			</label>
			<label class="field">
				<span>While it waits, the process</span>
				<select
					value={order.profile}
					onChange={({ currentTarget }) => onChange({ profile: currentTarget.value as Order['profile'] })}
				>
					<option value="resumable">ends, and is resumed with the answer</option>
					<option value="sticky_process">lives on and keeps its slot</option>
				</select>
			</label>
		</div>
	);
}

function JsonBox({
	label,
	value,
	wrong,
	onInput,
}: {
	label: string;
	value: string;
	wrong: string | undefined;
	onInput: (text: string) => void;
}) {
	return (
		<label class="field">
			<span>{label}</span>
			<textarea
				class="mono"
				rows={4}
				spellcheck={false}
				aria-invalid={wrong !== undefined}
				value={value}
				onInput={({ currentTarget }) => onInput(currentTarget.value)}
			/>
			{wrong !== undefined && <span class="wrong-text">{wrong}</span>}
		</label>
	);
}

/** Every problem that admission told, at once. */
function AdmissionError({ failure }: { failure: api.ApiError }) {
	return (
		<Problem title="The job was not started">
			{failure.problems.length === 0 && <CodeNote code={failure.code} message={failure.message} remedy />}
			<ul class="plain">
				{failure.problems.map(({ code, path, message }) => (
					<li key={path + message}>
						<CodeNote code={code} message={`${path}: ${message}`} remedy />
					</li>
				))}
			</ul>
		</Problem>
	);
}

/** What happened to a run, oldest first: turns, waits, replies, automatic decisions, and who brought each. */

import type { ReadonlySignal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { InteractionRecord, Status, TimelineEntry } from 'turnlatch';
import { duration, RESOLUTION_WORDS, reasonText, STATUS_WORDS } from '../model/words.js';
import { By, Icon, type IconName } from '../parts/icons.js';
import { Moment, Said, StatusPill } from '../parts/small.js';

const EVENT_WORDS: Readonly<Record<string, (step: TimelineEntry) => string>> = {
	created: () => 'Job created',
	slot_granted: ({ attempt_number, status }) =>
		status === 'running' ? `Turn ${attempt_number} started` : 'A slot came too late',
	turn_finished: ({ attempt_number }) => `Turn ${attempt_number} finished`,
	reply: ({ interaction_id }) => `Question ${interaction_id} answered`,
	timer_fired: ({ interaction_id, resolution_mode }) =>
		resolution_mode === 'auto_decide_timeout'
			? `Question ${interaction_id} decided automatically`
			: `Time for question ${interaction_id} was up`,
	process_lost: ({ attempt_number }) => `The process of turn ${attempt_number} was lost`,
	cancel: () => 'Canceled',
};

/** What the time until the next step was spent with. */
const SPENT: Readonly<Partial<Record<Status, string>>> = {
	queued: 'queued for',
	running: 'ran for',
	waiting_user: 'waited for',
};

/** Long runs are shown from their end; the rest comes when it is asked for. */
const MOST_STEPS = 200;

const ACTIVE: readonly Status[] = ['queued', 'running', 'waiting_user'];

export function Timeline({
	steps,
	chosen,
	onWhy,
}: {
	steps: readonly TimelineEntry[];
	/** The revision of the step whose decision is explained. */
	chosen: number | undefined;
	onWhy: (step: TimelineEntry) => void;
}) {
	const [most, setMost] = useState(MOST_STEPS);
	const shown = steps.slice(-most);
	return (
		<>
			{shown.length < steps.length && (
				<button type="button" class="wide" onClick={() => setMost(most + 10 * MOST_STEPS)}>
					Show earlier steps: {steps.length - shown.length}
				</button>
			)}
			<ol class="timeline">
				{shown.map((step, index) => (
					<li
						key={step.revision}
						data-status={step.status}
						class={step.event === 'slot_granted' ? 'slight' : undefined}
					>
						<span class="dot">
							<Icon name={iconOf(step)} />
						</span>
						<StepBody step={step} chosen={chosen === step.revision} onWhy={onWhy} />
						<Spent step={step} next={shown[index + 1]} />
					</li>
				))}
			</ol>
		</>
	);
}

function StepBody({
	step,
	chosen,
	onWhy,
}: {
	step: TimelineEntry;
	chosen: boolean;
	onWhy: (step: TimelineEntry) => void;
}) {
	const changes = step.event !== 'slot_granted' && step.event !== 'created';
	return (
		<div class="step">
			<p class="step-title">
				<strong>{EVENT_WORDS[step.event]?.(step) ?? step.event}</strong>
				<By by={step.by} />
				<Moment at={step.at} />
			</p>
			{step.display_prompt !== undefined && (
				<figure class="quote" data-by="agent">
					<figcaption>Question {step.interaction_id}</figcaption>
					<Said text={step.display_prompt} />
				</figure>
			)}
			{step.response !== undefined && (
				<figure class="quote" data-by={step.by}>
					<figcaption>{step.resolution_mode && RESOLUTION_WORDS[step.resolution_mode]}</figcaption>
					<Said text={step.response === '' ? '(an empty answer)' : step.response} />
				</figure>
			)}
			{step.decision === undefined && step.code !== undefined && <p dir="auto">{reasonText(step.reason)}</p>}
			{changes && (
				<p class="step-result">
					<StatusPill status={step.status} />
					{step.code !== undefined && <code>{step.code}</code>}
					{step.decision !== undefined && (
						<button type="button" class="link" aria-pressed={chosen} onClick={() => onWhy(step)}>
							Why? {step.decision.rule}
							<span class="hidden"> decided turn {step.attempt_number}</span>
						</button>
					)}
				</p>
			)}
		</div>
	);
}

function Spent({ step, next }: { step: TimelineEntry; next: TimelineEntry | undefined }) {
	const word = SPENT[step.status];
	if (word === undefined || next === undefined) return null;
	return (
		<p class="spent">
			{word} {duration(next.at - step.at)}
		</p>
	);
}

function iconOf({ event, by, status, resolution_mode }: TimelineEntry): IconName {
	if (event === 'turn_finished') return status;
	if (event === 'slot_granted') return 'slot';
	if (event === 'cancel') return 'canceled';
	return resolution_mode === 'auto_decide_timeout' ? 'timer' : by;
}

/** All that a snapshot knows of the past: its questions and what became of them. */
export function Questions({ history }: { history: readonly InteractionRecord[] }) {
	if (history.length === 0) return <p class="muted">No question has come to its end yet.</p>;
	return (
		<ol class="timeline">
			{history.map((record) => (
				<li key={record.interaction_id}>
					<span class="dot">
						<Icon name={record.resolution_mode === 'user_reply' ? 'user' : 'timer'} />
					</span>
					<div class="step">
						<p class="step-title">
							<strong>Question {record.interaction_id}</strong>
							<span class="by">turn {record.attempt_number}</span>
							<Moment at={record.asked_at} />
						</p>
						<figure class="quote" data-by="agent">
							<Said text={record.prompt} />
						</figure>
						<figure class="quote" data-by="user">
							<figcaption>{RESOLUTION_WORDS[record.resolution_mode]}</figcaption>
							{record.response !== undefined && <Said text={record.response} />}
						</figure>
					</div>
				</li>
			))}
		</ol>
	);
}

/** The run's life as one bar: how long it was in which status, and when it held a slot. */
export function Lifeline({ steps, now }: { steps: readonly TimelineEntry[]; now: ReadonlySignal<number> }) {
	const last = steps.at(-1);
	// An ended run stands still, and so does its bar.
	const isOver = last !== undefined && SPENT[last.status] === undefined;
	const stretches = stretchesOf(steps, isOver ? last.at : now.value);
	const [first] = stretches;
	if (first === undefined) return null;
	const whole = Math.max(1, (stretches.at(-1) ?? first).until - first.from);
	const part = (ms: number): string => `${((100 * ms) / whole).toFixed(3)}%`;
	const spent = (counts: (step: TimelineEntry) => boolean): number =>
		stretches.filter(({ step }) => counts(step)).reduce((sum, { from, until }) => sum + until - from, 0);
	const held = duration(spent(({ slot_id }) => slot_id !== undefined));
	const totals = ACTIVE.map((status) => ({ status, ms: spent((step) => step.status === status) }))
		.filter(({ ms }) => ms > 0)
		.map(({ status, ms }) => ({ status, time: duration(ms) }));
	const label = totals.map(({ status, time }) => `${STATUS_WORDS[status]} ${time}`).join(', ');
	return (
		<div class="lifeline">
			<svg role="img" aria-label={`${label}; a slot was held for ${held}`} height="26" width="100%">
				<rect class="ground" width="100%" height="14" rx="3" />
				{stretches.map(({ step, from, until }) => {
					const place = { x: part(from - first.from), width: part(until - from) };
					return (
						<g key={step.revision} data-status={step.status}>
							<rect {...place} height="14" />
							{step.slot_id !== undefined && <rect class="held" {...place} y="19" height="5" rx="2" />}
						</g>
					);
				})}
			</svg>
			<ul class="legend">
				{totals.map(({ status, time }) => (
					<li key={status} data-status={status}>
						<span class="swatch" /> {STATUS_WORDS[status].replace(' for you', '')} {time}
					</li>
				))}
				<li>
					<span class="swatch held" /> slot held {held}
				</li>
			</ul>
		</div>
	);
}

/** From when until when the run stood as each step left it. A host's clock may go back; here time stands still then. */
function stretchesOf(
	steps: readonly TimelineEntry[],
	now: number,
): { step: TimelineEntry; from: number; until: number }[] {
	let latest = steps[0]?.at ?? 0;
	return steps
		.map((step, index) => {
			const from = latest;
			latest = Math.max(latest, steps[index + 1]?.at ?? now);
			return { step, from, until: latest };
		})
		.filter(({ step }) => SPENT[step.status] !== undefined);
}

/** Small parts that many pages use. */

import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { Note, Status } from 'turnlatch';
import { seconds } from '../model/clock.js';
import { ago, codeInfo, dateAndTime, isoTime, STATUS_WORDS, timeOfDay, visible } from '../model/words.js';
import { Icon } from './icons.js';

/** A status: its colour, its icon and its word. */
export function StatusPill({ status, large = false }: { status: Status; large?: boolean }) {
	return (
		<span class={large ? 'pill large' : 'pill'} data-status={status}>
			<Icon name={status} />
			{STATUS_WORDS[status]}
		</span>
	);
}

/** A time, written so that it can be read by people and machines. */
export function Moment({ at, relative = false }: { at: number; relative?: boolean }) {
	return (
		<time dateTime={isoTime(at)} title={dateAndTime(at)}>
			{relative ? ago(at, seconds.value) : timeOfDay(at)}
		</time>
	);
}

const LONG = 1500;

/** Words from outside: only ever text, with what could deceive made visible. Long ones are shown in part. */
export function Said({ text }: { text: string }) {
	const [whole, setWhole] = useState(false);
	const shown = whole || text.length <= LONG ? text : text.slice(0, LONG);
	return (
		<div class="said">
			<p dir="auto">{visible(shown)}</p>
			{shown.length < text.length && (
				<button type="button" class="link" onClick={() => setWhole(true)}>
					Show all {text.length.toLocaleString()} characters
				</button>
			)}
		</div>
	);
}

/** A code with what it means and what to do about it. */
export function CodeNote({ code, message, remedy = false }: { code: string; message?: string; remedy?: boolean }) {
	const info = codeInfo(code);
	return (
		<div class="code-note">
			<code>{visible(code)}</code>
			{message !== undefined && <p dir="auto">{visible(message)}</p>}
			{info && <p>{info.meaning}</p>}
			{info && remedy && <p class="muted">{info.remedy}</p>}
		</div>
	);
}

export function Notes({ title, notes }: { title: string; notes: readonly Note[] }) {
	if (notes.length === 0) return null;
	return (
		<div class="notes">
			<h3>{title}</h3>
			<ul>
				{notes.map(({ code, message }) => (
					<li key={`${code} ${message}`}>
						<CodeNote code={code} message={message} />
					</li>
				))}
			</ul>
		</div>
	);
}

/** A part of a page with a heading. */
export function Panel({
	title,
	children,
	extra,
	id,
	tone,
}: {
	title: string;
	children: ComponentChildren;
	extra?: ComponentChildren;
	id?: string;
	tone?: 'question' | 'warning';
}) {
	const heading = useId();
	return (
		<section
			class="panel"
			data-tone={tone}
			aria-labelledby={heading}
			id={id}
			tabIndex={id === undefined ? undefined : -1}
		>
			<header>
				<h2 id={heading}>{title}</h2>
				{extra}
			</header>
			{children}
		</section>
	);
}

/** Something went wrong, and what it was. */
export function Problem({ title, children }: { title: string; children: ComponentChildren }) {
	return (
		<div class="problem" role="alert">
			<Icon name="warning" />
			<div>
				<strong>{title}</strong>
				{children}
			</div>
		</div>
	);
}

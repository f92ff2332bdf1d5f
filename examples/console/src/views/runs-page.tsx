/** The list of runs, newest first, with filters that stand in the address. */

import { useEffect, useState } from 'preact/hooks';
import type { Status } from 'turnlatch';
import * as api from '../model/api.js';
import { replaceHref, runHref } from '../model/route.js';
import { RunList } from '../model/run-list.js';
import { activeConnection } from '../model/service.js';
import { STATUS_WORDS, STATUSES, visible } from '../model/words.js';
import { Icon } from '../parts/icons.js';
import { CodeNote, Moment, Problem, StatusPill } from '../parts/small.js';

export function RunsPage({ query }: { query: URLSearchParams }) {
	const [list, setList] = useState<RunList | undefined>(undefined);
	const wanted = query.toString();
	useEffect(() => {
		const opened = new RunList();
		setList(opened);
		activeConnection.value = opened.connection;
		document.title = 'Runs · turnlatch';
		return () => {
			opened.close();
			activeConnection.value = undefined;
		};
	}, []);
	useEffect(() => list?.filter(new URLSearchParams(wanted)), [list, wanted]);
	if (list === undefined) return null;
	const rows = list.rows.value;
	const failure = list.failure.value;
	return (
		<div class="runs">
			<header class="page-head">
				<h1>Runs</h1>
				<a class="button primary" href="#/new">
					<Icon name="plus" /> New job
				</a>
			</header>
			<Filters query={query} />
			{failure !== undefined && failure.status !== 401 && (
				<Problem title="The list cannot be read">
					<CodeNote code={failure.code} message={failure.message} remedy />
				</Problem>
			)}
			{rows.length > 0 && (
				<ul class="run-list" aria-label="Runs, newest first">
					{rows.map(({ skill, view }) => (
						<Row key={view.run_id} skill={skill} view={view} />
					))}
				</ul>
			)}
			{rows.length === 0 && list.loaded.value && failure === undefined && <Empty filtered={wanted !== ''} />}
			{list.more.value && (
				<button type="button" class="wide" onClick={() => list.showMore()}>
					Show older runs
				</button>
			)}
		</div>
	);
}

function Row({ skill, view }: { skill: string; view: api.JobView }) {
	const turns = `turn ${view.attempt_number}${view.max_attempt === undefined ? '' : `/${view.max_attempt}`}`;
	const questions = view.interaction_count === 1 ? '1 question' : `${view.interaction_count} questions`;
	return (
		<li data-status={view.status}>
			<a href={runHref(view.run_id)} class="row">
				<StatusPill status={view.status} />
				<span class="row-name">
					<strong>{visible(skill)}</strong>
					<span class="mono">{view.run_id}</span>
				</span>
				<span class="row-more">
					{visible(view.engine)} · {view.execution_mode} · {turns} · {questions}
					{view.error !== undefined && (
						<>
							{' · '}
							<code>{visible(view.error.code)}</code>
						</>
					)}
					{view.warnings.length > 0 && (
						<span class="warned">
							<Icon name="warning" />
							<span class="hidden">, {view.warnings.length} warnings</span>
						</span>
					)}
				</span>
				<span class="row-time">
					<Moment at={view.updated_at} relative />
				</span>
			</a>
		</li>
	);
}

function Filters({ query }: { query: URLSearchParams }) {
	const [known, setKnown] = useState<api.Skills>({ engines: [], skills: [] });
	useEffect(() => {
		void api
			.skills()
			.then(setKnown)
			.catch(() => undefined);
	}, []);
	const statuses = new Set((query.get('status') ?? '').split(',').filter(Boolean));
	const change = (name: string, value: string): void => {
		const next = new URLSearchParams(query);
		if (value === '') next.delete(name);
		else next.set(name, value);
		replaceHref(`#/?${next}`);
	};
	const toggle = (status: Status): void => {
		const next = STATUSES.filter((name) => statuses.has(name) !== (name === status));
		change('status', next.join(','));
	};
	const choose = (name: string, label: string, values: readonly string[]) => (
		<label class="inline">
			<span>{label}</span>
			<select value={query.get(name) ?? ''} onChange={({ currentTarget }) => change(name, currentTarget.value)}>
				<option value="">all</option>
				{[...new Set([...values, query.get(name) ?? ''])].filter(Boolean).map((value) => (
					<option key={value} value={value}>
						{visible(value)}
					</option>
				))}
			</select>
		</label>
	);
	return (
		<fieldset class="filters" aria-label="Filters">
			<div class="chips">
				{STATUSES.map((status) => (
					<button
						key={status}
						type="button"
						class="chip"
						data-status={status}
						aria-pressed={statuses.has(status)}
						onClick={() => toggle(status)}
					>
						<Icon name={status} /> {STATUS_WORDS[status]}
					</button>
				))}
			</div>
			{choose(
				'skill',
				'Skill',
				known.skills.map(({ name }) => name),
			)}
			{choose('engine', 'Engine', known.engines)}
		</fieldset>
	);
}

function Empty({ filtered }: { filtered: boolean }) {
	return (
		<div class="empty">
			<Icon name="list" />
			<p>{filtered ? 'No run fits these filters.' : 'No runs yet.'}</p>
			{filtered ? (
				<a href="#/">Show all runs</a>
			) : (
				<p class="muted">
					<a href="#/new">Start a job</a>, or <a href="#/file">open a recorded run</a>.
				</p>
			)}
		</div>
	);
}

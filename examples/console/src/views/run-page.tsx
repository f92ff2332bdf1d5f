/** A run's page: the same for a run of the service and for one from a file. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Run, StatusView, TimelineEntry } from 'turnlatch';
import type { RunSource } from '../model/run-source.js';
import { duration, visible } from '../model/words.js';
import { JsonTree } from '../parts/json-tree.js';
import { CodeNote, Moment, Notes, Panel, StatusPill } from '../parts/small.js';
import { Chart } from './chart.js';
import { Question } from './question.js';
import { Lifeline, Questions, Timeline } from './timeline.js';
import { Why } from './why.js';

export function RunPage({
	source,
	actions,
	skill,
	words,
	slots,
	children,
}: {
	source: RunSource;
	actions: ComponentChildren;
	skill?: string | undefined;
	/** What is said while a turn is under way. */
	words?: ComponentChildren;
	slots?: ComponentChildren;
	children?: ComponentChildren;
}) {
	const run = source.run.value;
	const steps = source.steps.value;
	const view = run.statusView();
	const hasJournal = source.record !== undefined;
	const [chosen, setChosen] = useState<TimelineEntry | undefined>(undefined);
	// A step that lies in the future of the slider explains nothing.
	const step = chosen !== undefined && chosen.revision <= view.revision ? chosen : undefined;
	const explain = (of: TimelineEntry): void => {
		setChosen(of);
		document.getElementById('why')?.focus();
	};
	return (
		<div class="run">
			<header class="run-head">
				<div>
					<p class="crumb">{skill === undefined ? 'Run' : visible(skill)}</p>
					<h1>{view.run_id}</h1>
				</div>
				<StatusPill status={view.status} large />
				<div class="actions">{actions}</div>
			</header>
			{children}
			<div class="columns">
				<div class="column">
					<Question source={source} run={run} />
					{words}
					<Ended view={view} />
					<Panel title={hasJournal ? 'Timeline' : 'Questions so far'} id="timeline">
						{hasJournal ? (
							<>
								<Lifeline steps={steps} now={source.now} />
								<Timeline steps={steps} chosen={step?.revision} onWhy={explain} />
							</>
						) : (
							<Questions history={run.history()} />
						)}
					</Panel>
					<Facts run={run} view={view} skill={skill} />
				</div>
				<div class="column">
					<Panel title="State">
						<Chart status={view.status} steps={steps} />
					</Panel>
					<Why source={source} run={run} step={step} onLatest={() => setChosen(undefined)} />
					{slots}
				</div>
			</div>
		</div>
	);
}

/** The result, or what it failed with. */
function Ended({ view }: { view: StatusView }) {
	return (
		<>
			{view.error !== undefined && (
				<Panel title={view.status === 'canceled' ? 'Canceled' : 'Failed'}>
					<CodeNote code={view.error.code} message={view.error.message} remedy />
				</Panel>
			)}
			{view.data_text !== undefined && (
				<Panel title="Result">
					<JsonTree text={view.data_text} />
				</Panel>
			)}
			{view.warnings.length > 0 && (
				<Panel title="Worth a look">
					<Notes title="Warnings" notes={view.warnings} />
				</Panel>
			)}
		</>
	);
}

function Facts({ run, view, skill }: { run: Run; view: StatusView; skill: string | undefined }) {
	const plan = run.plan.toJSON();
	const { kind } = plan.interactive_profile as { kind: string };
	const rows: [string, ComponentChildren][] = [
		['Skill', skill === undefined ? undefined : visible(skill)],
		['Engine', visible(view.engine)],
		['Mode', view.execution_mode],
		['Turn', `${view.attempt_number}${view.max_attempt === undefined ? '' : ` of at most ${view.max_attempt}`}`],
		[
			'Questions',
			view.interaction_count === 0
				? 'none'
				: `${view.interaction_count}, ${view.auto_decision_count} decided automatically`,
		],
		['Who may answer', plan.interactive_require_user_reply === true ? 'a person only' : 'a person, in time'],
		['Session timeout', duration(Number(plan.session_timeout_sec) * 1000)],
		['While it waits', kind === 'sticky_process' ? 'the process lives on' : 'the slot is given back'],
		['Session', run.sessionHandle === undefined ? undefined : visible(run.sessionHandle)],
		['Created', <Moment key="created" at={view.created_at} />],
		['Changed', <Moment key="changed" at={view.updated_at} />],
		['Revision', view.revision],
	];
	return (
		<Panel title="Facts" id="facts">
			<dl class="facts in-columns">
				{rows
					.filter(([, value]) => value !== undefined)
					.map(([name, value]) => (
						<div key={name}>
							<dt>{name}</dt>
							<dd>{value}</dd>
						</div>
					))}
			</dl>
		</Panel>
	);
}

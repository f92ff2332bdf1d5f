/** Why the run is where it is: every gate that was asked, what it answered, and where the output does not fit. */

import { useEffect, useState } from 'preact/hooks';
import type { Decision, Run, TimelineEntry, Violation } from 'turnlatch';
import { fullCore } from '../model/full-core.js';
import { outputText } from '../model/output.js';
import type { RunSource } from '../model/run-source.js';
import { reasonText, visible } from '../model/words.js';
import { Icon } from '../parts/icons.js';
import { JsonTree } from '../parts/json-tree.js';
import { Notes, Panel } from '../parts/small.js';

export function Why({
	source,
	run,
	step,
	onLatest,
}: {
	source: RunSource;
	run: Run;
	step: TimelineEntry | undefined;
	onLatest: () => void;
}) {
	const explanation = run.explain();
	const latest = source.steps.value.findLast(({ decision }) => decision !== undefined);
	const shown = step ?? latest;
	const decision = step?.decision ?? explanation.decision;
	const past = step !== undefined && step.revision !== latest?.revision;
	return (
		<Panel
			title={past ? `Why turn ${step.attempt_number} ended so` : 'Why'}
			id="why"
			extra={
				past && (
					<button type="button" class="link" onClick={onLatest}>
						Back to now
					</button>
				)
			}
		>
			<p class="reason" dir="auto">
				{reasonText(past ? step.reason : explanation.reason)}
			</p>
			{decision !== undefined && <Gates decision={decision} />}
			{decision !== undefined && <Output source={source} step={shown} decision={decision} />}
			{decision !== undefined && <Notes title="Warnings" notes={decision.warnings} />}
			{decision !== undefined && <Notes title="Diagnostics" notes={decision.diagnostics} />}
			{!past && <Missing run={run} />}
		</Panel>
	);
}

function Gates({ decision }: { decision: Decision }) {
	const { evidence } = decision;
	return (
		<>
			<h3>Gates, in the order they were asked</h3>
			<ol class="gates">
				{decision.checks.map(({ gate, result, detail }) => (
					<li key={gate} data-result={result}>
						<Icon name={result === 'decided' ? 'succeeded' : 'next'} />
						<code>{gate}</code>
						<span class="answer">{result === 'decided' ? 'decided' : 'passed on'}</span>
						<span class="detail">{visible(detail)}</span>
					</li>
				))}
			</ol>
			<dl class="facts">
				<dt>Marker</dt>
				<dd>{evidence.marker}</dd>
				<dt>Output</dt>
				<dd>
					{evidence.output}
					{evidence.source !== undefined && `, from ${evidence.source.replaceAll('_', ' ')}`}
				</dd>
				<dt>Asks</dt>
				<dd>{evidence.asks ? 'yes' : 'no'}</dd>
			</dl>
		</>
	);
}

/** The output with its violations at their place, where the journal still has the turn's text. */
function Output({
	source,
	step,
	decision,
}: {
	source: RunSource;
	step: TimelineEntry | undefined;
	decision: Decision;
}) {
	const violations = decision.evidence.violations ?? [];
	const [text, setText] = useState<string | undefined>(undefined);
	const { record } = source;
	const [revision, has] = [step?.revision, decision.evidence.output];
	useEffect(() => {
		setText(undefined);
		if (revision === undefined || record === undefined || has === 'missing' || has === 'unparsable') return;
		let wanted = true;
		void Promise.all([fullCore(), record()])
			.then(([core, { plan, lines }]) => {
				const line = lines[revision - 1];
				return line === undefined ? undefined : outputText(core, plan, line, decision);
			})
			.catch(() => undefined)
			.then((found) => {
				if (wanted && found) setText(found);
			});
		return () => {
			wanted = false;
		};
	}, [revision, has]);
	if (text === undefined && violations.length === 0) return null;
	return (
		<>
			<h3>{violations.length > 0 ? 'Where the output does not fit its schema' : 'The output'}</h3>
			{text === undefined ? (
				<ViolationList violations={violations} />
			) : (
				<JsonTree text={text} violations={violations} />
			)}
		</>
	);
}

function ViolationList({ violations }: { violations: readonly Violation[] }) {
	return (
		<ul class="violations">
			{violations.map(({ instance_path, schema_path, message }) => (
				<li key={instance_path + schema_path + message}>
					<code>{visible(instance_path) || 'the output itself'}</code> {visible(message)}{' '}
					<code>{visible(schema_path)}</code>
				</li>
			))}
		</ul>
	);
}

/** What a success still needs, as long as the run can go on. */
function Missing({ run }: { run: Run }) {
	if (run.ended) return null;
	const { reached, reasons } = run.whyNot('succeeded');
	if (reached || reasons.length === 0) return null;
	return (
		<>
			<h3>What is missing for success</h3>
			<ul class="plain">
				{reasons.map((reason) => (
					<li key={reason} dir="auto">
						{visible(reason)}
					</li>
				))}
			</ul>
		</>
	);
}

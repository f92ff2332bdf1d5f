/** A recorded run, without a service: the same page, with a slider through time. */

import { useEffect, useMemo } from 'preact/hooks';
import { openFiles, problem, type Shown, shown, waiting } from '../model/opened.js';
import { momentOf, type Recording } from '../model/recording.js';
import { timeOfDay, visible } from '../model/words.js';
import { Icon } from '../parts/icons.js';
import { CodeNote, Problem } from '../parts/small.js';
import { RunPage } from './run-page.js';

export function FilePage() {
	useEffect(() => {
		document.title = 'Recorded run · turnlatch';
	}, []);
	const wrong = problem.value;
	return (
		<>
			{wrong !== undefined && (
				<Problem title={`${visible(wrong.name)} cannot be shown`}>
					<CodeNote
						code={wrong.code}
						message={wrong.place === undefined ? wrong.message : `${wrong.place}: ${wrong.message}`}
						remedy
					/>
				</Problem>
			)}
			{waiting.value !== undefined && (
				<p class="hint" role="status">
					{visible(waiting.value.name)} is a journal of the run <code>{waiting.value.journal.runId}</code>. A journal
					says what happened, but not by which settings: open the run's snapshot as well, then it can be replayed.
				</p>
			)}
			{shown.value === undefined ? <Nothing /> : <ShownFile key={shown.value.name} file={shown.value} />}
		</>
	);
}

function ShownFile({ file }: { file: Shown }) {
	const source = useMemo(() => (file.kind === 'recording' ? file.recording.source() : momentOf(file.run)), [file]);
	return (
		<RunPage source={source} actions={<OpenButton label="Open another" />}>
			<p class="hint">
				<Icon name="file" /> {visible(file.name)}
				{file.kind === 'snapshot' && ': one moment of a run. Open its journal or record to move through time.'}
			</p>
			{file.kind === 'recording' && <Slider recording={file.recording} />}
		</RunPage>
	);
}

function Slider({ recording }: { recording: Recording }) {
	const { steps, position } = recording;
	const at = position.value;
	const step = steps[at];
	const move = (by: number): void => {
		position.value = Math.min(steps.length - 1, Math.max(0, at + by));
	};
	const said = step === undefined ? '' : `${step.event.replaceAll('_', ' ')}, ${timeOfDay(step.at)}`;
	return (
		<section class="slider" aria-label="Moment of the run">
			<button type="button" data-step="back" aria-label="Step back" disabled={at === 0} onClick={() => move(-1)}>
				<Icon name="back" />
			</button>
			<input
				type="range"
				aria-label="Step"
				aria-valuetext={`step ${at + 1} of ${steps.length}: ${said}`}
				min={1}
				max={steps.length}
				value={at + 1}
				onInput={({ currentTarget }) => {
					position.value = Number(currentTarget.value) - 1;
				}}
			/>
			<button
				type="button"
				data-step="next"
				aria-label="Step on"
				disabled={at === steps.length - 1}
				onClick={() => move(1)}
			>
				<Icon name="next" />
			</button>
			<output>
				<strong>
					{at + 1} / {steps.length}
				</strong>{' '}
				{said}
			</output>
		</section>
	);
}

function Nothing() {
	return (
		<div class="empty drop">
			<Icon name="file" />
			<h1>Look into a recorded run</h1>
			<p class="muted">
				Drop a record, a snapshot or a journal anywhere on this page. It is read here, in your browser, by the same core
				that made it; nothing is sent anywhere.
			</p>
			<OpenButton label="Open a file" />
		</div>
	);
}

function OpenButton({ label }: { label: string }) {
	return (
		<label class="button file-button">
			<Icon name="file" /> {label}
			<input
				type="file"
				class="hidden"
				multiple
				accept=".json,application/json"
				onChange={({ currentTarget }) => {
					if (currentTarget.files !== null) void openFiles([...currentTarget.files]);
					// The same file can be opened again after it was changed.
					currentTarget.value = '';
				}}
			/>
		</label>
	);
}

/** A run of the service: its page, kept up to date, with what can be asked of it. */

import { useEffect, useState } from 'preact/hooks';
import { type Run, runOfSlot } from 'turnlatch/slim';
import { announce } from '../model/announce.js';
import * as api from '../model/api.js';
import { LiveRun } from '../model/live-run.js';
import { openText } from '../model/opened.js';
import { go, runHref } from '../model/route.js';
import { skillOf } from '../model/run-list.js';
import type { RunSource } from '../model/run-source.js';
import { activeConnection, refreshHealth, serviceHealth } from '../model/service.js';
import { STATUS_WORDS, visible } from '../model/words.js';
import { Icon } from '../parts/icons.js';
import { CodeNote, Panel, Problem } from '../parts/small.js';
import { AgentWordsPanel } from './agent-words.js';
import { CancelButton } from './cancel.js';
import { RunPage } from './run-page.js';

export function LivePage({ runId }: { runId: string }) {
	const [live, setLive] = useState<LiveRun | undefined>(undefined);
	useEffect(() => {
		const opened = new LiveRun(runId);
		setLive(opened);
		activeConnection.value = opened.connection;
		return () => {
			opened.close();
			activeConnection.value = undefined;
		};
	}, [runId]);
	if (live === undefined || live.runId !== runId) return <p class="booting">Loading the run…</p>;
	if (live.source.value !== undefined) return <Live key={runId} live={live} source={live.source.value} />;
	const failure = live.failure.value;
	if (failure === undefined) return <p class="booting">Loading the run…</p>;
	return (
		<Problem title={failure.status === 404 ? `There is no run ${visible(runId)}` : 'The run cannot be shown'}>
			<CodeNote code={failure.code} message={failure.message} remedy />
			<button type="button" onClick={() => void live.refresh()}>
				Try again
			</button>
		</Problem>
	);
}

function Live({ live, source }: { live: LiveRun; source: RunSource }) {
	const run = source.run.value;
	const { status, revision } = run;
	const skill = useSkill(live.runId);
	useEffect(() => {
		announce(`The run is ${STATUS_WORDS[status].toLowerCase()}.`);
		document.title = `${STATUS_WORDS[status]} · ${live.runId} · turnlatch`;
	}, [status]);
	useEffect(refreshHealth, [revision]);
	const look = async (): Promise<void> => {
		await openText(`${live.runId}.record.json`, await api.record(live.runId));
		go('#/file');
	};
	return (
		<RunPage
			source={source}
			skill={skill}
			words={<AgentWordsPanel words={live.words} />}
			slots={<Slots run={run} />}
			actions={
				<>
					<button type="button" onClick={() => void look()}>
						<Icon name="rewind" /> Replay
					</button>
					<button type="button" onClick={() => void download(live.runId)}>
						<Icon name="download" /> Record
					</button>
					<CancelButton source={source} run={run} />
				</>
			}
		/>
	);
}

/** The service's slots, and which of them this run holds. */
function Slots({ run }: { run: Run }) {
	const health = serviceHealth.value;
	if (health === undefined) return null;
	const { total, held, waiting } = health.slots;
	const own = run.outstanding().keep.slot_id;
	return (
		<Panel
			title="Slots"
			id="slots"
			extra={<span class="muted">{`${held.length} of ${total} in use, ${waiting} waiting`}</span>}
		>
			<ul class="slots">
				{held.map((slot) => {
					const holder = runOfSlot(slot) ?? slot;
					return (
						<li key={slot} class={slot === own ? 'own' : undefined}>
							<Icon name="slot" />
							<a href={runHref(holder)}>{holder}</a>
							{slot === own && <span class="muted">this run</span>}
						</li>
					);
				})}
				{Array.from({ length: Math.max(0, total - held.length) }, (_, index) => (
					<li key={`free ${index}`} class="free">
						<Icon name="slot" /> free
					</li>
				))}
			</ul>
		</Panel>
	);
}

/** Which skill the run is of; the list says it, so it is fetched if the page was opened by its address. */
function useSkill(runId: string): string | undefined {
	const [skill, setSkill] = useState(skillOf.get(runId));
	useEffect(() => {
		if (skill !== undefined) return;
		void api
			.jobs(new URLSearchParams({ limit: '200' }))
			.then(({ jobs }) => setSkill(jobs.find(({ view }) => view.run_id === runId)?.skill))
			.catch(() => undefined);
	}, [runId]);
	return skill;
}

/** Saves the run's record. A plain link could not send the token. */
async function download(runId: string): Promise<void> {
	const address = URL.createObjectURL(new Blob([await api.record(runId)], { type: 'application/json' }));
	const link = document.createElement('a');
	link.href = address;
	link.download = `${runId}.record.json`;
	link.click();
	URL.revokeObjectURL(address);
}

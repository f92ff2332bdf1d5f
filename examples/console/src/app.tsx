/** The shell: header, pages, the place for dropped files, and what a screen reader is told. */

import { useEffect, useErrorBoundary, useRef, useState } from 'preact/hooks';
import { announcements } from './model/announce.js';
import { tokenWanted } from './model/api.js';
import { openFiles } from './model/opened.js';
import { go, type Route, route } from './model/route.js';
import { activeConnection, refreshHealth, serviceHealth } from './model/service.js';
import { listenForKeys } from './model/shortcuts.js';
import { nextTheme, theme } from './model/theme.js';
import { visible } from './model/words.js';
import { Icon, type IconName } from './parts/icons.js';
import { Problem } from './parts/small.js';
import { FilePage } from './views/file-page.js';
import { LivePage } from './views/live-page.js';
import { NewPage } from './views/new-page.js';
import { RunsPage } from './views/runs-page.js';
import { ShortcutsDialog } from './views/shortcuts-dialog.js';
import { TokenForm } from './views/token-form.js';

export function App() {
	const shortcuts = useRef<HTMLDialogElement>(null);
	const main = useRef<HTMLElement>(null);
	const at = route.value;
	const page = at.page === 'run' ? `run ${at.runId}` : at.page;
	const shownBefore = useRef(page);
	useEffect(() => {
		refreshHealth();
		return listenForKeys(() => shortcuts.current?.showModal());
	}, []);
	useEffect(() => {
		// A new page begins at its top, for eyes and for screen readers; the first one as the browser has it.
		if (shownBefore.current === page) return;
		shownBefore.current = page;
		scrollTo(0, 0);
		main.current?.focus();
	}, [page]);
	return (
		<>
			<button type="button" class="skip" onClick={() => main.current?.focus()}>
				Skip to the content
			</button>
			<Header page={at.page} onShortcuts={() => shortcuts.current?.showModal()} />
			<main id="main" tabIndex={-1} ref={main}>
				{tokenWanted.value && at.page !== 'file' ? <TokenForm /> : <Guarded key={page} at={at} />}
			</main>
			<DropPlace />
			<ShortcutsDialog dialog={shortcuts} />
			<Announcements />
		</>
	);
}

/** Read out one after the other as they are added; text that replaces text would cut the one before short. */
function Announcements() {
	return (
		<div class="hidden" role="log" aria-live="polite" aria-label="Announcements">
			{announcements.value.map(({ id, text }) => (
				<p key={id}>{text}</p>
			))}
		</div>
	);
}

/** A page that breaks says so, and leaves the header to go elsewhere. */
function Guarded({ at }: { at: Route }) {
	const [error, tryAgain] = useErrorBoundary();
	if (error === undefined) return <Page at={at} />;
	return (
		<Problem title="This page broke: a bug of the console">
			<p>{visible(String(error))}</p>
			<button type="button" onClick={tryAgain}>
				Try again
			</button>
		</Problem>
	);
}

function Page({ at }: { at: Route }) {
	switch (at.page) {
		case 'runs':
			return <RunsPage query={at.query} />;
		case 'run':
			return <LivePage runId={at.runId} />;
		case 'new':
			return <NewPage />;
		case 'file':
			return <FilePage />;
	}
}

function Header({ page, onShortcuts }: { page: Route['page']; onShortcuts: () => void }) {
	const links: [string, string, IconName, boolean][] = [
		['#/', 'Runs', 'list', page === 'runs' || page === 'run'],
		['#/new', 'New job', 'plus', page === 'new'],
		['#/file', 'Open a file', 'file', page === 'file'],
	];
	return (
		<header class="top">
			<a class="brand" href="#/" aria-label="turnlatch, all runs">
				<img src="./icon.svg" alt="" width="24" height="24" />
				<span>turnlatch</span>
			</a>
			<nav aria-label="Pages">
				{links.map(([href, label, icon, current]) => (
					<a key={href} href={href} aria-current={current ? 'page' : undefined}>
						<Icon name={icon} />
						<span>{label}</span>
					</a>
				))}
			</nav>
			<div class="state">
				<SlotMeter />
				<ConnectionState />
			</div>
			<div class="tools">
				<button type="button" class="bare" onClick={nextTheme} title={`Theme: ${theme.value}`}>
					<Icon name="theme" />
					<span class="hidden">Theme: {theme.value}. Change it</span>
				</button>
				<button type="button" class="bare" onClick={onShortcuts} title="Keyboard shortcuts (?)">
					<Icon name="keys" />
					<span class="hidden">Keyboard shortcuts</span>
				</button>
			</div>
		</header>
	);
}

function SlotMeter() {
	const health = serviceHealth.value;
	if (health === undefined) return null;
	const { total, held, waiting } = health.slots;
	return (
		<span class="meter" title={`${health.unfinished} unfinished runs`}>
			<Icon name="slot" />
			<span>
				{held.length}/{total}
				<span class="meter-words"> slots{waiting > 0 && `, ${waiting} waiting`}</span>
			</span>
		</span>
	);
}

function ConnectionState() {
	const connection = activeConnection.value?.value;
	if (connection === undefined) return null;
	const words = {
		connecting: 'Connecting',
		live: 'Live',
		retrying: 'Reconnecting',
		ended: 'Run ended',
		refused: 'Not connected',
	}[connection.state];
	return (
		<span class="connection" data-state={connection.state} role="status" aria-label={`Connection: ${words}`}>
			<span class="lamp" />
			{words}
		</span>
	);
}

/** Files can be dropped anywhere. */
function DropPlace() {
	const [over, setOver] = useState(false);
	useEffect(() => {
		const stop = new AbortController();
		const { signal } = stop;
		const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') === true;
		addEventListener(
			'dragover',
			(event) => {
				if (!hasFiles(event)) return;
				event.preventDefault();
				setOver(true);
			},
			{ signal },
		);
		addEventListener('dragleave', (event) => event.relatedTarget === null && setOver(false), { signal });
		addEventListener(
			'drop',
			(event) => {
				if (!hasFiles(event)) return;
				event.preventDefault();
				setOver(false);
				void openFiles([...(event.dataTransfer?.files ?? [])]).then(() => go('#/file'));
			},
			{ signal },
		);
		return () => stop.abort();
	}, []);
	return over ? <div class="drop-place">Drop it to look into the run</div> : null;
}

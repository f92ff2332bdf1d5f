/** The statechart, drawn by hand: where the run is, how it got there, and where it can go. */

import type { Status, TimelineEntry } from 'turnlatch';
import { STATUS_WORDS, STATUSES } from '../model/words.js';
import { Icon } from '../parts/icons.js';

interface Box {
	x: number;
	y: number;
	width: number;
}

const HEIGHT = 38;
const BOXES: Readonly<Record<Status, Box>> = {
	queued: { x: 46, y: 34, width: 132 },
	running: { x: 46, y: 132, width: 132 },
	waiting_user: { x: 46, y: 230, width: 132 },
	succeeded: { x: 259, y: 84, width: 112 },
	failed: { x: 259, y: 164, width: 112 },
	canceled: { x: 259, y: 246, width: 112 },
};

interface Arrow {
	from: Status | 'start' | 'unfinished';
	to: Status;
	path: string;
	label: string;
	/** Where the label stands. */
	at: [number, number];
	anchor?: 'start' | 'middle' | 'end';
	/** Whether the label is written upwards. */
	upwards?: boolean;
}

const ARROWS: readonly Arrow[] = [
	{ from: 'start', to: 'queued', path: 'M112 14V32', label: '', at: [0, 0] },
	{ from: 'queued', to: 'running', path: 'M98 72V130', label: 'slot', at: [92, 105], anchor: 'end' },
	{ from: 'running', to: 'queued', path: 'M128 132V74', label: 'retry', at: [134, 105] },
	{ from: 'running', to: 'waiting_user', path: 'M98 170V228', label: 'asks', at: [92, 203], anchor: 'end' },
	{ from: 'waiting_user', to: 'running', path: 'M128 230V172', label: 'reply', at: [134, 203] },
	{
		from: 'waiting_user',
		to: 'queued',
		path: 'M46 249H38Q26 249 26 237V65Q26 53 38 53H44',
		label: 'answer',
		at: [20, 151],
		anchor: 'middle',
		upwards: true,
	},
	{
		from: 'running',
		to: 'succeeded',
		path: 'M178 145H206Q218 145 218 133V115Q218 103 230 103H257',
		label: 'done',
		at: [223, 122],
	},
	{ from: 'running', to: 'failed', path: 'M178 158H206Q218 158 218 165Q218 177 230 177H257', label: '', at: [0, 0] },
	{
		from: 'waiting_user',
		to: 'failed',
		path: 'M178 240H206Q218 240 218 228V202Q218 190 230 190H257',
		label: 'too late',
		at: [224, 219],
	},
	{ from: 'unfinished', to: 'canceled', path: 'M196 265H257', label: 'cancel', at: [226, 280], anchor: 'middle' },
];

/** The arrow that a step took, if it took one. */
function isTaken({ from, to }: Arrow, before: Status | undefined, after: Status): boolean {
	if (to !== after) return false;
	if (from === 'start') return before === undefined;
	return from === before || (from === 'unfinished' && before !== undefined);
}

export function Chart({ status, steps }: { status: Status; steps: readonly TimelineEntry[] }) {
	const path = steps.map((step) => step.status);
	const taken = (arrow: Arrow): boolean =>
		path.some((after, index) => after !== path[index - 1] && isTaken(arrow, path[index - 1], after));
	const came = path.filter((name, index) => name !== path[index - 1]).map((name) => STATUS_WORDS[name]);
	const label = `State: ${STATUS_WORDS[status]}.${came.length > 1 ? ` It went: ${came.join(', then ')}.` : ''}`;
	return (
		<svg class="chart" viewBox="0 0 374 300" role="img" aria-label={label}>
			<title>{label}</title>
			<defs>
				<marker id="arrow" viewBox="0 0 8 8" refX="6.5" refY="4" markerWidth="7" markerHeight="7" orient="auto">
					<path d="M0 .5L7.5 4L0 7.5z" />
				</marker>
				<marker id="arrow-taken" viewBox="0 0 8 8" refX="6.5" refY="4" markerWidth="7" markerHeight="7" orient="auto">
					<path d="M0 .5L7.5 4L0 7.5z" />
				</marker>
			</defs>
			<rect class="frame" x="8" y="22" width="188" height="268" rx="14" />
			<circle class="start" cx="112" cy="10" r="4.5" />
			{ARROWS.map((arrow) => {
				const lit = taken(arrow);
				const [x, y] = arrow.at;
				return (
					<g key={`${arrow.from} ${arrow.to}`} class={lit ? 'arrow taken' : 'arrow'}>
						<path d={arrow.path} marker-end={lit ? 'url(#arrow-taken)' : 'url(#arrow)'} />
						{arrow.label !== '' && (
							<text
								x={x}
								y={y}
								text-anchor={arrow.anchor ?? 'start'}
								transform={arrow.upwards ? `rotate(-90 ${x} ${y})` : undefined}
							>
								{arrow.label}
							</text>
						)}
					</g>
				);
			})}
			{STATUSES.map((name) => {
				const { x, y, width } = BOXES[name];
				const state = name === status ? 'state here' : path.includes(name) ? 'state seen' : 'state';
				return (
					<g key={name} class={state} data-status={name}>
						<rect x={x} y={y} width={width} height={HEIGHT} rx="10" />
						<svg x={x + 9} y={y + 11} width="16" height="16" aria-hidden="true">
							<Icon name={name} />
						</svg>
						<text x={x + 31} y={y + 24}>
							{STATUS_WORDS[name].replace(' for you', '')}
						</text>
					</g>
				);
			})}
		</svg>
	);
}

/** Line icons, drawn by hand in a square of 16. They are decoration: the words beside them say the same. */

import type { TimelineEntry } from 'turnlatch';

const PATHS = {
	queued: 'M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11ZM8 5v3.2l2 1.3',
	running: 'M5.5 3.5v9l7-4.5z',
	waiting_user:
		'M2.5 4.5a1.5 1.5 0 0 1 1.5-1.5h8a1.5 1.5 0 0 1 1.5 1.5v5a1.5 1.5 0 0 1-1.5 1.5H7.5L4.5 13.5V11H4a1.5 1.5 0 0 1-1.5-1.5zM6.6 5.7a1.5 1.5 0 1 1 2 1.4c-.4.2-.6.4-.6.8M8 9.2v.1',
	succeeded: 'M3 8.5l3.3 3.3L13 5',
	failed: 'M4 4l8 8M12 4l-8 8',
	canceled: 'M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11ZM4.2 4.2l7.6 7.6',
	user: 'M8 2.5a2.6 2.6 0 1 0 0 5.2a2.6 2.6 0 0 0 0-5.2ZM3 13.5c.4-2.6 2.3-4 5-4s4.6 1.4 5 4',
	agent:
		'M4.5 5.5h7a1.5 1.5 0 0 1 1.5 1.5v4a1.5 1.5 0 0 1-1.5 1.5h-7A1.5 1.5 0 0 1 3 11V7a1.5 1.5 0 0 1 1.5-1.5ZM8 5.5V3M6 8.4v1M10 8.4v1',
	timer: 'M8 4a5 5 0 1 0 0 10a5 5 0 0 0 0-10ZM8 6.5V9l1.6 1.2M6.5 2h3',
	host: 'M3 3h10v4H3zM3 9h10v4H3zM5.2 5h.1M5.2 11h.1',
	plus: 'M8 3v10M3 8h10',
	list: 'M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.1M2.5 8h.1M2.5 12h.1',
	file: 'M4 2h5l3.5 3.5V14H4zM9 2v3.5h3.5',
	theme: 'M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11',
	keys: 'M6 6a2 2 0 1 1 2.8 1.8c-.6.3-.8.6-.8 1.4M8 11.5v.1M8 1.8a6.2 6.2 0 1 0 0 12.4a6.2 6.2 0 0 0 0-12.4Z',
	warning: 'M8 2.5L14.2 13H1.8zM8 6.5v3M8 11.2v.1',
	download: 'M8 2.5v7.5M5 7.2l3 3l3-3M3 13h10',
	rewind: 'M3 8a5 5 0 1 1 1.6 3.7M3 3.5V8h4.5',
	slot: 'M3 4.5h10v7H3zM5.5 7h5v2h-5z',
	next: 'M6 3.5L10.5 8L6 12.5',
	back: 'M10 3.5L5.5 8L10 12.5',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
	return (
		<svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
			<path d={PATHS[name]} />
		</svg>
	);
}

const BY_WORDS: Readonly<Record<TimelineEntry['by'], string>> = {
	user: 'a person',
	agent: 'the agent',
	timer: 'the timer',
	host: 'the service',
};

/** Who brought something about. */
export function By({ by }: { by: TimelineEntry['by'] }) {
	return (
		<span class="by">
			<Icon name={by} />
			<span class="hidden">by </span>
			{BY_WORDS[by]}
		</span>
	);
}

/** The time until a question decides itself, and what happens then, as the core says. */

import type { ReadonlySignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Interaction, Run } from 'turnlatch';
import { announce } from '../model/announce.js';
import { afterDeadline } from '../model/run-source.js';
import { countdown, STATUS_WORDS, visible } from '../model/words.js';
import { Icon } from '../parts/icons.js';

/** Said aloud when so many seconds are left; every second would be too much. */
const ANNOUNCED = [60, 10];

export function Countdown({
	run,
	asked,
	deadline,
	now,
}: {
	run: Run;
	asked: Interaction;
	deadline: number;
	now: ReadonlySignal<number>;
}) {
	const then = useMemo(() => afterDeadline(run, asked.interaction_id, deadline), [run, asked.interaction_id, deadline]);
	const whole = Math.max(1, deadline - asked.asked_at);
	// Clocks differ and tick late; nobody has more time than there was.
	const left = Math.min(whole, Math.max(0, deadline - now.value));
	const secondsLeft = Math.ceil(left / 1000);
	useEffect(() => {
		if (ANNOUNCED.includes(secondsLeft)) announce(`${secondsLeft} seconds left to answer.`);
	}, [secondsLeft]);
	return (
		<div class="countdown" data-urgent={secondsLeft <= 10}>
			<p>
				<Icon name="timer" />
				<strong role="timer">{countdown(left)}</strong>
				{then.code === undefined ? (
					<span>
						{left > 0 ? 'until it is' : 'It is now'} decided automatically, by the policy{' '}
						<code>{visible(asked.default_decision_policy)}</code>
					</span>
				) : (
					<span>
						{left > 0 ? 'until the run is' : 'The run is now'} {STATUS_WORDS[then.status].toLowerCase()} with{' '}
						<code>{then.code}</code>
					</span>
				)}
			</p>
			<progress max={whole} value={left} aria-label="Time left to answer" />
		</div>
	);
}

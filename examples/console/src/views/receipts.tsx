/** What would become of a request, and what did. */

import type { Json, Receipt } from 'turnlatch';
import type { ApiError } from '../model/api.js';
import { codeInfo, dateAndTime, RESOLUTION_WORDS, STATUS_WORDS, visible } from '../model/words.js';
import { Icon } from '../parts/icons.js';
import { CodeNote, Problem } from '../parts/small.js';

/** What the core in this page says about an answer before it is sent. */
export function Prediction({
	id,
	receipt,
	sends,
	live,
}: {
	id: string;
	receipt: Receipt | undefined;
	sends: Json | undefined;
	live: boolean;
}) {
	if (receipt === undefined || sends === undefined) {
		return (
			<p id={id} class="prediction muted">
				{live ? 'Choose or write an answer.' : 'Try an answer: the core in this page says what would become of it.'}
			</p>
		);
	}
	if (receipt.code === undefined) {
		return (
			<p id={id} class="prediction" data-good="true">
				<Icon name="succeeded" />
				{receipt.kind === 'duplicate' ? (
					<span>Was taken already; sending it again changes nothing.</span>
				) : (
					<span>
						Would be {receipt.kind}: the run would be {STATUS_WORDS[receipt.status].toLowerCase()}. Sends{' '}
						<q dir="auto">{shortened(sends)}</q>
					</span>
				)}
			</p>
		);
	}
	return (
		<div id={id} class="prediction" data-good="false" role="status">
			<Icon name="failed" />
			<div>
				<p>
					Would be refused: <code>{receipt.code}</code> {codeInfo(receipt.code)?.meaning}
				</p>
				<Resolved receipt={receipt} />
			</div>
		</div>
	);
}

/** An answer or a cancel that was refused by the service. */
export function Refusal({ error }: { error: ApiError }) {
	return (
		<Problem title="The service said no">
			<CodeNote code={error.code} message={error.message} remedy />
			{error.receipt !== undefined && <Resolved receipt={error.receipt} />}
		</Problem>
	);
}

/** An answer that was taken. */
export function Taken({ receipt }: { receipt: Receipt }) {
	return (
		<p class="taken" role="status">
			<Icon name="succeeded" /> Your answer to question {receipt.interaction_id} was {receipt.kind}, as revision{' '}
			{receipt.revision}.
		</p>
	);
}

/** How, when and by whom a question was resolved before. */
function Resolved({ receipt }: { receipt: Receipt }) {
	const { resolved, status, pending_interaction_id } = receipt;
	return (
		<p class="muted">
			{resolved !== undefined &&
				`Question ${receipt.interaction_id} was ${RESOLUTION_WORDS[resolved.resolution_mode]}, ${dateAndTime(resolved.resolved_at)}. `}
			The run is {STATUS_WORDS[status].toLowerCase()}
			{pending_interaction_id !== undefined && `, at question ${pending_interaction_id}`}.
		</p>
	);
}

function shortened(sends: Json): string {
	const text = typeof sends === 'string' ? sends : JSON.stringify(sends);
	return visible(text.length > 80 ? `${text.slice(0, 79)}…` : text);
}

import type { Effect, Status } from './types.js';

/** In the order of `Status::ALL`. */
const STATUSES: readonly Status[] = ['queued', 'running', 'waiting_user', 'succeeded', 'failed', 'canceled'];
/** An effect's kind, and its members. */
const NUMBERS = 3;

/** The effects that the core told as numbers (`src/effects.rs`), from this place on. */
export function readEffects(
	numbers: Float64Array,
	from: number,
	count: number,
	runId: string,
	revision: number,
): Effect[] {
	const effects: Effect[] = [];
	for (let index = 0; index < count; index += 1) {
		const at = from + index * NUMBERS;
		const [kind, one, other] = [numbers[at], numbers[at + 1] as number, numbers[at + 2] as number];
		effects.push(effectOf(kind as number, one, other, runId, `${runId}/${revision}/${index + 1}`));
	}
	return effects;
}

function effectOf(kind: number, one: number, other: number, runId: string, id: string): Effect {
	switch (kind) {
		case 0:
			return { type: 'acquire_slot', slot_id: `${runId}/s${one}`, id };
		case 1:
			return { type: 'release_slot', slot_id: `${runId}/s${one}`, id };
		case 2:
			return { type: 'start_turn', attempt_number: other, slot_id: `${runId}/s${one}`, id };
		case 3:
			return { type: 'terminate_process', attempt_number: other, slot_id: `${runId}/s${one}`, id };
		case 4:
			return { type: 'set_timer', interaction_id: one, at: other, id };
		case 5:
			return { type: 'cancel_timer', interaction_id: one, id };
		default: {
			const status = STATUSES[one] as Status;
			if (other === 0) return { type: 'notify', what: 'status_changed', status, id };
			return { type: 'notify', what: 'status_changed', status, interaction_id: other, id };
		}
	}
}

// What type checkers must accept and refuse: nothing here runs. `types.test.ts` compiles it as several consumers would.
import {
	AdmissionError,
	type AllowedRequest,
	admit,
	type Check,
	type Code,
	CorePanickedError,
	codes,
	compactEntry,
	type Decoded,
	decodeStream,
	type Effect,
	EventRejectedError,
	evaluateTurn,
	init,
	Journal,
	type Note,
	type Plan,
	type Receipt,
	Run,
	type RunEvent,
	type RunRequest,
	type RuntimeOptions,
	replay,
	type Status,
	type StatusView,
	StreamDecoder,
	type StreamFormat,
	type Transition,
} from 'turnlatch';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(_proof: Same<A, B>): void {}
function never(value: never): never {
	throw new Error(String(value));
}

export function everyEffect(effect: Effect): string {
	switch (effect.type) {
		case 'acquire_slot':
		case 'release_slot':
			return effect.slot_id;
		case 'start_turn':
			return effect.resume?.response ?? effect.slot_id;
		case 'inject_reply':
			return effect.response;
		case 'terminate_process':
			return `${effect.attempt_number} ${effect.slot_id}`;
		case 'set_timer':
			same<typeof effect.at, number>(true);
			return String(effect.interaction_id);
		case 'cancel_timer':
			return String(effect.interaction_id);
		case 'notify':
			same<typeof effect.status, Status>(true);
			return effect.status;
		default:
			return never(effect);
	}
}

export function everyEvent(event: RunEvent): unknown {
	switch (event.type) {
		case 'slot_granted':
			return event.slot_id;
		case 'turn_finished':
			return event.attempt_number;
		case 'reply':
			return event.idempotency_key;
		case 'timer_fired':
			return event.interaction_id;
		case 'process_lost':
			return event.slot_id;
		case 'cancel':
			return event.reason;
		default:
			return never(event);
	}
}

export function everyStatus(run: Run): boolean {
	const { status } = run;
	switch (status) {
		case 'queued':
		case 'running':
		case 'waiting_user':
			return false;
		case 'succeeded':
		case 'failed':
		case 'canceled':
			return true;
		default:
			return never(status);
	}
}

export async function aWholeRun(): Promise<void> {
	await init();
	let plan: Plan;
	try {
		plan = admit({ runner: {}, output_schema: true }, { run_id: 'r1', engine: 'codex' }, { engines: ['codex'] });
	} catch (error) {
		if (error instanceof AdmissionError) console.log(error.code, error.details[0]?.path);
		if (error instanceof CorePanickedError) console.log(error.cause);
		return;
	}
	same<typeof plan.warnings, Note[]>(true);
	const [run, created] = Run.create(plan, new Date());
	same<typeof created, Transition>(true);
	const journal = new Journal(plan);
	if (created.entry) journal.push(compactEntry(created.entry));
	try {
		run.apply({ type: 'slot_granted', slot_id: 'r1/s1' }, 1);
		run.apply({ type: 'turn_finished', attempt_number: 1n, messages: [{ role: 'assistant', text: '?' }] }, 2n);
	} catch (error) {
		if (error instanceof EventRejectedError) console.log(error.observation?.rejected);
	}
	const answered = run.reply(1, { any: ['data', 5n] }, 3, { idempotency_key: 'k', expected_revision: 3 });
	same<typeof answered.receipt, Receipt>(true);
	if (answered.receipt.kind === 'stale') console.log(answered.receipt.resolved?.resolved_at);
	console.log(run.pendingView().pending?.options.map((option) => option.label));
	const [again, effects] = replay(plan, journal);
	same<typeof effects, Effect[][]>(true);
	console.log(again.outstanding().keep.timer, codes()[0]?.http, evaluateTurn(plan, { text: 'x' }).decision.outcome);
	run[Symbol.dispose]();
}

export function everyStream(formats: StreamFormat[], chunk: Uint8Array): void {
	for (const format of formats) {
		const decoder = new StreamDecoder(format, { textLimit: 5, sticky: true, endOfTurn: '---', workFolder: '/work' });
		const { pieces, turn_over, stop, write } = decoder.feed(chunk);
		same<typeof write, string[]>(true);
		console.log(pieces[0]?.message, pieces[0]?.role, turn_over || stop, decoder.prompt('words'));
		const decoded = decoder.finish('', 0);
		same<typeof decoded, Decoded>(true);
		console.log(decoded.usage?.input_tokens, decoded.diagnostics[0]?.code);
		decoder[Symbol.dispose]();
	}
	const { messages, session_handle } = decodeStream({ format: 'codex-jsonl', stdout: '', exit_code: 0 });
	console.log(messages[0]?.text, session_handle);
}

/** Data of users: an interface without an index signature, or what was parsed. */
interface Answer {
	file: string;
	lines?: number;
}

export function anyData(run: Run, plan: Plan, answer: Answer, body: unknown, reason: string | undefined): void {
	run.reply(1, answer, 2, { idempotency_key: undefined });
	run.reply(1, body, 2);
	run.apply({ type: 'cancel', reason }, 3);
	evaluateTurn(plan, { output: answer, exit_code: undefined });
	const options: RuntimeOptions = { session_timeout_sec: 60, interactive_profile: { kind: 'sticky_process' } };
	const request: RunRequest = { run_id: 'r1', engine: 'codex', input: answer, parameter: body, ...options };
	admit({ runner: { max_attempt: 3, output_schema: { type: 'object' } } }, request, { engines: ['codex'], limits: {} });
}

export function everyReceipt(receipt: Receipt): number | string {
	switch (receipt.kind) {
		case 'accepted':
		case 'duplicate':
			return receipt.interaction_id;
		case 'stale':
			return receipt.resolved.resolved_by;
		case 'conflict':
		case 'not_waiting':
		case 'unknown':
		case 'not_interactive':
		case 'too_large':
			same<typeof receipt.code, Code>(true);
			return receipt.message;
		case 'canceled':
			return receipt.revision;
		case 'already_ended':
			return receipt.message;
		default:
			return never(receipt);
	}
}

export function everyView(view: StatusView<Answer>): string {
	switch (view.status) {
		case 'queued':
		case 'running':
			return '';
		case 'waiting_user':
			return String(view.pending_interaction_id);
		case 'succeeded':
			return view.data?.file ?? view.data_text ?? '';
		case 'failed':
		case 'canceled':
			return view.error.code;
		default:
			return never(view);
	}
}

export function everyAllowed(request: AllowedRequest): string | number {
	if (!request.allowed) return request.code;
	return request.request === 'reply' ? request.max_response_bytes : Object.keys(request.arguments).length;
}

export function everyCheck(check: Check): number | string {
	switch (check.reason) {
		case 'process_failed':
			return check.code;
		case 'attempts_left':
		case 'attempts_exhausted':
			return check.max_attempt - check.attempt;
		case 'artifacts_missing':
			return check.paths.join();
		case 'interaction_limit_reached':
			return check.interactions;
		default:
			return check.detail;
	}
}

export function skillsAndRequestsThatMustNotPass(): void {
	const host = { engines: ['codex'] };
	// @ts-expect-error no such member
	admit({ runner: { execution_mods: ['auto'] } }, { run_id: 'r1', engine: 'codex' }, host);
	// @ts-expect-error no such member
	admit({ runner: { max_atempt: 3 } }, { run_id: 'r1', engine: 'codex' }, host);
	// @ts-expect-error no such mode
	admit({ runner: { execution_modes: ['automatic'] } }, { run_id: 'r1', engine: 'codex' }, host);
	// @ts-expect-error no such option
	admit({ runner: {} }, { run_id: 'r1', engine: 'codex', session_timeout: 5 }, host);
	// @ts-expect-error a request needs an engine
	admit({ runner: {} }, { run_id: 'r1' }, host);
	// @ts-expect-error no such limit
	admit({ runner: {} }, { run_id: 'r1', engine: 'codex' }, { ...host, limits: { option: 3 } });
}

export function whatMustNotPass(run: Run, plan: Plan): void {
	// @ts-expect-error slot_id is missing
	run.apply({ type: 'slot_granted' }, 1);
	// @ts-expect-error no such event
	run.apply({ type: 'slot_grantd', slot_id: 's' }, 1);
	// @ts-expect-error a cancel has no slot
	run.apply({ type: 'cancel', slot_id: 's' }, 1);
	// @ts-expect-error a time is no text
	run.apply({ type: 'cancel' }, '1');
	// @ts-expect-error no such status
	run.whyNot('done');
	// @ts-expect-error no such member
	evaluateTurn(plan, { txt: 'x' });
	// @ts-expect-error a role is a known word
	evaluateTurn(plan, { messages: [{ role: 'asistant', text: 'x' }] });
	// @ts-expect-error a turn has at most one of them
	evaluateTurn(plan, { text: 'x', output: {} });
	// @ts-expect-error the stream has the exit code
	evaluateTurn(plan, { stream: { format: 'text', stdout: '' }, exit_code: 0 });
	// @ts-expect-error no such code
	console.log(run.allowed(1).requests[0]?.code === 'RUN_ALREADY_ENDDED');
	// @ts-expect-error not known before the status is
	console.log(run.statusView().error.code);
	// @ts-expect-error no such format
	new StreamDecoder('xml');
	// @ts-expect-error a stream has no text
	evaluateTurn(plan, { stream: { format: 'text', text: 'x' } });
	// @ts-expect-error a stream is fed with bytes
	new StreamDecoder('text').feed('x');
	// @ts-expect-error runs are made by create and fromJson
	new Run();
}

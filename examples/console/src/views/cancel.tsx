/** Ending a run, if the core says that it can be ended. */

import { useId, useRef, useState } from 'preact/hooks';
import type { Run } from 'turnlatch';
import { announce } from '../model/announce.js';
import { ApiError } from '../model/api.js';
import type { RunSource } from '../model/run-source.js';
import { codeInfo } from '../model/words.js';
import { Icon } from '../parts/icons.js';
import { Refusal } from './receipts.js';

export function CancelButton({ source, run }: { source: RunSource; run: Run }) {
	const dialog = useRef<HTMLDialogElement>(null);
	const [reason, setReason] = useState('');
	const [refusal, setRefusal] = useState<ApiError | undefined>(undefined);
	const title = useId();
	const allowed = run.allowed(source.now.peek()).requests.find(({ request }) => request === 'cancel');
	const why = allowed?.code === undefined ? undefined : codeInfo(allowed.code)?.meaning;
	const cancel = async (): Promise<void> => {
		try {
			await source.requests?.cancel(reason);
			announce('The run was canceled.');
			dialog.current?.close();
		} catch (error) {
			setRefusal(error instanceof ApiError ? error : new ApiError(0, 'NOT_SENT', String(error)));
		}
	};
	return (
		<>
			<button
				type="button"
				class="danger"
				disabled={allowed?.allowed !== true}
				title={why}
				onClick={() => {
					setRefusal(undefined);
					dialog.current?.showModal();
				}}
			>
				<Icon name="canceled" /> Cancel
				{why !== undefined && <span class="hidden">: {why}</span>}
			</button>
			<dialog ref={dialog} aria-labelledby={title}>
				<form
					method="dialog"
					onSubmit={(event) => {
						event.preventDefault();
						void cancel();
					}}
				>
					<h2 id={title}>Cancel this run?</h2>
					<p>Its process is ended and its slot given back. This cannot be undone.</p>
					<label class="field">
						<span>Reason (kept in the journal, may be empty)</span>
						<input value={reason} maxLength={4096} onInput={({ currentTarget }) => setReason(currentTarget.value)} />
					</label>
					{refusal !== undefined && <Refusal error={refusal} />}
					<div class="send">
						<button type="submit" class="danger">
							Cancel the run
						</button>
						<button type="button" onClick={() => dialog.current?.close()}>
							Keep it
						</button>
					</div>
				</form>
			</dialog>
		</>
	);
}

/** Which keys there are, and the switch for them. */

import type { RefObject } from 'preact';
import { keysOn, SHORTCUTS, switchKeys } from '../model/shortcuts.js';

export function ShortcutsDialog({ dialog }: { dialog: RefObject<HTMLDialogElement | null> }) {
	return (
		<dialog ref={dialog} aria-labelledby="shortcuts-title">
			<h2 id="shortcuts-title">Keyboard</h2>
			<dl class="keys">
				{SHORTCUTS.map(({ keys, words }) => [
					<dt key={keys}>
						<kbd>{keys.length > 1 ? `${keys[0]} – ${keys.at(-1)}` : keys}</kbd>
					</dt>,
					<dd key={`${keys} words`}>{words}</dd>,
				])}
				<dt>
					<kbd>Ctrl</kbd> <kbd>Enter</kbd>
				</dt>
				<dd>Send the answer</dd>
				<dt>
					<kbd>?</kbd>
				</dt>
				<dd>This help</dd>
			</dl>
			<label class="check">
				<input
					type="checkbox"
					checked={keysOn.value}
					onChange={({ currentTarget }) => switchKeys(currentTarget.checked)}
				/>
				Single keys are on
			</label>
			<form method="dialog" class="send">
				<button type="submit" class="primary">
					Close
				</button>
			</form>
		</dialog>
	);
}

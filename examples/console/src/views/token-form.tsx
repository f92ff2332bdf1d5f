/** Asks for the token that the service wants. */

import { useState } from 'preact/hooks';
import { keepToken } from '../model/api.js';
import { refreshHealth } from '../model/service.js';
import { Panel } from '../parts/small.js';

export function TokenForm() {
	const [token, setToken] = useState('');
	return (
		<form
			class="token"
			onSubmit={(event) => {
				event.preventDefault();
				keepToken(token);
				refreshHealth();
			}}
		>
			<Panel title="This service wants a token">
				<p class="muted">
					It is the one in TURNLATCH_TOKEN where the service was started. This tab keeps it until it is closed.
				</p>
				<label class="field">
					<span>Token</span>
					<input
						type="password"
						autocomplete="off"
						value={token}
						onInput={({ currentTarget }) => setToken(currentTarget.value)}
					/>
				</label>
				<div class="send">
					<button type="submit" class="primary" disabled={token.trim() === ''}>
						Go on
					</button>
				</div>
			</Panel>
		</form>
	);
}

/** The console starts: first the core, because every page asks it. */

import { render } from 'preact';
import { init } from 'turnlatch/slim';
import { App } from './app.js';
import './styles/index.css';

const place = document.getElementById('app');
if (place) {
	try {
		await init();
		place.replaceChildren();
		render(<App />, place);
	} catch (error) {
		render(<p class="booting">The console could not start: {String(error)}</p>, place);
	}
}

import { EXPECTED } from './app.mjs';
import { explains, works } from './shared/vite-dev.mjs';

export const needs = ['vite@6.4.6'];

export async function run(consumer) {
	const { root } = await works(consumer);
	await explains(consumer, root);
	return EXPECTED;
}

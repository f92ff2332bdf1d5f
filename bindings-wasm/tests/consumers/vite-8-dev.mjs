import { EXPECTED } from './app.mjs';
import { works } from './shared/vite-dev.mjs';

export const needs = ['vite@8.3.8'];

export async function run(consumer) {
	await works(consumer);
	return EXPECTED;
}

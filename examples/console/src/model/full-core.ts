/**
 * The core with the schema engine. It is loaded only where outputs are evaluated, because it is four times the download of the slim one,
 * which the rest of the console uses.
 */

let loading: Promise<FullCore> | undefined;

export type FullCore = typeof import('turnlatch');

export function fullCore(): Promise<FullCore> {
	loading ??= import('turnlatch').then(async (core) => {
		await core.init();
		return core;
	});
	return loading;
}

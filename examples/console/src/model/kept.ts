/** Small settings that the browser keeps; one that keeps nothing works all the same. */

export function kept(storage: 'local' | 'session', name: string): string | null {
	try {
		return storeOf(storage).getItem(`turnlatch.${name}`);
	} catch {
		return null;
	}
}

export function keep(storage: 'local' | 'session', name: string, value: string | null): void {
	try {
		if (value === null) storeOf(storage).removeItem(`turnlatch.${name}`);
		else storeOf(storage).setItem(`turnlatch.${name}`, value);
	} catch {
		// Storage may be full or forbidden. The setting then lasts as long as the page.
	}
}

function storeOf(storage: 'local' | 'session'): Storage {
	return storage === 'local' ? localStorage : sessionStorage;
}

/** JSON text with integers of any size, which the package reads as bigints. */

import type { Json } from 'turnlatch';

// Newer than the library that TypeScript describes; browsers without it get the nearest number.
const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };

export function jsonText(value: Json | object): string {
	return JSON.stringify(value, (_key, member: unknown) => {
		if (typeof member !== 'bigint') return member;
		return rawJSON === undefined ? Number(member) : rawJSON(String(member));
	});
}

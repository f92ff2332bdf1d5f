/** The package as users get it, made of the build that can be broken on purpose. `panics.test.ts` bundles it. */

import * as glue from 'turnlatch-glue';
import { call, currentGeneration, type Handle } from '../js/instance.js';

export * from '../js/public.js';

interface Breakable {
	break_by_panic(message: string): void;
	break_by_recursion(depth: number): number;
	break_by_large_frames(depth: number): number;
	break_by_allocation(): number;
}

export type Way = 'panic' | 'recursion' | 'large_frames' | 'allocation';

/** Breaks the instance in the middle of a call, as if the call were about this run. */
export function breakBy(way: Way, about?: Handle): void {
	const breakable = glue as unknown as Breakable;
	call(() => {
		switch (way) {
			case 'panic':
				return breakable.break_by_panic('broken on purpose');
			case 'recursion':
				return breakable.break_by_recursion(0);
			case 'large_frames':
				return breakable.break_by_large_frames(0);
			case 'allocation':
				return breakable.break_by_allocation();
		}
	}, about);
}

export { currentGeneration };

/** The entry `turnlatch/driver`: hosts runs, in Node and in browsers. */

export { Driver } from './driver.js';
export type { DriverParts, RetryPolicy } from './host.js';
export { LocalSlots, LocalTimers, MemoryStore } from './local.js';
export {
	type Clock,
	DriverUsageError,
	type Finished,
	type MaybePromise,
	type OnError,
	type OnNotify,
	type OnObservation,
	type Processes,
	RunNotFoundError,
	type Slots,
	type Store,
	StoreConflictError,
	type Timers,
} from './parts.js';
export { isOutOfResources } from './resources.js';

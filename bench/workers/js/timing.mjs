// What is inside the clock and what is not: the twin of bench/rust/src/timing.rs. For Node and for pages.

const BYTES_AT_ONCE = 4_000_000;
const CALLS_AT_ONCE = 256;
const decoder = new TextDecoder();

/** How many calls on texts of this size are prepared together. */
export function atOnce(bytes) {
	return Math.min(Math.max(Math.floor(BYTES_AT_ONCE / Math.max(bytes, 1)), 1), CALLS_AT_ONCE);
}

/**
 * The nanoseconds that `work` takes on what `prepare` made. Making it is not timed, nor is letting go of it and of what came
 * of it.
 */
export function timed(calls, together, prepare, work, letGo = () => {}) {
	let [total, left] = [0, calls];
	while (left > 0) {
		const now = Math.min(left, together);
		const given = Array.from({ length: now }, prepare);
		const came = new Array(now);
		const start = performance.now();
		for (let index = 0; index < now; index += 1) came[index] = work(given[index]);
		total += performance.now() - start;
		for (let index = 0; index < now; index += 1) letGo(given[index], came[index]);
		left -= now;
	}
	return Math.round(total * 1e6);
}

/** Work that needs nothing prepared. */
export function repeated(work, shown, letGo = () => {}) {
	const first = work();
	const decision = shown(first);
	letGo(first);
	const batch = (calls) =>
		timed(
			calls,
			64,
			() => undefined,
			() => work(),
			(_, came) => letGo(came),
		);
	return { decision, batch };
}

/** A text of its own for each turn, as one that has just been read. */
export function fresh(bytes) {
	return decoder.decode(bytes);
}

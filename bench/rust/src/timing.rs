//! What is inside the clock and what is not.

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Something that can be measured, and what comes of it.
pub(crate) struct Prepared {
    pub(crate) decision: Value,
    pub(crate) batch: Box<dyn FnMut(usize) -> Duration>,
}

/// Texts that are prepared together: more than the nearest cache holds, for everybody alike.
const BYTES_AT_ONCE: usize = 4_000_000;
const CALLS_AT_ONCE: usize = 256;

/// How many calls on texts of this size are prepared together.
pub(crate) fn at_once(bytes: usize) -> usize {
    (BYTES_AT_ONCE / bytes.max(1)).clamp(1, CALLS_AT_ONCE)
}

/// The time that `work` takes on what `prepare` made. Making it is not timed, nor is letting go of what came of it.
pub(crate) fn timed<T, O>(
    calls: usize,
    at_once: usize,
    mut prepare: impl FnMut() -> T,
    mut work: impl FnMut(&mut T) -> O,
) -> Duration {
    let (mut total, mut left) = (Duration::ZERO, calls);
    while left > 0 {
        let now = left.min(at_once);
        let mut given: Vec<T> = (0..now).map(|_| prepare()).collect();
        let mut came = Vec::with_capacity(now);
        let start = Instant::now();
        for each in &mut given {
            came.push(black_box(work(black_box(each))));
        }
        total += start.elapsed();
        left -= now;
    }
    total
}

//! Which of the faults is switched on. This file is added to copies of the core, and never to the core.

use std::fs::File;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The number of the fault; `0` is none.
const CHOSEN_BY: &str = "TURNLATCH_MUTANT";
/// A file that takes the number of each fault whose place is reached: only tests that reach it can notice it.
const REACHED_TO: &str = "TURNLATCH_REACHED";

const NOT_READ: u32 = u32::MAX;
const RECORDING: u32 = u32::MAX - 1;
const MOST: usize = 1 << 16;

static CHOSEN: AtomicU32 = AtomicU32::new(NOT_READ);
static REACHED: [AtomicBool; MOST] = [const { AtomicBool::new(false) }; MOST];

/// Whether this fault is switched on.
#[inline]
pub(crate) fn mutant(number: u32) -> bool {
    let chosen = CHOSEN.load(Ordering::Relaxed);
    if chosen < RECORDING { chosen == number } else { read_or_record(number) }
}

#[cold]
fn read_or_record(number: u32) -> bool {
    if CHOSEN.load(Ordering::Relaxed) == NOT_READ {
        let chosen = match std::env::var_os(REACHED_TO) {
            Some(_) => RECORDING,
            None => std::env::var(CHOSEN_BY).map_or(0, |number| number.parse().expect("the number of a fault")),
        };
        CHOSEN.store(chosen, Ordering::Relaxed);
        return mutant(number);
    }
    if !REACHED[number as usize].swap(true, Ordering::Relaxed) {
        let path = std::env::var_os(REACHED_TO).expect("a file for what is reached");
        let mut file = File::options().create(true).append(true).open(path).expect("a file that can be written");
        file.write_all(format!("{number}\n").as_bytes()).expect("a file that can be written");
    }
    false
}

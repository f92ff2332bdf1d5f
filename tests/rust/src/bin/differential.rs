//! Makes a round of random scripts for all runtimes: `differential [events]`. `TURNLATCH_SEED=n` makes the same again.

use std::hash::{BuildHasher, RandomState};

use turnlatch_tests::differential::write_round;
use turnlatch_tests::gates;

fn main() {
    let events = std::env::args().nth(1).map_or(200_000, |events| events.parse().expect("a number of events"));
    let seed = std::env::var("TURNLATCH_SEED").map_or_else(|_| random(), |seed| seed.parse().expect("a seed"));
    println!("differential: TURNLATCH_SEED={seed}");
    let round = write_round(u64::from(seed), events);
    println!("{} scripts with {} events: {}", round.scripts, round.coverage.events, round.coverage);
    let missing = round.coverage.missing();
    // Fewer events are for looking at a seed again.
    assert!(missing.is_empty() || events < ENOUGH, "never came to {missing:?}");
    let counts = [("events", round.coverage.events), ("scripts", round.scripts), ("seed", seed as usize)];
    gates::report("differential.rust", &counts);
}

/// The standard library draws its hashers' keys from the system.
fn random() -> u32 {
    (RandomState::new().hash_one(0) >> 32) as u32
}

const ENOUGH: usize = 100_000;

//! Random scripts with the transcripts that the core makes of them, for every runtime to make again.

mod coverage;
mod dice;
mod plans;
mod scripts;

pub use coverage::Coverage;
pub use scripts::script;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;
use std::thread;

use serde_json::json;

use crate::{digest, repository};

/// The scripts of one seed.
pub struct Round {
    /// How many there are.
    pub scripts: usize,
    /// What came of them.
    pub coverage: Coverage,
}

/// The folder where a round is left for the other runtimes.
#[must_use]
pub fn round_folder() -> PathBuf {
    repository().join("target/differential")
}

/// Writes the scripts of a seed, each with the digest of its transcript on one line, until there are so many events.
///
/// # Panics
/// If a law does not hold, or a file cannot be written.
#[must_use]
pub fn write_round(seed: u64, events: usize) -> Round {
    let folder = round_folder();
    // Nobody finds a round that was not written to its end.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for scripts");
    let mut file = BufWriter::new(File::create(folder.join("scripts.jsonl")).expect("a file for scripts"));
    let mut round = Round { scripts: 0, coverage: Coverage::default() };
    while round.coverage.events < events {
        // Scripts know nothing of each other, so every core makes some.
        let batches = thread::scope(|scope| {
            let batch = |first: usize| scope.spawn(move || batch(seed, first));
            let numbers = (0..CORES).map(|core| round.scripts + core * BATCH);
            let started: Vec<_> = numbers.map(batch).collect();
            started.into_iter().map(|batch| batch.join().expect("scripts that keep every law")).collect::<Vec<_>>()
        });
        for (lines, coverage) in batches {
            file.write_all(lines.as_bytes()).expect("a writable file");
            round.scripts += BATCH;
            round.coverage.add(coverage);
        }
    }
    file.flush().expect("a writable file");
    let told = json!({"seed": seed, "scripts": round.scripts, "events": round.coverage.events});
    fs::write(folder.join("round.json"), told.to_string()).expect("a writable file");
    round
}

/// Some scripts, the lines of which are the same whoever makes them.
fn batch(seed: u64, first: usize) -> (String, Coverage) {
    let mut coverage = Coverage::default();
    let mut lines = String::new();
    for number in first..first + BATCH {
        let (script, transcript) = script(seed, number, &mut coverage);
        let line = json!({"sha256": digest(&transcript), "script": script});
        writeln!(lines, "{line}").expect("a string takes it");
    }
    (lines, coverage)
}

/// A fixed number, so that the same seed makes the same round everywhere.
const CORES: usize = 2;
const BATCH: usize = 50;

//! What a gate of `make test` counted, left in `target/gates` for `scripts/gates.py`, which prints all of them as one table.

use std::fs;

use serde_json::{Map, Value, json};

use crate::repository;

/// Leaves what a gate counted. Called last, once the gate has held: a gate that leaves nothing is taken for one that failed.
///
/// # Panics
/// If the file cannot be written.
pub fn report(gate: &str, counts: &[(&str, usize)]) {
    let folder = repository().join("target/gates");
    fs::create_dir_all(&folder).expect("a folder for what gates count");
    let counts: Map<String, Value> = counts.iter().map(|(what, count)| ((*what).to_owned(), json!(count))).collect();
    let path = folder.join(format!("{gate}.json"));
    fs::write(path, json!({"counts": counts}).to_string()).expect("a file for what the gate counted");
}

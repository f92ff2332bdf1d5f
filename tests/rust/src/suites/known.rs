//! The list of what does not come out as a suite has it, and how it is compared and written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;

use crate::repository;

/// Names by the file they stand in, each with what came of it.
pub(super) type Named = BTreeMap<String, BTreeMap<String, String>>;

pub(super) fn pin(names: &mut Named, file: &str, name: &str, outcome: &str) {
    names.entry(file.to_owned()).or_default().insert(name.to_owned(), outcome.to_owned());
}

fn path() -> PathBuf {
    repository().join("tests/suites/known.json")
}

/// Where the list and what was found differ, a line each.
///
/// # Panics
/// If the list cannot be read.
#[must_use]
pub fn differences(found: &Value) -> Vec<String> {
    let text = std::fs::read_to_string(path()).expect("tests/suites/known.json");
    let pinned = lines(&serde_json::from_str(&text).expect("known.json is JSON"));
    let found = lines(found);
    let gone = pinned.difference(&found).map(|line| format!("pinned, but not so: {line}"));
    let new = found.difference(&pinned).map(|line| format!("not pinned: {line}"));
    gone.chain(new).collect()
}

/// Pins what was found.
///
/// # Panics
/// If the list cannot be written.
pub fn write_known(found: &Value) {
    let text = serde_json::to_string_pretty(found).expect("values can be written");
    std::fs::write(path(), text + "\n").expect("tests/suites/known.json can be written");
}

/// Every leaf of a value, behind the keys that lead to it.
fn lines(value: &Value) -> BTreeSet<String> {
    match value {
        Value::Object(members) => members
            .iter()
            .flat_map(|(key, member)| lines(member).into_iter().map(move |line| format!("{key} / {line}")))
            .collect(),
        leaf => BTreeSet::from([leaf.to_string()]),
    }
}

//! Test suites that others wrote, carried out as vectors: the JSON-Schema-Test-Suite and JSONTestSuite.
//!
//! What a suite leaves open, and what the spec forbids although a suite asks for it, is pinned by name in
//! `tests/suites/known.json`. Everything else must be as the suite says.

mod json_suite;
mod known;
mod schema_suite;

pub use known::{differences, write_known};

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::vector::{Vector, VectorFile};
use crate::{execute, repository};

/// What came of carrying out all suites.
pub struct Report {
    /// Every case with its outcome, for the other runtimes.
    pub cases: VectorFile,
    /// Where the outcome is not that of the suite, as `known.json` has it.
    pub known: Value,
    /// What no list excuses.
    pub broken: Vec<String>,
    /// How much of each suite was carried out, a line each.
    pub counts: Vec<String>,
}

/// What came of one suite.
struct Tried {
    cases: Vec<Vector>,
    known: Value,
    broken: Vec<String>,
    counts: String,
}

/// Carries out every case of every suite.
#[must_use]
pub fn try_suites() -> Report {
    let [schemas, texts] = [schema_suite::carry_out(), json_suite::carry_out()];
    Report {
        known: json!({"JSON-Schema-Test-Suite": schemas.known, "JSONTestSuite": texts.known}),
        counts: vec![schemas.counts, texts.counts],
        broken: schemas.broken.into_iter().chain(texts.broken).collect(),
        cases: VectorFile {
            about: "The cases of the suites, as Rust decides them".to_owned(),
            vectors: schemas.cases.into_iter().chain(texts.cases).collect(),
        },
    }
}

/// The folder where `make setup-suites` puts the suites.
#[must_use]
pub fn suites_folder() -> PathBuf {
    repository().join("target/suites")
}

fn read_suite<T: serde::de::DeserializeOwned>(name: &str) -> Vec<T> {
    let path = suites_folder().join(name);
    let text =
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}: make setup-suites", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A case with its outcome.
fn carried_out(name: String, covers: &[&str], given: Value, steps: Vec<Value>) -> Vector {
    let members = |value: Value| if let Value::Object(members) = value { members } else { panic!("not an object") };
    execute(&Vector {
        name,
        covers: covers.iter().map(|&rule| rule.to_owned()).collect(),
        given: members(given),
        admission: Value::Null,
        steps: steps.into_iter().map(members).collect(),
    })
}

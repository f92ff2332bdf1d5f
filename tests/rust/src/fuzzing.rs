//! Any bytes, held against laws: what the targets in `fuzz/` call, and a test calls with the inputs that are kept there.
//!
//! Each target reads its input in a simple form, which `seeds` writes: a few bytes choose, and texts follow that byte 255
//! parts, because no text has it.

pub mod events;
mod forgery;
pub mod journals;
pub mod skills;
pub mod snapshots;
pub mod streams;
pub mod turns;

use serde_json::{Map, Value};
use turnlatch::LoadError;
use turnlatch::text::display_text;

use crate::{expand, vector_files};

/// One way of reading bytes.
pub struct Target {
    /// What its program and its folder are called.
    pub name: &'static str,
    /// Panics if the bytes break a law.
    pub check: fn(&[u8]),
    /// Inputs that lead somewhere, from the vectors.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const TARGETS: [Target; 6] = [
    Target { name: "turns", check: turns::check, seeds: turns::seeds },
    Target { name: "streams", check: streams::check, seeds: streams::seeds },
    Target { name: "skills", check: skills::check, seeds: skills::seeds },
    Target { name: "events", check: events::check, seeds: events::seeds },
    Target { name: "snapshots", check: snapshots::check, seeds: snapshots::seeds },
    Target { name: "journals", check: journals::check, seeds: journals::seeds },
];

const PART: u8 = 0xff;

/// As many bytes as are asked for, zeros where there are no more, and the rest.
fn choices<const COUNT: usize>(bytes: &[u8]) -> ([u8; COUNT], &[u8]) {
    let (chosen, rest) = bytes.split_at(COUNT.min(bytes.len()));
    let mut filled = [0; COUNT];
    filled[..chosen.len()].copy_from_slice(chosen);
    (filled, rest)
}

/// As much of the bytes as is text.
fn text(bytes: &[u8]) -> &str {
    match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(fault) => str::from_utf8(&bytes[..fault.valid_up_to()]).unwrap_or_default(),
    }
}

fn joined<'t>(choices: &[u8], texts: impl IntoIterator<Item = &'t str>) -> Vec<u8> {
    let texts: Vec<&[u8]> = texts.into_iter().map(str::as_bytes).collect();
    [choices, &texts.join(&PART)].concat()
}

/// The steps of all vectors with their long texts written out, and what each vector has given.
fn vector_steps() -> Vec<(Map<String, Value>, Value)> {
    let vectors = vector_files().into_iter().flat_map(|(_, file)| file.vectors);
    let with_given = vectors.flat_map(|vector| {
        let given = vector.given;
        vector.steps.into_iter().map(move |step| (given.clone(), expand(&Value::Object(step))))
    });
    with_given.collect()
}

/// What somebody is shown does nothing to their terminal (BAD-5).
fn assert_safe(shown: &str) {
    assert_eq!(display_text(shown), shown, "a message has only what prints: {shown:?}");
}

fn assert_load_error(error: &LoadError, codes: [&str; 2]) {
    assert!(codes.contains(&error.code()), "{error:?}");
    assert!(!error.place.is_empty() && !error.message.is_empty(), "{error:?}");
    assert_safe(&error.message);
}

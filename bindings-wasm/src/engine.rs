//! The schema engine for others: a slim build can ask this one, and then decides to the byte as the full build does.

use turnlatch::Limits;
use turnlatch::json::json_text;
use turnlatch::schema::{Check, OutputSchema};
use wasm_bindgen::prelude::*;

use crate::convert::{read_json, text};
use crate::errors::{Failed, misuse};

/// Who asks has held the schema to its own limits.
const LIMITS: Limits = Limits { schema_bytes: usize::MAX, json_depth: Limits::MAX_JSON_DEPTH, ..Limits::DEFAULT };

/// What is wrong with a schema, as a list of problems.
#[wasm_bindgen]
pub fn schema_problems(schema: &[u8]) -> Result<String, Failed> {
    let problems = OutputSchema::compile(text(schema)?, &LIMITS).err().unwrap_or_default();
    Ok(json_text(&problems))
}

/// What is wrong with an instance: `valid`, `too_much_work`, or a list of violations.
#[wasm_bindgen]
pub fn schema_check(schema: &[u8], instance: &[u8]) -> Result<String, Failed> {
    let schema = OutputSchema::compile(text(schema)?, &LIMITS).map_err(|_| misuse("the schema cannot be used"))?;
    match schema.check(&read_json(instance)?) {
        Check::Valid => Ok(json_text(&"valid")),
        Check::Invalid(violations) => Ok(json_text(&violations)),
        Check::TooMuchWork | Check::NoValidator => Ok(json_text(&"too_much_work")),
    }
}

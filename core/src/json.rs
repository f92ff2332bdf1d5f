//! Strict JSON: where an object in a text ends, and the value it stands for.
//!
//! The values are `serde_json`'s. The scanner is ours, because `serde_json` does not report what evidence needs: where a broken object broke (so that a search in prose goes on from there and stays linear), which
//! top-level members there are, and whether a key stands twice.

mod builder;
#[cfg(feature = "flat-documents")]
mod cursor;
#[cfg(feature = "schema-engine")]
mod instance;
#[cfg(feature = "streams")]
mod outline;
mod read;
mod scanner;
pub(crate) mod strict;
mod strings;
#[cfg(feature = "flat-documents")]
mod tape;
#[cfg(not(feature = "flat-documents"))]
mod tree;

use std::fmt;

use serde::Serialize;

use crate::types::codes::Code;
use crate::types::limits::Limits;
pub(crate) use builder::build;
#[cfg(feature = "schema-engine")]
pub(crate) use instance::{BYTES_PER_UNIT, Instance, JsonView, size, text_size};
#[cfg(feature = "streams")]
pub(crate) use outline::{Outline, string};
pub(crate) use scanner::{Container, Member, Scanner, Shape};
pub use serde_json::Value;
#[cfg(feature = "flat-documents")]
pub use tape::Document;
#[cfg(feature = "flat-documents")]
pub(crate) use tape::{Elements, Members, Node};
#[cfg(not(feature = "flat-documents"))]
pub use tree::Document;

/// The members of an object, in their order.
pub type Map = serde_json::Map<String, Value>;

/// Why a text is not JSON that can be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonError {
    Syntax,
    NotAnObject,
    TooDeep,
    DuplicateKey,
    NumberOutOfRange,
    LoneSurrogate,
}

impl JsonError {
    /// The diagnostic for it; plain bad syntax has none beside `OUTPUT_UNPARSABLE` itself.
    pub(crate) fn code(self) -> Option<Code> {
        match self {
            JsonError::Syntax | JsonError::NotAnObject => None,
            JsonError::TooDeep => Some(Code::OutputTooDeep),
            JsonError::DuplicateKey => Some(Code::OutputDuplicateKey),
            JsonError::NumberOutOfRange => Some(Code::OutputNumberOutOfRange),
            JsonError::LoneSurrogate => Some(Code::OutputLoneSurrogate),
        }
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            JsonError::Syntax => "it is not valid JSON",
            JsonError::NotAnObject => "it is JSON, but not an object",
            JsonError::TooDeep => "it is nested deeper than the limit",
            JsonError::DuplicateKey => "a key stands twice in one object",
            JsonError::NumberOutOfRange => "a number is too large to be held",
            JsonError::LoneSurrogate => "a string has half of a surrogate pair",
        })
    }
}

/// Reads a whole text as one JSON value: strict syntax, no key twice in an object, at most `max_depth` levels.
pub(crate) fn parse_value(text: &str, max_depth: usize) -> Result<Value, JsonError> {
    build(scanned(text, max_depth)?)
}

/// Reads a whole text as strictly, for a check against a schema.
pub(crate) fn parse_document(text: &str, max_depth: usize) -> Result<Document<'_>, JsonError> {
    Document::read(scanned(text, max_depth)?)
}

/// The part of a text that is one value, if the rest is white space.
fn scanned(text: &str, max_depth: usize) -> Result<&str, JsonError> {
    let trimmed = trim(text);
    let mut scanner = Scanner::new(trimmed, max_depth);
    let end = scanner.value(0).map_err(|broken| broken.fault)?.end;
    if end == trimmed.len() { Ok(trimmed) } else { Err(JsonError::Syntax) }
}

/// Data as JSON text, without white space and with the members of objects in the order of their fields.
#[must_use]
pub fn json_text<T: Serialize + ?Sized>(data: &T) -> String {
    // Our data has names for keys and finite numbers, so nothing can fail.
    serde_json::to_string(data).unwrap_or_default()
}

/// Reads JSON text for a binding, as strictly as everything else is read; none if it cannot be taken.
#[must_use]
pub fn parse_json(text: &str) -> Option<Value> {
    parse_value(text, MAX_DOCUMENT_DEPTH).ok()
}

/// An event is nested twice as deep as its output may be, and stands three levels down in a journal.
pub(crate) const MAX_DOCUMENT_DEPTH: usize = 2 * Limits::MAX_JSON_DEPTH + 3;

/// The text without JSON white space around it and without a byte order mark before it.
pub(crate) fn trim(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text).trim_matches([' ', '\t', '\n', '\r'])
}

/// A number without a fraction: `3`, and `3.0`, which some runtimes cannot tell from it.
pub(crate) fn whole_number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        let whole = number.fract() == 0.0 && (0.0..=MAX_EXACT).contains(&number);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked on the line above")]
        whole.then_some(number as u64)
    })
}

/// 2^53: beyond it a float does not say which whole number it is.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests;

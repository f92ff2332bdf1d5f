//! Strict JSON: where an object in a text ends, and the value it stands for.
//!
//! The values are `serde_json`'s. The scanner is ours, because `serde_json` does not report what evidence needs: where a
//! broken object broke (so that a search in prose continues from there and stays linear), which top-level members there
//! are, and whether a key stands twice.

mod read;
#[cfg(feature = "streams")]
mod rows;
mod scanner;
mod strings;
mod tape;

use serde::Serialize;

use crate::types::codes::Code;
use crate::types::limits::Limits;
pub(crate) use scanner::{Container, Member, Scanner, Shape};
pub use serde_json::Value;
#[cfg(feature = "streams")]
pub(crate) use strings::string;
pub(crate) use tape::Document;
#[cfg(feature = "streams")]
pub(crate) use tape::Escapes;
#[cfg(any(feature = "schema-engine", feature = "streams"))]
pub(crate) use tape::JsonView;
#[cfg(feature = "schema-engine")]
pub(crate) use tape::{BYTES_PER_UNIT, Node, text_size};
#[cfg(feature = "flat-documents")]
pub(crate) use tape::{Elements, Members};

/// The members of an object, in their order.
pub type Map = serde_json::Map<String, Value>;

/// Why a text is not JSON that can be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum JsonError {
    #[error("it is not valid JSON")]
    Syntax,
    #[error("it is JSON, but not an object")]
    NotAnObject,
    #[error("it is nested deeper than the limit")]
    TooDeep,
    #[error("a key stands twice in one object")]
    DuplicateKey,
    #[error("a number is too large to be held")]
    NumberOutOfRange,
    #[error("a string has half of a surrogate pair")]
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

/// Reads a whole text as one JSON value: strict syntax, no key twice in an object, at most `max_depth` levels.
pub(crate) fn parse_value(text: &str, max_depth: usize) -> Result<Value, JsonError> {
    parse_document(text, max_depth).map(|document| document.value())
}

/// Reads a whole text as strictly, for a check against a schema.
pub(crate) fn parse_document(text: &str, max_depth: usize) -> Result<Document<'_>, JsonError> {
    Document::read(text, max_depth, tape::Escapes::Decode)
}

/// The value of a text that was read before, by the scanner or as a part of a document: nothing bounds its depth here.
pub(crate) fn build(text: &str) -> Result<Value, JsonError> {
    parse_value(text, usize::MAX)
}

/// Data as JSON text, without white space and with the members of objects in the order of their fields.
pub fn json_text<T: Serialize + ?Sized>(data: &T) -> String {
    // Our data has names for keys and finite numbers, so nothing can fail.
    serde_json::to_string(data).unwrap_or_default()
}

/// Reads JSON text for a binding, as strictly as everything else is read; none if it cannot be taken.
pub fn parse_json(text: &str) -> Option<Value> {
    parse_value(text, MAX_DOCUMENT_DEPTH).ok()
}

/// An event is nested twice as deep as its output may be, and stands three levels down in a journal.
pub(crate) const MAX_DOCUMENT_DEPTH: usize = 2 * Limits::MAX_JSON_DEPTH + 3;

/// The text without JSON white space around it and without a byte order mark before it.
pub(crate) fn trim(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text).trim_matches(SPACE)
}

/// A number without a fraction: `3`, and `3.0`, which some runtimes cannot distinguish from it.
pub(crate) fn whole_number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        let whole = number.fract() == 0.0 && (0.0..=MAX_EXACT).contains(&number);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked on the line above")]
        whole.then_some(number as u64)
    })
}

/// What JSON takes for white space.
pub(crate) const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];
/// 2^53: beyond it a float does not say which whole number it is.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests;

//! What JavaScript hands over, as text, data and times.

use turnlatch::Timestamp;
use turnlatch::json::{Value, parse_json};

use crate::errors::{Failed, misuse, rejected};

/// A text as `TextEncoder` wrote it. Long texts cross as bytes because that copy is several times faster than that of
/// a string by wasm-bindgen.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, Failed> {
    simdutf8::basic::from_utf8(bytes).map_err(|_| misuse("the bytes are no text"))
}

pub(crate) fn optional_text(bytes: Option<Box<[u8]>>) -> Result<Option<String>, Failed> {
    bytes.map(|bytes| text(&bytes).map(str::to_owned)).transpose()
}

/// Data that the package itself has written, or that the core has read before.
pub(crate) fn read_json(bytes: &[u8]) -> Result<Value, Failed> {
    parse_json(text(bytes)?).ok_or_else(|| misuse("the text is not JSON that can be taken"))
}

/// A list of texts in that form.
pub(crate) fn read_texts(bytes: &[u8]) -> Result<Vec<String>, Failed> {
    let mut texts = Vec::new();
    for item in read_list(bytes)? {
        match item {
            Value::String(text) => texts.push(text),
            _ => return Err(misuse("expected a list of texts")),
        }
    }
    Ok(texts)
}

/// A list in that form.
pub(crate) fn read_list(bytes: &[u8]) -> Result<Vec<Value>, Failed> {
    match read_json(bytes)? {
        Value::Array(items) => Ok(items),
        _ => Err(misuse("expected a list")),
    }
}

/// A time from outside. What is no number arrives as NaN, which JSON has no word for but null.
pub(crate) fn time(now: f64) -> Result<Timestamp, Failed> {
    Timestamp::from_json(&Value::from(now)).map_err(|error| rejected(&error))
}

//! JavaScript's bytes to text and data, and answers back to text.

use serde_json::Value;
use turnlatch::{Timestamp, parse_json};
use wasm_bindgen::prelude::*;

use crate::errors::{misuse, rejected};

/// A text as `TextEncoder` wrote it. It crosses as bytes because that copy is 35 times faster than the glue's own.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, JsValue> {
    str::from_utf8(bytes).map_err(|_| misuse("the bytes are no text"))
}

pub(crate) fn optional_text(bytes: Option<Box<[u8]>>) -> Result<Option<String>, JsValue> {
    bytes.map(|bytes| text(&bytes).map(str::to_owned)).transpose()
}

/// Data that the package itself has written, or that the core has read before.
pub(crate) fn read_json(bytes: &[u8]) -> Result<Value, JsValue> {
    parse_json(text(bytes)?).ok_or_else(|| misuse("the text is not JSON that can be taken"))
}

/// A list of texts in that form.
pub(crate) fn read_texts(bytes: &[u8]) -> Result<Vec<String>, JsValue> {
    read_list(bytes)?
        .into_iter()
        .map(|item| match item {
            Value::String(text) => Ok(text),
            _ => Err(misuse("expected a list of texts")),
        })
        .collect()
}

/// A list in that form.
pub(crate) fn read_list(bytes: &[u8]) -> Result<Vec<Value>, JsValue> {
    match read_json(bytes)? {
        Value::Array(items) => Ok(items),
        _ => Err(misuse("expected a list")),
    }
}

/// A time from outside. What is no number arrives as NaN, which JSON has no word for but null.
pub(crate) fn time(now: f64) -> Result<Timestamp, JsValue> {
    Timestamp::from_json(&Value::from(now)).map_err(|error| rejected(&error))
}

/// A number that the core has told before.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was one")]
pub(crate) fn whole(number: f64) -> u64 {
    number as u64
}

//! JavaScript's bytes to text and data, and answers back to text.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use turnlatch::Timestamp;
use wasm_bindgen::prelude::*;

use crate::errors::{misuse, rejected};

/// A text as `TextEncoder` wrote it. It crosses as bytes because that copy is 35 times faster than the glue's own.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, JsValue> {
    str::from_utf8(bytes).map_err(|_| misuse("the bytes are no text"))
}

pub(crate) fn optional_text(bytes: Option<Box<[u8]>>) -> Result<Option<String>, JsValue> {
    bytes.map(|bytes| text(&bytes).map(str::to_owned)).transpose()
}

/// Data that the package itself has written, or that the core has read before: its depth is known to be bounded.
///
/// It is read by way of a [`Value`], as the core reads everything: a second way to read each type would be a second copy
/// of that code in the file that browsers download.
pub(crate) fn read_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, JsValue> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    reader.disable_recursion_limit();
    Value::deserialize(&mut reader).and_then(serde_json::from_value).map_err(|error| misuse(&error.to_string()))
}

/// Any answer of the core as JSON text.
pub(crate) fn json_text(answer: &(impl Serialize + ?Sized)) -> Result<String, JsValue> {
    serde_json::to_string(answer).map_err(|error| misuse(&error.to_string()))
}

/// A time from outside. What is no number arrives as NaN, which JSON has no word for but null.
pub(crate) fn time(now: f64) -> Result<Timestamp, JsValue> {
    Timestamp::from_json(&Value::from(now)).map_err(|error| rejected(&error))
}

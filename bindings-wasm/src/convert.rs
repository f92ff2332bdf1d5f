//! What crosses the boundary. Text comes as bytes, because `TextEncoder` copies a long one many times faster than
//! wasm-bindgen copies a string; data leaves as JSON text that JavaScript's own parser reads.

use serde::Serialize;
use turnlatch::Timestamp;
use turnlatch::json::{Value, json_text};
use wasm_bindgen::prelude::*;

use crate::errors::{Thrown, misuse};

/// A text as `TextEncoder` wrote it.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, Thrown> {
    std::str::from_utf8(bytes).map_err(|_| misuse("the bytes are no text"))
}

#[cfg(feature = "full")]
pub(crate) fn optional_text(bytes: Option<Box<[u8]>>) -> Result<Option<String>, Thrown> {
    bytes.map(|bytes| text(&bytes).map(str::to_owned)).transpose()
}

/// JSON data that the face has written, or that the core has emitted before.
#[cfg(feature = "full")]
pub(crate) fn read_json(bytes: &[u8]) -> Result<Value, Thrown> {
    turnlatch::json::parse_json(text(bytes)?).ok_or_else(|| misuse("the text is not JSON that can be taken"))
}

/// Milliseconds since the epoch. What is no number arrives as NaN, which the core refuses.
pub(crate) fn time(now: f64) -> Result<Timestamp, Thrown> {
    Ok(Timestamp::from_json(&Value::from(now))?)
}

/// Plain data. `JSON.parse` keeps a key `__proto__` a key.
pub(crate) fn data<T: Serialize>(data: &T) -> Result<JsValue, JsValue> {
    js_sys::JSON::parse(&json_text(data))
}

/// The variant that has this name on the wire.
pub(crate) fn named<T: Copy>(all: &[T], name: fn(T) -> &'static str, wanted: &str) -> Result<T, Thrown> {
    let known = all.iter().copied().find(|known| name(*known) == wanted);
    known.ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|known| format!("`{}`", name(*known))).collect();
        misuse(format!("expected one of {}", names.join(", ")))
    })
}

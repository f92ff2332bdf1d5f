//! The core's three ways to say no, as texts that `js/errors.ts` makes errors of.

use serde_json::{Value, json};
use turnlatch::{LoadError, Refusal, Rejected};
use wasm_bindgen::prelude::*;

pub(crate) fn refused(refusal: &Refusal) -> JsValue {
    told("refused", refusal.code(), &refusal.message, json!(refusal.problems))
}

pub(crate) fn rejected(rejected: &Rejected) -> JsValue {
    told("rejected", rejected.code(), &rejected.message, json!(rejected.receipt))
}

pub(crate) fn not_loaded(error: &LoadError) -> JsValue {
    told("not_loaded", error.code(), &error.message, json!({ "place": error.place }))
}

/// A caller's mistake that is no decision about a run: JavaScript's `TypeError`.
pub(crate) fn misuse(message: &str) -> JsValue {
    told("misuse", "", message, Value::Null)
}

fn told(kind: &str, code: &str, message: &str, details: Value) -> JsValue {
    let text = json!({ "kind": kind, "code": code, "message": message, "details": details }).to_string();
    JsValue::from_str(&text)
}

//! The core's errors as JSON texts that `js/errors.ts` makes errors of.

use serde::Serialize;
use serde_json::json;
use turnlatch::json::json_text;
use turnlatch::{AdmissionError, EventRejected, LoadError};
use wasm_bindgen::prelude::*;

/// An error as JSON text, which is thrown as a string.
pub struct Failed(String);

impl From<Failed> for JsValue {
    fn from(failed: Failed) -> JsValue {
        JsValue::from_str(&failed.0)
    }
}

pub(crate) fn refused(refusal: &AdmissionError) -> Failed {
    failed("refused", refusal.code(), &refusal.message, &refusal.problems)
}

pub(crate) fn rejected(rejected: &EventRejected) -> Failed {
    failed("rejected", rejected.code(), &rejected.message, ())
}

pub(crate) fn not_loaded(error: &LoadError) -> Failed {
    failed("not_loaded", error.code(), &error.message, json!({ "place": error.place }))
}

/// A caller's mistake that is no decision about a run: JavaScript's `TypeError`.
pub(crate) fn misuse(message: &str) -> Failed {
    failed("misuse", "", message, ())
}

fn failed(kind: &str, code: &str, message: &str, details: impl Serialize) -> Failed {
    #[derive(Serialize)]
    struct ErrorOut<'e, D> {
        kind: &'e str,
        code: &'e str,
        message: &'e str,
        details: D,
    }

    Failed(json_text(&ErrorOut { kind, code, message, details }))
}

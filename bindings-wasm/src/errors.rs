//! The core's errors as JSON texts that `js/errors.ts` makes errors of.

use turnlatch::{LoadError, Refusal, Rejected, Value, Writable, Writer, json_text};
use wasm_bindgen::prelude::*;

/// An error as JSON text, which is thrown as a string.
pub struct Failed(String);

impl From<Failed> for JsValue {
    fn from(failed: Failed) -> JsValue {
        JsValue::from_str(&failed.0)
    }
}

pub(crate) fn refused(refusal: &Refusal) -> Failed {
    failed("refused", refusal.code(), &refusal.message, &refusal.problems)
}

pub(crate) fn rejected(rejected: &Rejected) -> Failed {
    failed(
        "rejected",
        rejected.code(),
        &rejected.message,
        rejected.receipt.as_ref().map_or(&Value::Null, |receipt| receipt),
    )
}

pub(crate) fn not_loaded(error: &LoadError) -> Failed {
    failed("not_loaded", error.code(), &error.message, &Place(&error.place))
}

/// A caller's mistake that is no decision about a run: JavaScript's `TypeError`.
pub(crate) fn misuse(message: &str) -> Failed {
    failed("misuse", "", message, &Value::Null)
}

struct Place<'e>(&'e str);

impl Writable for Place<'_> {
    fn write(&self, out: &mut Writer) {
        out.object(|out| out.member("place", &self.0));
    }
}

struct ErrorOut<'e> {
    kind: &'e str,
    code: &'e str,
    message: &'e str,
    details: &'e dyn Writable,
}

impl Writable for ErrorOut<'_> {
    fn write(&self, out: &mut Writer) {
        out.object(|out| {
            out.member("kind", &self.kind);
            out.member("code", &self.code);
            out.member("message", &self.message);
            out.member("details", self.details);
        });
    }
}

fn failed(kind: &str, code: &str, message: &str, details: &dyn Writable) -> Failed {
    Failed(json_text(&ErrorOut { kind, code, message, details }))
}

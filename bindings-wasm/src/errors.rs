//! The core's three ways to say no, as texts that `js/errors.ts` makes errors of.

use turnlatch::{LoadError, Refusal, Rejected, Value, Writable, Writer, json_text};
use wasm_bindgen::prelude::*;

use crate::desk;

/// Something was not done, and what there is to say about it lies on the desk: errors are rare, and so nothing else has to
/// carry them.
pub struct Failed;

impl From<Failed> for JsValue {
    fn from(_: Failed) -> JsValue {
        JsValue::from_str(&desk::said())
    }
}

pub(crate) fn refused(refusal: &Refusal) -> Failed {
    told("refused", refusal.code(), &refusal.message, &refusal.problems)
}

pub(crate) fn rejected(rejected: &Rejected) -> Failed {
    told(
        "rejected",
        rejected.code(),
        &rejected.message,
        rejected.receipt.as_ref().map_or(&Value::Null, |receipt| receipt),
    )
}

pub(crate) fn not_loaded(error: &LoadError) -> Failed {
    told("not_loaded", error.code(), &error.message, &Place(&error.place))
}

/// A caller's mistake that is no decision about a run: JavaScript's `TypeError`.
pub(crate) fn misuse(message: &str) -> Failed {
    told("misuse", "", message, &Value::Null)
}

struct Place<'e>(&'e str);

impl Writable for Place<'_> {
    fn write(&self, out: &mut Writer) {
        out.object(|out| out.member("place", &self.0));
    }
}

struct Told<'e> {
    kind: &'e str,
    code: &'e str,
    message: &'e str,
    details: &'e dyn Writable,
}

impl Writable for Told<'_> {
    fn write(&self, out: &mut Writer) {
        out.object(|out| {
            out.member("kind", &self.kind);
            out.member("code", &self.code);
            out.member("message", &self.message);
            out.member("details", self.details);
        });
    }
}

fn told(kind: &str, code: &str, message: &str, details: &dyn Writable) -> Failed {
    desk::say(json_text(&Told { kind, code, message, details }));
    Failed
}

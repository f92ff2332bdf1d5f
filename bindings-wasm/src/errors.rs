//! The core's errors as objects that `js/errors.ts` makes errors of.

use serde::Serialize;
use turnlatch::admission::Problem;
use turnlatch::{AdmissionError, EventRejected, LoadError};
use wasm_bindgen::prelude::*;

use crate::convert::data;

/// What is thrown, as data like everything else. `kind` chooses the class in JavaScript.
#[derive(Serialize)]
pub struct Thrown {
    kind: &'static str,
    code: &'static str,
    message: String,
    /// Where the input is wrong.
    path: Option<String>,
    details: Option<Vec<Problem>>,
}

impl From<AdmissionError> for Thrown {
    fn from(error: AdmissionError) -> Thrown {
        let path = error.problems.first().map(|problem| problem.path.clone());
        Thrown { kind: "admission", code: error.code(), message: error.message, path, details: Some(error.problems) }
    }
}

impl From<EventRejected> for Thrown {
    fn from(error: EventRejected) -> Thrown {
        Thrown { kind: "rejected", code: error.code(), message: error.message, path: error.path, details: None }
    }
}

impl From<LoadError> for Thrown {
    fn from(error: LoadError) -> Thrown {
        Thrown { kind: "load", code: error.code(), message: error.message, path: Some(error.place), details: None }
    }
}

/// A caller's mistake that is no decision about a run: JavaScript's `TypeError`.
pub(crate) fn misuse(message: impl Into<String>) -> Thrown {
    Thrown { kind: "misuse", code: "", message: message.into(), path: None, details: None }
}

impl From<Thrown> for JsValue {
    fn from(thrown: Thrown) -> JsValue {
        data(&thrown).unwrap_or_default()
    }
}

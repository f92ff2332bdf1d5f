//! The core's three errors as Python exceptions with `code`, `message`, `details` and `path`.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::json;
use turnlatch::{AdmissionError, Code, EventRejected, LoadError, Problem};

use crate::convert::{MAX_SHOWN_CHARACTERS, NotJson, to_python};

pub(crate) fn refused(py: Python<'_>, refusal: &AdmissionError) -> PyErr {
    let path = refusal.problems.first().map(|problem| problem.path.as_str());
    make(py, "AdmissionError", refusal.code(), &refusal.message, &refusal.problems, path)
}

pub(crate) fn rejected(py: Python<'_>, rejected: &EventRejected) -> PyErr {
    make(py, "EventRejectedError", rejected.code(), &rejected.message, &(), rejected.path.as_deref())
}

pub(crate) fn not_loaded(py: Python<'_>, error: &LoadError) -> PyErr {
    make(py, "LoadError", error.code(), &error.message, &json!({ "place": error.place }), Some(&error.place))
}

/// The error for a document of admission that is not JSON; paths begin with `root`.
pub(crate) fn inadmissible(py: Python<'_>, code: Code, root: &str, error: NotJson) -> PyErr {
    error.into_error(|message, path| {
        let problem = Problem { code, path: format!("{root}{path}"), message: message.clone(), details: None };
        refused(py, &AdmissionError { code, message, problems: vec![problem] })
    })
}

/// The error for an event, or a part of one, that is not JSON.
pub(crate) fn malformed(py: Python<'_>, error: NotJson) -> PyErr {
    error.into_error(|problem, path| {
        let code = Code::EventMalformed.as_str();
        let message = if path.is_empty() { problem } else { format!("`{path}`: {problem}") };
        make(py, "EventRejectedError", code, &message, &(), (!path.is_empty()).then_some(&path))
    })
}

/// The error for a snapshot, plan or journal that is not JSON.
pub(crate) fn unreadable(py: Python<'_>, code: Code, error: NotJson) -> PyErr {
    error.into_error(|message, path| {
        let place = if path.is_empty() { "the document".to_owned() } else { path };
        not_loaded(py, &LoadError { code, place, message })
    })
}

/// The error for what was given as `now`.
pub(crate) fn not_a_time(now: &Bound<'_, PyAny>, rejected: &EventRejected) -> PyErr {
    // A `repr` of a user's own may raise.
    let shown = now.repr().map_or_else(|_| "?".to_owned(), |repr| repr.to_string_lossy().into_owned());
    let shown: String = shown.chars().take(MAX_SHOWN_CHARACTERS).collect();
    let details = json!({ "found": turnlatch::text::display_text(&shown) });
    make(now.py(), "EventRejectedError", rejected.code(), &rejected.message, &details, Some("now"))
}

fn make(py: Python<'_>, class: &str, code: &str, message: &str, details: &impl Serialize, path: Option<&str>) -> PyErr {
    let error = || -> PyResult<Bound<'_, PyAny>> {
        py.import("turnlatch.errors")?.getattr(class)?.call1((code, message, to_python(py, details)?, path))
    };
    error().map_or_else(|_| PyRuntimeError::new_err(format!("{code}: {message}")), PyErr::from_value)
}

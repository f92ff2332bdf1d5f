//! The core's three errors as Python exceptions with `code`, `message` and `details`.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use turnlatch::{AdmissionError, Code, EventRejected, LoadError};

use crate::convert::to_python;

pub(crate) fn refused(py: Python<'_>, refusal: &AdmissionError) -> PyErr {
    make(py, "AdmissionError", refusal.code(), &refusal.message, to_python(py, &refusal.problems))
}

pub(crate) fn rejected(py: Python<'_>, rejected: &EventRejected) -> PyErr {
    make(py, "EventRejectedError", rejected.code(), &rejected.message, Ok(py.None()))
}

pub(crate) fn not_loaded(py: Python<'_>, error: &LoadError) -> PyErr {
    make(py, "LoadError", error.code(), &error.message, to_python(py, &serde_json::json!({ "place": error.place })))
}

/// The error for data that could not even be converted for the core.
pub(crate) fn malformed(py: Python<'_>, message: impl AsRef<str>) -> PyErr {
    make(py, "EventRejectedError", Code::EventMalformed.as_str(), message.as_ref(), Ok(py.None()))
}

fn make(py: Python<'_>, class: &str, code: &str, message: &str, details: PyResult<Py<PyAny>>) -> PyErr {
    let error = || -> PyResult<Bound<'_, PyAny>> {
        py.import("turnlatch.errors")?.getattr(class)?.call1((code, message, details?))
    };
    error().map_or_else(|_| PyRuntimeError::new_err(format!("{code}: {message}")), PyErr::from_value)
}

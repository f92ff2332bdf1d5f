//! The error of a document that was not loaded.

use serde::Serialize;

use crate::types::codes::Code;

/// A snapshot or journal that was not loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{code} at {place}: {message}")]
pub struct LoadError {
    /// Why, as a stable code.
    pub code: Code,
    /// Where in the document.
    pub place: String,
    /// What was found and what was expected.
    pub message: String,
}

impl LoadError {
    pub(crate) fn new(code: Code, place: impl Into<String>, message: impl Into<String>) -> LoadError {
        LoadError { code, place: place.into(), message: message.into() }
    }

    /// The stable code.
    pub const fn code(&self) -> &'static str {
        self.code.as_str()
    }
}

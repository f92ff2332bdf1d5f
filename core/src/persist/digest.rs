//! What snapshots and journals share: digests, and the error of one that is not loaded.

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::json::Value;
use crate::types::codes::Code;
use crate::types::strict::Invalid;

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
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.code.as_str()
    }
}

impl Invalid {
    pub(crate) fn load_error(self, code: Code) -> LoadError {
        let place = if self.path.is_empty() { "the document".to_owned() } else { self.path };
        LoadError { code, place, message: self.message }
    }
}

/// The SHA-256 digest of these parts, one after the other, in hexadecimal.
pub(crate) fn digest(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        // The length keeps two parts from being read as two others.
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let mut digits = [0; 64];
    for (pair, byte) in digits.as_chunks_mut().0.iter_mut().zip(hasher.finalize()) {
        *pair = [hexadecimal(byte >> 4), hexadecimal(byte & 15)];
    }
    // INVARIANT: digits are ASCII.
    str::from_utf8(&digits).unwrap_or_default().to_owned()
}

const fn hexadecimal(digit: u8) -> u8 {
    if digit < 10 { b'0' + digit } else { b'a' + (digit - 10) }
}

/// Checks a document's version before anything else of it is read.
pub(crate) fn check_version(document: &Value, current: u64, newer: Code, invalid: Code) -> Result<(), LoadError> {
    match document.get("version").and_then(Value::as_u64) {
        Some(version) if version == current => Ok(()),
        Some(version) if version > current => {
            let message = format!("version {version}, this library reads up to {current}");
            Err(LoadError::new(newer, "version", message))
        }
        _ => Err(LoadError::new(invalid, "version", "expected a positive integer")),
    }
}

//! What snapshots and journals share: digests and versions.

use sha2::{Digest, Sha256};

use crate::json::Value;
use crate::types::codes::Code;
use crate::types::load_error::LoadError;

/// The SHA-256 digest of these parts, one after the other, in hexadecimal.
pub(crate) fn digest(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        // The length keeps two parts from being read as two others.
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let digits = hasher.finalize().into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
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

//! A JSON value as a tree: what checks outputs where the size of the code counts more than speed.

use std::borrow::Cow;

use super::{JsonError, Value, build};

/// The JSON text of one value, read.
#[derive(Debug)]
pub struct Document<'t> {
    text: &'t str,
    value: Value,
}

impl<'t> Document<'t> {
    /// Reads a text that the scanner has accepted, and finds the keys that stand twice.
    pub(crate) fn read(scanned: &'t str) -> Result<Document<'t>, JsonError> {
        Ok(Document { text: scanned, value: build(scanned)? })
    }

    /// The text itself.
    #[must_use]
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// The value that the text stands for.
    #[must_use]
    pub fn value(&self) -> Cow<'_, Value> {
        Cow::Borrowed(&self.value)
    }

    #[cfg(feature = "schema-engine")]
    pub(crate) fn root(&self) -> &Value {
        &self.value
    }

    /// The number of its parts, with long texts counted by their length.
    #[cfg(feature = "schema-engine")]
    pub(crate) fn size(&self) -> u64 {
        super::size(&self.value)
    }
}

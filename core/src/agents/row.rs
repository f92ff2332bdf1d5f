//! One row of a stream: a JSON object, of which structs are read.

use serde::Deserialize;

use super::fields::Text;
use crate::json::{Document, Escapes, JsonView};
use crate::types::limits::Limits;

/// A JSON object in strict syntax, with bounded depth and no key twice.
pub(super) struct Row<'t>(Document<'t>);

impl<'t> Row<'t> {
    /// Checks that a text is one JSON object and nothing else.
    pub(super) fn parse(text: &'t str) -> Option<Row<'t>> {
        let row = Document::read(text, MAX_ROW_DEPTH, Escapes::Keep).ok()?;
        matches!(row.root().view(), JsonView::Object(_)).then_some(Row(row))
    }

    /// The row's `type`, absent if it is not a string.
    pub(super) fn kind(&self) -> Text<'_> {
        self.0.root().member("type").and_then(|kind| Text::deserialize(kind).ok()).unwrap_or_default()
    }

    /// Reads the fields of `T`. With fields that are all lenient, there is always one.
    pub(super) fn read<'r, T: Deserialize<'r>>(&'r self) -> Option<T> {
        T::deserialize(self.0.root()).ok()
    }
}

/// Rows wrap what the model wrote in some levels of their own.
const MAX_ROW_DEPTH: usize = 2 * Limits::MAX_JSON_DEPTH;

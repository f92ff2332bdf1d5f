//! One row of a stream: a JSON object, of which structs are read.

use serde::Deserialize;

use super::fields::Text;
use crate::json::Outline;
use crate::types::limits::Limits;

/// A JSON object in strict syntax, with bounded depth and no key twice.
pub(super) struct Row<'t>(Outline<'t>);

impl<'t> Row<'t> {
    /// Checks that a text is one JSON object and nothing else.
    pub(super) fn parse(text: &'t str) -> Option<Row<'t>> {
        Outline::read(text, MAX_ROW_DEPTH).ok().filter(|outline| outline.whole().is_object()).map(Row)
    }

    /// The row's `type`, absent if it is not a string.
    pub(super) fn kind(&self) -> Text<'_> {
        self.0.whole().get("type").and_then(|kind| Text::deserialize(kind).ok()).unwrap_or_default()
    }

    /// Reads the fields of `T`. With fields that are all lenient, there is always one.
    pub(super) fn read<'r, T: Deserialize<'r>>(&'r self) -> Option<T> {
        T::deserialize(self.0.whole()).ok()
    }
}

/// Rows wrap what the model wrote in some levels of their own.
const MAX_ROW_DEPTH: usize = 2 * Limits::MAX_JSON_DEPTH;

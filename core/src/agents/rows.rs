//! Reading members of rows.

use std::borrow::Cow;

use super::turn;
use crate::json::Item;
use crate::json::json_text;
use crate::text;
use crate::types::limits::Limits;

/// Rows wrap what the model wrote in some levels of their own.
pub(super) const MAX_ROW_DEPTH: usize = 2 * Limits::MAX_JSON_DEPTH;

/// A row's text at the end of a path of members.
pub(super) fn text_at<'r>(row: Item<'r>, path: &[&str]) -> Option<Cow<'r, str>> {
    at(row, path)?.text()
}

/// As much of such a text as is kept of what is not the assistant's, or more.
pub(super) fn others_text_at<'r>(row: Item<'r>, path: &[&str]) -> Cow<'r, str> {
    at(row, path).and_then(|text| text.start_of_text(turn::MAX_OTHER_BYTES)).unwrap_or_default()
}

pub(super) fn number_at(row: Item<'_>, path: &[&str]) -> Option<u64> {
    at(row, path)?.as_u64()
}

pub(super) fn at<'r>(row: Item<'r>, path: &[&str]) -> Option<Item<'r>> {
    path.iter().try_fold(row, |value, name| value.get(name))
}

/// The parts of a message that is written as a list of parts, or as one text, and what kind each of them is.
pub(super) fn parts_of(content: Option<Item<'_>>) -> Vec<(Cow<'_, str>, Item<'_>)> {
    let Some(content) = content else { return Vec::new() };
    match content.items() {
        Some(parts) => parts.map(|part| (text_at(part, &["type"]).unwrap_or_default(), part)).collect(),
        None if content.is_string() => vec![(Cow::Borrowed("text"), content)],
        None => Vec::new(),
    }
}

/// The words of a part, or of a message that is one text.
pub(super) fn words_of(part: Item<'_>) -> Cow<'_, str> {
    start_of_words(part, usize::MAX)
}

/// As much of the words as is kept of what is not the assistant's, or more.
pub(super) fn others_words(part: Item<'_>) -> Cow<'_, str> {
    start_of_words(part, turn::MAX_OTHER_BYTES)
}

fn start_of_words(part: Item<'_>, enough: usize) -> Cow<'_, str> {
    let words = if part.is_string() { Some(part) } else { part.get("text") };
    words.and_then(|words| words.start_of_text(enough)).unwrap_or_default()
}

/// What a tool was asked or answered, as text; only its beginning is kept.
pub(super) fn as_text(value: Option<Item<'_>>) -> Cow<'_, str> {
    match value.filter(|value| !value.is_null()) {
        None => Cow::Borrowed(""),
        Some(value) => match value.start_of_text(turn::MAX_OTHER_BYTES) {
            Some(text) => text::head_of(text, turn::MAX_OTHER_BYTES),
            None => Cow::Owned(json_text(&value.built())),
        },
    }
}

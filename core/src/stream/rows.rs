//! Reading members of rows.

use serde_json::Value;

use super::turn;
use crate::limits::Limits;
use crate::text;
use crate::write::json_text;

/// Rows wrap what the model wrote in some levels of their own.
pub(super) const MAX_ROW_DEPTH: usize = 2 * Limits::MAX_JSON_DEPTH;

/// A row's text at the end of a path of members.
pub(super) fn text_at<'r>(row: &'r Value, path: &[&str]) -> Option<&'r str> {
    at(row, path)?.as_str()
}

pub(super) fn number_at(row: &Value, path: &[&str]) -> Option<u64> {
    at(row, path)?.as_u64()
}

pub(super) fn at<'r>(row: &'r Value, path: &[&str]) -> Option<&'r Value> {
    path.iter().try_fold(row, |value, name| value.get(name))
}

/// The parts of a message that is written as a list of parts, or as one text.
pub(super) fn parts_of(content: Option<&Value>) -> Vec<(&str, &Value)> {
    match content {
        Some(Value::Array(parts)) => {
            parts.iter().map(|part| (text_at(part, &["type"]).unwrap_or_default(), part)).collect()
        }
        Some(whole @ Value::String(_)) => vec![("text", whole)],
        _ => Vec::new(),
    }
}

/// The words of a part, or of a message that is one text.
pub(super) fn words_of(part: &Value) -> &str {
    part.as_str().or_else(|| text_at(part, &["text"])).unwrap_or_default()
}

/// What a tool was asked or answered, as text; only its beginning is kept.
pub(super) fn as_text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text::head(text, turn::MAX_OTHER_BYTES).to_owned(),
        Some(other) => json_text(other),
    }
}

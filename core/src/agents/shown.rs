//! Fields that are not the assistant's words: only their beginning is kept, for people to look at.

use std::borrow::Cow;

use super::fields::{FromJson, Lenient};
use super::turn::MAX_OTHER_BYTES;
use crate::json;
use crate::json::json_text;
use crate::text;

/// A field of any type.
pub(super) type Shown<'r> = Lenient<Excerpt<'r>>;

/// The text of a string, the compact JSON of all else. Null is absent.
pub(super) struct Excerpt<'r>(Cow<'r, str>);

/// The beginning of a string, of at least as many bytes as are kept.
pub(super) struct Beginning<'r>(pub(super) Cow<'r, str>);

/// Any value as compact JSON, whole.
pub(super) struct Json(pub(super) String);

impl<'r> Shown<'r> {
    /// The text, or an empty one.
    pub(super) fn as_str(&self) -> &str {
        self.0.as_ref().map(|Excerpt(text)| text.as_ref()).unwrap_or_default()
    }

    /// The text, or an empty one.
    pub(super) fn into_cow(self) -> Cow<'r, str> {
        self.0.map(|Excerpt(text)| text).unwrap_or_default()
    }
}

impl<'de: 'r, 'r> FromJson<'de> for Excerpt<'r> {
    const IS_COMPACT: bool = true;

    fn from_raw(json: &'de str) -> Option<Self> {
        json::string(json, MAX_OTHER_BYTES).map(|text| Excerpt(text::head_of(text, MAX_OTHER_BYTES)))
    }

    fn from_compact(json: &str) -> Option<Self> {
        (json != "null").then(|| Excerpt(text::head(json, MAX_OTHER_BYTES).to_owned().into()))
    }
}

impl<'de: 'r, 'r> FromJson<'de> for Beginning<'r> {
    fn from_raw(json: &'de str) -> Option<Self> {
        json::string(json, MAX_OTHER_BYTES).map(Beginning)
    }
}

impl FromJson<'_> for Json {
    const IS_COMPACT: bool = true;

    fn from_raw(json: &str) -> Option<Self> {
        json::string(json, usize::MAX).map(|text| Json(json_text(&text)))
    }

    fn from_compact(json: &str) -> Option<Self> {
        Some(Json(json.to_owned()))
    }
}

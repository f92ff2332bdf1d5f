//! One row of a stream: a JSON object, of which structs are read. Their fields are read leniently: one that has another type
//! than expected is absent, and the row is not lost.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::turn::MAX_OTHER_BYTES;
use crate::json::{self, Document, Escapes, JsonView};
use crate::text;
use crate::types::limits::Limits;

/// A JSON object in strict syntax, with bounded depth and no key twice.
pub(super) struct Row<'t>(Document<'t>);

/// A field that is absent if it has another type than `T`.
pub(super) struct Lenient<T>(pub(super) Option<T>);

/// A string.
pub(super) type Text<'r> = Lenient<Cow<'r, str>>;

/// A value of any type: the text of a string, the compact JSON of all else. Null is absent. It is not the assistant's
/// words, so only its beginning is kept, for people to look at.
pub(super) type Shown<'r> = Lenient<Excerpt<'r>>;

/// An object with the fields of `T`. A value of another type is an object without any of them.
#[derive(Default)]
pub(super) struct Object<T>(pub(super) T);

/// What is kept of a [`Shown`] field.
pub(super) struct Excerpt<'r>(Cow<'r, str>);

/// Any value as compact JSON, whole.
pub(super) struct Json(pub(super) String);

/// A value of a type that a field can be read as.
pub(super) trait FromJson<'de>: Sized {
    /// Whether all but strings are read as compact JSON text.
    const IS_COMPACT: bool = false;

    /// Reads the JSON text of a string, a number, a boolean or null; of an array or an object only which of them it is.
    fn from_raw(json: &'de str) -> Option<Self>;

    /// Takes the compact JSON text of anything but a string.
    fn from_compact(_: &str) -> Option<Self> {
        None
    }

    fn from_array<A: SeqAccess<'de>>(_: A) -> Result<Option<Self>, A::Error> {
        Ok(Self::from_raw("[]"))
    }

    fn from_object<A: MapAccess<'de>>(_: A) -> Result<Option<Self>, A::Error> {
        Ok(Self::from_raw("{}"))
    }
}

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

impl<T> Default for Lenient<T> {
    fn default() -> Self {
        Lenient(None)
    }
}

impl<T> Deref for Lenient<T> {
    type Target = Option<T>;

    fn deref(&self) -> &Option<T> {
        &self.0
    }
}

impl Text<'_> {
    /// The string, or an empty one.
    pub(super) fn as_str(&self) -> &str {
        self.as_deref().unwrap_or_default()
    }
}

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

impl<T> Deref for Object<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<'de: 'r, 'r> FromJson<'de> for Cow<'r, str> {
    fn from_raw(json: &'de str) -> Option<Self> {
        json::string(json, usize::MAX)
    }
}

impl FromJson<'_> for u64 {
    fn from_raw(json: &str) -> Option<Self> {
        json.parse().ok()
    }
}

impl FromJson<'_> for i64 {
    fn from_raw(json: &str) -> Option<Self> {
        // There is no negative zero among the integers.
        json.parse().ok().filter(|_| json != "-0")
    }
}

impl FromJson<'_> for bool {
    fn from_raw(json: &str) -> Option<Self> {
        json.parse().ok()
    }
}

impl<'de: 'r, 'r> FromJson<'de> for Excerpt<'r> {
    const IS_COMPACT: bool = true;

    fn from_raw(json: &'de str) -> Option<Self> {
        Some(Excerpt(match json::string(json, MAX_OTHER_BYTES)? {
            Cow::Borrowed(text) => text::head(text, MAX_OTHER_BYTES).into(),
            Cow::Owned(text) => text::head(&text, MAX_OTHER_BYTES).to_owned().into(),
        }))
    }

    fn from_compact(json: &str) -> Option<Self> {
        (json != "null").then(|| Excerpt(text::head(json, MAX_OTHER_BYTES).to_owned().into()))
    }
}

impl FromJson<'_> for Json {
    const IS_COMPACT: bool = true;

    fn from_raw(json: &str) -> Option<Self> {
        json::string(json, usize::MAX).map(|text| Json(json::json_text(&text)))
    }

    fn from_compact(json: &str) -> Option<Self> {
        Some(Json(json.to_owned()))
    }
}

/// An array, each item of which is a field again.
impl<'de, T: Deserialize<'de>> FromJson<'de> for Vec<T> {
    fn from_raw(_: &str) -> Option<Self> {
        None
    }

    fn from_array<A: SeqAccess<'de>>(mut array: A) -> Result<Option<Self>, A::Error> {
        std::iter::from_fn(|| array.next_element().transpose()).collect::<Result<_, _>>().map(Some)
    }
}

impl<'de, T: Default + Deserialize<'de>> FromJson<'de> for Object<T> {
    fn from_raw(_: &str) -> Option<Self> {
        Some(Object::default())
    }

    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(object)).map(Object).map(Some)
    }
}

impl<'de, T: Default + Deserialize<'de>> Deserialize<'de> for Object<T> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Lenient::deserialize(deserializer).map(|object| object.0.unwrap_or_default())
    }
}

impl<'de, T: FromJson<'de>> Deserialize<'de> for Lenient<T> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visitor = LenientVisitor(PhantomData);
        let value =
            if T::IS_COMPACT { deserializer.deserialize_str(visitor) } else { deserializer.deserialize_any(visitor) };
        value.map(Lenient)
    }
}

struct LenientVisitor<T>(PhantomData<T>);

impl<'de, T: FromJson<'de>> Visitor<'de> for LenientVisitor<T> {
    type Value = Option<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_borrowed_str<E>(self, json: &'de str) -> Result<Option<T>, E> {
        Ok(T::from_raw(json))
    }

    fn visit_str<E>(self, json: &str) -> Result<Option<T>, E> {
        Ok(T::from_compact(json))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, array: A) -> Result<Option<T>, A::Error> {
        T::from_array(array)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Option<T>, A::Error> {
        T::from_object(object)
    }
}

/// Rows wrap what the model wrote in some levels of their own.
const MAX_ROW_DEPTH: usize = 2 * Limits::MAX_JSON_DEPTH;

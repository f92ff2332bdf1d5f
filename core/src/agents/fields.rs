//! Types of the fields in rows, read leniently: a field that has another type than expected is absent, and the row is not
//! lost.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::json;

/// A field that is absent if it has another type than `T`.
pub(super) struct Lenient<T>(pub(super) Option<T>);

/// A string.
pub(super) type Text<'r> = Lenient<Cow<'r, str>>;

/// An object with the fields of `T`. A value of another type is an object without any of them.
pub(super) struct Object<T>(pub(super) Option<T>);

/// A value of a type that a field can be read as.
pub(super) trait FromJson<'de>: Sized {
    /// Whether all but strings are read as compact JSON text.
    const IS_COMPACT: bool = false;

    /// Reads the JSON text of a string, a number, a boolean or null.
    fn from_raw(_: &'de str) -> Option<Self> {
        None
    }

    /// Takes the compact JSON text of anything but a string.
    fn from_compact(_: &str) -> Option<Self> {
        None
    }

    fn from_array<A: SeqAccess<'de>>(_: A) -> Result<Option<Self>, A::Error> {
        Ok(None)
    }

    fn from_object<A: MapAccess<'de>>(_: A) -> Result<Option<Self>, A::Error> {
        Ok(None)
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

impl<'r, T: FromJson<'r>> Lenient<T> {
    /// Reads the JSON text of a string, a number, a boolean or null.
    pub(super) fn from_raw(json: &'r str) -> Lenient<T> {
        Lenient(T::from_raw(json))
    }
}

impl Text<'_> {
    /// The string, or an empty one.
    pub(super) fn as_str(&self) -> &str {
        self.as_deref().unwrap_or_default()
    }
}

impl From<&'static str> for Text<'_> {
    fn from(text: &'static str) -> Self {
        Lenient(Some(Cow::Borrowed(text)))
    }
}

impl<'de, T: FromJson<'de>> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visitor = LenientVisitor(PhantomData);
        let value =
            if T::IS_COMPACT { deserializer.deserialize_str(visitor) } else { deserializer.deserialize_any(visitor) };
        value.map(Lenient)
    }
}

impl<T> Default for Object<T> {
    fn default() -> Self {
        Object(None)
    }
}

impl<'de, T: Default + Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Lenient::<Fields<T>>::deserialize(deserializer)?;
        Ok(Object(Some(fields.0.map(|Fields(fields)| fields).unwrap_or_default())))
    }
}

struct Fields<T>(T);

impl<'de, T: Deserialize<'de>> FromJson<'de> for Fields<T> {
    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(object)).map(Fields).map(Some)
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

/// An array, each item of which is a field again.
impl<'de, T: Deserialize<'de>> FromJson<'de> for Vec<T> {
    fn from_array<A: SeqAccess<'de>>(mut array: A) -> Result<Option<Self>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = array.next_element()? {
            items.push(item);
        }
        Ok(Some(items))
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

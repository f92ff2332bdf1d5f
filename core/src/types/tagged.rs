//! Objects of which one member says what the others are, such as the `type` of an event.
//!
//! `serde` derives for `#[serde(tag = "…")]` buffer the object, and the path of an invalid member is lost on the way. Here
//! the tag is read first and the variant straight from the rest.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

pub(crate) trait Tagged<'de>: Sized {
    /// The name of the member that is read first, as the only item.
    const TAG: &'static [&'static str; 1];

    /// Reads the other members.
    fn read<A: MapAccess<'de>>(tag: String, rest: MapAccessDeserializer<A>) -> Result<Self, A::Error>;
}

pub(crate) fn deserialize<'de, T: Tagged<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_struct("object", T::TAG, TaggedVisitor(PhantomData))
}

/// Reads an object without members: the rest of a variant that has only its tag.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoMembers {}

struct TaggedVisitor<T>(PhantomData<T>);

impl<'de, T: Tagged<'de>> Visitor<'de> for TaggedVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<T, A::Error> {
        let [tag] = T::TAG;
        let mut before = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if name == *tag && before.is_empty() {
                let value = members.next_value()?;
                return T::read(value, MapAccessDeserializer::new(members));
            }
            if before.insert(name, members.next_value()?).is_some() {
                return Err(A::Error::custom("a key stands twice in one object"));
            }
        }
        // Only `serde_json` itself gets here: the strict reader hands over the tag first.
        let value = match before.shift_remove(*tag) {
            Some(Value::String(value)) => value,
            Some(_) => return Err(A::Error::custom(format!("`{tag}` must be a string"))),
            None => return Err(A::Error::missing_field(tag)),
        };
        let rest: MapDeserializer<'_, _, serde_json::Error> = MapDeserializer::new(before.into_iter());
        T::read(value, MapAccessDeserializer::new(rest)).map_err(A::Error::custom)
    }
}

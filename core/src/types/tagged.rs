//! Objects of which one member says what the others are, such as the `type` of an event.
//!
//! `serde` derives for `#[serde(tag = "…")]` buffer the object, and the path of an invalid member is lost on the way. Here
//! the tag is read first and the variant straight from the rest.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::types::strict;

pub(crate) trait Tagged<'de>: Sized {
    /// The name of the member that is read first, as the only item.
    const TAG: &'static [&'static str; 1];

    /// Reads the other members.
    fn read<A: MapAccess<'de>>(tag: String, rest: MapAccessDeserializer<A>) -> Result<Self, A::Error>;
}

pub(crate) fn deserialize<'de, T: Tagged<'de> + DeserializeOwned, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    deserializer.deserialize_struct("object", T::TAG, TaggedVisitor(PhantomData))
}

/// Reads an object without members: the rest of a variant that has only its tag.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoMembers {}

struct TaggedVisitor<T>(PhantomData<T>);

impl<'de, T: Tagged<'de> + DeserializeOwned> Visitor<'de> for TaggedVisitor<T> {
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
        if !before.contains_key(*tag) {
            return Err(A::Error::missing_field(tag));
        }
        // Only `serde_json` itself gets here: the strict reader hands over the tag first.
        strict::from_value(Value::Object(before)).map_err(A::Error::custom)
    }
}

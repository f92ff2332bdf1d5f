//! What messages consist of: parts of several types, or a plain string.

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, SeqAccess};

use super::fields::{FromJson, Lenient, Text};

/// A field that is an array of parts, or one string, which is a part of type `text`.
pub(super) type Content<P> = Lenient<Parts<P>>;

/// The parts of a message.
pub(super) struct Parts<P>(Vec<P>);

/// A part of a message.
pub(super) trait Part<'r>: Default {
    /// The part that a plain string stands for; `json` is its JSON text.
    fn from_string(kind: &'static str, json: &'r str) -> Self;
}

/// A part that stands by itself or in an array. There a plain string has no type.
pub(super) struct Single<P>(pub(super) P);

/// A part of which only the text is read.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
pub(super) struct TextPart<'r> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'r>,
    pub(super) text: Text<'r>,
}

impl<P> Content<P> {
    /// The parts, or none.
    pub(super) fn into_parts(self) -> Vec<P> {
        self.0.map(|Parts(parts)| parts).unwrap_or_default()
    }
}

impl<'de: 'r, 'r> Part<'de> for TextPart<'r> {
    fn from_string(kind: &'static str, json: &'de str) -> Self {
        TextPart { kind: kind.into(), text: Lenient::from_raw(json) }
    }
}

impl<'de, P: Part<'de> + Deserialize<'de>> FromJson<'de> for Parts<P> {
    fn from_raw(json: &'de str) -> Option<Self> {
        json.starts_with('"').then(|| Parts(vec![P::from_string("text", json)]))
    }

    fn from_array<A: SeqAccess<'de>>(mut array: A) -> Result<Option<Self>, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = array.next_element::<Lenient<Single<P>>>()? {
            parts.push(part.0.map(|Single(part)| part).unwrap_or_default());
        }
        Ok(Some(Parts(parts)))
    }
}

impl<'de, P: Part<'de> + Deserialize<'de>> FromJson<'de> for Single<P> {
    fn from_raw(json: &'de str) -> Option<Self> {
        json.starts_with('"').then(|| Single(P::from_string("", json)))
    }

    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error> {
        P::deserialize(MapAccessDeserializer::new(object)).map(Single).map(Some)
    }
}

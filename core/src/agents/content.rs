//! What several programs write in the same way: the blocks of a message, and what it cost.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, SeqAccess};

use super::row::{FromJson, Lenient, Object, Shown, Text};
use super::turn::MAX_OTHER_BYTES;
use crate::json;

/// A field that is an array of blocks, or one string, which is a block of type `text`.
#[derive(Default)]
pub(super) struct Content<'r>(pub(super) Vec<Block<'r>>);

/// A block of any type. In an array a plain string is one without a type.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
pub(super) struct Block<'r> {
    #[serde(rename = "type")]
    pub(super) kind: Text<'r>,
    pub(super) text: Lenient<Quoted<'r>>,
    pub(super) thinking: Shown<'r>,
    /// Of a tool that is called.
    pub(super) name: Shown<'r>,
    pub(super) input: Shown<'r>,
    pub(super) arguments: Shown<'r>,
    /// What the tool printed.
    pub(super) content: Content<'r>,
}

/// The JSON text of a string. Tools print long ones, of which only the beginning is decoded.
pub(super) struct Quoted<'r>(&'r str);

/// Tokens of a request to a model. Each program has its own names for some of them.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TokenUsage {
    pub(super) input: Lenient<u64>,
    pub(super) input_tokens: Lenient<u64>,
    pub(super) output: Lenient<u64>,
    pub(super) output_tokens: Lenient<u64>,
    pub(super) cached: Lenient<u64>,
    pub(super) cached_input_tokens: Lenient<u64>,
    #[serde(rename = "cacheRead")]
    pub(super) cache_read: Lenient<u64>,
    pub(super) cache_read_input_tokens: Lenient<u64>,
    pub(super) cache_creation_input_tokens: Lenient<u64>,
    pub(super) cache: Object<Cache>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Cache {
    pub(super) read: Lenient<u64>,
}

impl<'r> Block<'r> {
    pub(super) fn of_text(text: Quoted<'r>) -> Block<'r> {
        Block { kind: Lenient(Some("text".into())), text: Lenient(Some(text)), ..Block::default() }
    }

    /// The text, or an empty one.
    pub(super) fn words(&self) -> Cow<'r, str> {
        self.decoded(usize::MAX)
    }

    /// The beginning of a text that is not the assistant's.
    pub(super) fn beginning(&self) -> Cow<'r, str> {
        self.decoded(MAX_OTHER_BYTES)
    }

    fn decoded(&self, enough: usize) -> Cow<'r, str> {
        self.text.as_ref().and_then(|Quoted(json)| json::string(json, enough)).unwrap_or_default()
    }
}

impl<'de: 'r, 'r> FromJson<'de> for Quoted<'r> {
    fn from_raw(json: &'de str) -> Option<Self> {
        json.starts_with('"').then_some(Quoted(json))
    }
}

impl<'de: 'r, 'r> FromJson<'de> for Block<'r> {
    fn from_raw(json: &'de str) -> Option<Self> {
        Some(Block { text: Lenient(Quoted::from_raw(json)), ..Block::default() })
    }

    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error> {
        Block::deserialize(MapAccessDeserializer::new(object)).map(Some)
    }
}

impl<'de: 'r, 'r> FromJson<'de> for Content<'r> {
    fn from_raw(json: &'de str) -> Option<Self> {
        Some(Content(vec![Block::of_text(Quoted::from_raw(json)?)]))
    }

    fn from_array<A: SeqAccess<'de>>(mut array: A) -> Result<Option<Self>, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = array.next_element::<Lenient<Block<'r>>>()? {
            blocks.push(block.0.unwrap_or_default());
        }
        Ok(Some(Content(blocks)))
    }
}

impl<'de: 'r, 'r> Deserialize<'de> for Content<'r> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Lenient::deserialize(deserializer).map(|content| content.0.unwrap_or_default())
    }
}

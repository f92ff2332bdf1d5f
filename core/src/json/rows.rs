//! Structs read from a document by `serde`, each field as it stands in the text. What no struct names is never decoded.

use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::tape::{JsonView, Node};

/// Objects and arrays are visited as ever, all else as the JSON text that it is: what it means is up to the visitor.
impl<'de> Deserializer<'de> for Node<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.view() {
            JsonView::Object(_) => visitor.visit_map(MapDeserializer::new(self.members())),
            JsonView::Array(_) => visitor.visit_seq(SeqDeserializer::new(self.elements())),
            _ => visitor.visit_borrowed_str(self.scalar_text()),
        }
    }

    /// A string is asked for: all that is none is visited as compact JSON text.
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.view() {
            JsonView::String(_) => visitor.visit_borrowed_str(self.scalar_text()),
            _ => visitor.visit_str(&self.to_value().to_string()),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier
    }
}

impl<'de> IntoDeserializer<'de> for Node<'de> {
    type Deserializer = Node<'de>;

    fn into_deserializer(self) -> Node<'de> {
        self
    }
}

#[cfg(test)]
mod tests;

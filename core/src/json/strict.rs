//! The one strict reader: JSON text to values, and values to data.
//!
//! `serde_json` reads texts that the scanner has accepted. Derives of `serde` read data from values, but not from those
//! alone: they would take an array for an object, and their messages name types of Rust.

use std::fmt;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{self, DeserializeOwned, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_path_to_error::Segment;

use super::{Fault, Map, Value};
use crate::text;

/// Reads a text that [`super::Scanner`] has accepted, and finds the keys that stand twice.
pub(crate) fn build(scanned: &str) -> Result<Value, Fault> {
    let mut deserializer = serde_json::Deserializer::from_str(scanned);
    // The scanner has bounded the depth.
    deserializer.disable_recursion_limit();
    // It has found every other fault, too.
    deserializer.deserialize_any(UniqueKeys).map_err(|_| Fault::DuplicateKey)
}

/// Builds a value; a key that stands twice in one object is an error.
struct UniqueKeys;

impl<'de> de::DeserializeSeed<'de> for UniqueKeys {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for UniqueKeys {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::from(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = elements.next_element_seed(UniqueKeys)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            if members.insert(name, entries.next_value_seed(UniqueKeys)?).is_some() {
                return Err(de::Error::custom("a key stands twice"));
            }
        }
        Ok(Value::Object(members))
    }
}

/// Reads data from a value, as strictly in every runtime.
pub(crate) fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, Invalid> {
    let mut track = serde_path_to_error::Track::new();
    let result = T::deserialize(serde_path_to_error::Deserializer::new(Strict(value), &mut track));
    result.map_err(|invalid| Invalid { path: place(&track.path(), &invalid), ..invalid })
}

/// Where the reader was, and the member that is missing there.
fn place(at: &serde_path_to_error::Path, invalid: &Invalid) -> String {
    let mut segments: Vec<_> = at.iter().collect();
    if invalid.names_the_place {
        segments.pop();
    }
    let mut path = String::new();
    for segment in segments {
        match segment {
            Segment::Map { key } => push_member(&mut path, key),
            Segment::Seq { index } => path.extend(["[", &index.to_string(), "]"]),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    if !invalid.path.is_empty() {
        push_member(&mut path, &invalid.path);
    }
    path
}

fn push_member(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}

/// What could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Invalid {
    /// Where, such as `messages[0].text`; empty for the whole.
    pub(crate) path: String,
    /// What is wrong with it, as the rest of a sentence: `is missing`.
    pub(crate) message: String,
    /// The message names the member where the reader was, and is about the object that it stands in.
    names_the_place: bool,
}

impl Invalid {
    fn new(message: impl Into<String>) -> Invalid {
        Invalid { path: String::new(), message: message.into(), names_the_place: false }
    }

    fn expected(what: &str, found: &Value) -> Invalid {
        Invalid::new(format!("must be {what}, found {}", kind(found)))
    }

    /// What is wrong as one sentence about the place, or about the whole.
    pub(crate) fn sentence(&self, whole: &str) -> String {
        if self.path.is_empty() {
            format!("{whole} {}", self.message)
        } else {
            format!("`{}` {}", self.path, self.message)
        }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.sentence("it"))
    }
}

impl std::error::Error for Invalid {}

impl de::Error for Invalid {
    fn custom<T: fmt::Display>(message: T) -> Invalid {
        Invalid::new(message.to_string())
    }

    fn missing_field(field: &'static str) -> Invalid {
        Invalid { path: field.to_owned(), ..Invalid::new("is missing") }
    }

    fn unknown_field(field: &str, _: &'static [&'static str]) -> Invalid {
        let message = format!("has the unknown field {}", text::quoted(field));
        Invalid { names_the_place: true, ..Invalid::new(message) }
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Invalid {
        Invalid::new(format!("must be {}, found another string", one_of(expected)))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn de::Expected) -> Invalid {
        Invalid::new(format!("is out of range: expected {expected}"))
    }
}

/// A value that data is read from. An array is never an object.
struct Strict(Value);

/// Hands a value to the visitor if it is of the expected kind.
macro_rules! deserialize_kind {
    ($($method:ident: $expected:literal, $value:pat,)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
            match &self.0 {
                $value => self.deserialize_any(visitor),
                other => Err(Invalid::expected($expected, other)),
            }
        })+
    };
}

impl<'de> Deserializer<'de> for Strict {
    type Error = Invalid;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Number(number) => number.deserialize_any(visitor).map_err(de::Error::custom),
            Value::String(text) => visitor.visit_string(text),
            Value::Array(items) => visitor.visit_seq(SeqDeserializer::new(items.into_iter().map(Strict))),
            Value::Object(members) => visitor.visit_map(MapDeserializer::new(strict(members))),
        }
    }

    deserialize_kind! {
        deserialize_bool: "a boolean", Value::Bool(_),
        deserialize_str: "a string", Value::String(_),
        deserialize_string: "a string", Value::String(_),
        deserialize_seq: "an array", Value::Array(_),
        deserialize_map: "an object", Value::Object(_),
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        match self.0.as_u64() {
            Some(number) => visitor.visit_u64(number),
            None => Err(Invalid::expected("a non-negative integer", &self.0)),
        }
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        match self.0.as_u64().map(u32::try_from) {
            Some(Ok(number)) => visitor.visit_u32(number),
            Some(Err(_)) => Err(Invalid::expected("an integer up to 4294967295", &self.0)),
            None => Err(Invalid::expected("a non-negative integer", &self.0)),
        }
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        match self.0.as_i64() {
            Some(number) => visitor.visit_i64(number),
            None => Err(Invalid::expected("an integer", &self.0)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Invalid> {
        visitor.visit_newtype_struct(self)
    }

    /// The members that the struct knows come first and in its order: a tag before what it tells apart.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Invalid> {
        let Value::Object(mut members) = self.0 else { return Err(Invalid::expected("an object", &self.0)) };
        let known: Vec<_> = fields.iter().filter_map(|field| members.shift_remove_entry(*field)).collect();
        let members = known.into_iter().chain(members).map(|(name, value)| (name, Strict(value)));
        visitor.visit_map(MapDeserializer::new(members))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Invalid> {
        match self.0 {
            Value::String(name) => visitor.visit_enum(name.into_deserializer()),
            other => Err(Invalid::expected(&one_of(variants), &other)),
        }
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u16 u128 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

impl IntoDeserializer<'_, Invalid> for Strict {
    type Deserializer = Strict;

    fn into_deserializer(self) -> Strict {
        self
    }
}

fn strict(members: Map) -> impl Iterator<Item = (String, Strict)> {
    members.into_iter().map(|(name, value)| (name, Strict(value)))
}

fn one_of(names: &[&str]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!(" `{name}`")).collect();
    format!("one of{}", names.concat())
}

/// What a value is, without repeating text from outside.
fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

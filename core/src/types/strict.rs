//! Data from JSON values, as strictly in every runtime.
//!
//! Types derive `serde`, but derives alone would take an array for an object, and their messages name types of Rust.

use std::fmt;

use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use crate::text;

/// Reads data from a value.
pub(crate) fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, Invalid> {
    T::deserialize(Strict(value))
}

/// What could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.sentence("it"))]
pub(crate) struct Invalid {
    /// Where, such as `messages[0].text`; empty for the whole.
    pub(crate) path: String,
    /// What is wrong with it, as the rest of a sentence: `is missing`.
    pub(crate) message: String,
}

impl Invalid {
    #[cold]
    fn new(message: String) -> Invalid {
        Invalid { path: String::new(), message }
    }

    #[cold]
    fn expected(what: &str, found: &Value) -> Invalid {
        Invalid::new(format!("must be {what}, found {}", kind(found)))
    }

    /// The same, seen from the object or array around it. The path is kept here and not by `serde_path_to_error`, whose
    /// wrappers around every visitor would be a sixth of what a browser downloads.
    #[cold]
    fn inside(self, step: &str) -> Invalid {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        Invalid { path: format!("{step}{dot}{}", self.path), ..self }
    }

    /// Where, as a JSON pointer.
    pub(crate) fn pointer(&self) -> String {
        let steps = self.path.split(['.', '[']).filter(|step| !step.is_empty());
        steps.flat_map(|step| ["/", step.trim_end_matches(']')]).collect()
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

impl de::Error for Invalid {
    fn custom<T: fmt::Display>(message: T) -> Invalid {
        Invalid::new(message.to_string())
    }

    fn missing_field(field: &'static str) -> Invalid {
        Invalid::new("is missing".to_owned()).inside(field)
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Invalid {
        let letters = |name: &str| name.replace('_', "").to_ascii_lowercase();
        let meant = known.iter().find(|name| letters(name) == letters(field));
        let hint = meant.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        Invalid::new(format!("has the unknown field {}{hint}", text::quoted(field)))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Invalid {
        Invalid::new(format!("must be {}, found another string", one_of(expected)))
    }

    fn invalid_value(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Invalid {
        Invalid::new(format!("must be {expected}"))
    }
}

/// A value that data is read from. An array is never an object.
struct Strict(Value);

impl Strict {
    fn found<T>(&self, read: impl FnOnce(&Value) -> Option<T>, expected: &str) -> Result<T, Invalid> {
        read(&self.0).ok_or_else(|| Invalid::expected(expected, &self.0))
    }
}

/// INVARIANT: what every derive calls is `inline(never)`; inlined into each, it is 10 KB more for browsers.
impl<'de> Deserializer<'de> for Strict {
    type Error = Invalid;

    /// Only values of any kind are read so.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        self.0.deserialize_any(visitor).map_err(de::Error::custom)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        visitor.visit_bool(self.found(Value::as_bool, "a boolean")?)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        visitor.visit_u64(self.found(Value::as_u64, "a non-negative integer")?)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        let number = self.found(Value::as_u64, "a non-negative integer")?;
        visitor.visit_u32(self.found(|_| u32::try_from(number).ok(), "an integer up to 4294967295")?)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        visitor.visit_i64(self.found(Value::as_i64, "an integer")?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        let Value::String(text) = self.0 else { return Err(Invalid::expected("a string", &self.0)) };
        visitor.visit_string(text)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        self.deserialize_string(visitor)
    }

    #[inline(never)]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Invalid> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Invalid> {
        let Value::Array(items) = self.0 else { return Err(Invalid::expected("an array", &self.0)) };
        visitor.visit_seq(Items(items.into_iter().enumerate()))
    }

    #[inline(never)]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Invalid> {
        visitor.visit_map(Members::new(self.0, fields)?)
    }

    #[inline(never)]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Invalid> {
        let Value::String(name) = self.0 else { return Err(Invalid::expected(&one_of(variants), &self.0)) };
        visitor.visit_enum(name.into_deserializer())
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u16 u128 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct map identifier
        ignored_any
    }
}

/// The elements of an array.
struct Items(std::iter::Enumerate<std::vec::IntoIter<Value>>);

impl<'de> SeqAccess<'de> for Items {
    type Error = Invalid;

    #[inline(never)]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Invalid> {
        let Some((index, item)) = self.0.next() else { return Ok(None) };
        seed.deserialize(Strict(item)).map(Some).map_err(|invalid| invalid.inside(&format!("[{index}]")))
    }
}

/// The members of an object. Those that a struct knows come first and in its order: a tag before the members it selects.
struct Members {
    left: std::vec::IntoIter<(String, Value)>,
    /// The member whose value is read next.
    current: Option<(String, Value)>,
}

impl Members {
    fn new(object: Value, fields: &[&str]) -> Result<Members, Invalid> {
        let Value::Object(mut members) = object else { return Err(Invalid::expected("an object", &object)) };
        let mut ordered: Vec<_> = fields.iter().filter_map(|field| members.shift_remove_entry(*field)).collect();
        ordered.extend(members);
        Ok(Members { left: ordered.into_iter(), current: None })
    }
}

impl<'de> MapAccess<'de> for Members {
    type Error = Invalid;

    #[inline(never)]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Invalid> {
        self.current = self.left.next();
        let Some((name, _)) = &self.current else { return Ok(None) };
        seed.deserialize(name.as_str().into_deserializer()).map(Some)
    }

    #[inline(never)]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Invalid> {
        let (name, value) = self.current.take().unwrap_or_default();
        seed.deserialize(Strict(value)).map_err(|invalid| invalid.inside(&name))
    }
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

//! Reading data from outside, member by member: what is missing, unknown or of the wrong kind is told with its place.
//!
//! By hand and not by `serde`: the messages are read by people and stay the same in every version, a list is never taken
//! for an object, and a browser downloads a third of the code.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::codes::Code;
use crate::text;
use crate::time::Timestamp;

/// Data that can be read back.
pub(crate) trait Readable: Sized {
    /// Reads a value.
    fn read(value: Value) -> Result<Self, Misread>;

    /// What stands for a member that is not there.
    fn absent() -> Result<Self, Misread> {
        Err(Misread::new("is missing"))
    }
}

/// What could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misread {
    /// Where, such as `messages[0].text`; empty for the whole.
    pub(crate) place: String,
    /// What is wrong with it, as the rest of a sentence: `is missing`.
    pub(crate) message: String,
}

impl Misread {
    pub(crate) fn new(message: impl Into<String>) -> Misread {
        Misread { place: String::new(), message: message.into() }
    }

    pub(crate) fn expected(what: &str, found: &Value) -> Misread {
        Misread::new(format!("must be {what}, found {}", kind(found)))
    }

    /// The same, seen from one level up.
    fn within(mut self, place: &str) -> Misread {
        let dot = if self.place.is_empty() || self.place.starts_with('[') { "" } else { "." };
        self.place = format!("{place}{dot}{}", self.place);
        self
    }

    /// What is wrong as one sentence about the place, or about the whole.
    pub(crate) fn sentence(&self, whole: &str) -> String {
        if self.place.is_empty() {
            format!("{whole} {}", self.message)
        } else {
            format!("`{}` {}", self.place, self.message)
        }
    }
}

/// What is left to be taken of an object.
pub(crate) struct Members {
    members: Map<String, Value>,
}

impl Members {
    pub(crate) fn of(value: Value) -> Result<Members, Misread> {
        match value {
            Value::Object(members) => Ok(Members { members }),
            other => Err(Misread::expected("an object", &other)),
        }
    }

    pub(crate) fn take<T: Readable>(&mut self, name: &str) -> Result<T, Misread> {
        let member = self.members.shift_remove(name);
        member.map_or_else(T::absent, T::read).map_err(|misread| misread.within(name))
    }

    /// What is left, as a value of its own.
    pub(crate) fn rest(self) -> Value {
        Value::Object(self.members)
    }

    /// Everything has been taken.
    pub(crate) fn end(self) -> Result<(), Misread> {
        match self.members.keys().next() {
            None => Ok(()),
            Some(name) => Err(Misread::new(format!("has the unknown field {}", text::quoted(name)))),
        }
    }
}

/// Lets a struct be read: these members and no others.
macro_rules! readable {
    ($type:ident { $($member:ident),+ $(,)? }) => {
        impl crate::read::Readable for $type {
            fn read(value: serde_json::Value) -> Result<Self, crate::read::Misread> {
                let mut members = crate::read::Members::of(value)?;
                let read = $type { $($member: members.take(stringify!($member))?),+ };
                members.end().map(|()| read)
            }
        }
    };
}

/// Lets an enum without data be read by its names.
macro_rules! readable_names {
    ($type:ident { $($name:literal => $variant:ident),+ $(,)? }) => {
        impl crate::read::Readable for $type {
            fn read(value: serde_json::Value) -> Result<Self, crate::read::Misread> {
                match value.as_str() {
                    $(Some($name) => Ok($type::$variant),)+
                    _ => Err(crate::read::Misread::expected(concat!("one of", $(" `", $name, "`"),+), &value)),
                }
            }
        }
    };
}

pub(crate) use {readable, readable_names};

impl Readable for Value {
    fn read(value: Value) -> Result<Value, Misread> {
        Ok(value)
    }
}

impl Readable for String {
    fn read(value: Value) -> Result<String, Misread> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(Misread::expected("a text", &other)),
        }
    }
}

impl Readable for Cow<'static, str> {
    fn read(value: Value) -> Result<Cow<'static, str>, Misread> {
        String::read(value).map(Cow::Owned)
    }
}

impl Readable for bool {
    fn read(value: Value) -> Result<bool, Misread> {
        value.as_bool().ok_or_else(|| Misread::expected("a boolean", &value))
    }
}

impl Readable for u64 {
    fn read(value: Value) -> Result<u64, Misread> {
        value.as_u64().ok_or_else(|| Misread::expected("a whole number", &value))
    }
}

impl Readable for i64 {
    fn read(value: Value) -> Result<i64, Misread> {
        value.as_i64().ok_or_else(|| Misread::expected("an integer", &value))
    }
}

impl Readable for u32 {
    fn read(value: Value) -> Result<u32, Misread> {
        let small = u64::read(value.clone())?.try_into();
        small.map_err(|_| Misread::expected("a whole number up to 4294967295", &value))
    }
}

impl Readable for usize {
    fn read(value: Value) -> Result<usize, Misread> {
        let size = u64::read(value.clone())?.try_into();
        size.map_err(|_| Misread::expected("a smaller number", &value))
    }
}

impl Readable for Timestamp {
    fn read(value: Value) -> Result<Timestamp, Misread> {
        let time = value.as_u64().and_then(Timestamp::from_millis);
        time.ok_or_else(|| Misread::expected("whole milliseconds up to 9007199254740991", &value))
    }
}

impl Readable for Code {
    fn read(value: Value) -> Result<Code, Misread> {
        Code::from_text(&String::read(value)?).ok_or_else(|| Misread::new("is not one of the codes"))
    }
}

impl<T: Readable> Readable for Box<T> {
    fn read(value: Value) -> Result<Box<T>, Misread> {
        T::read(value).map(Box::new)
    }
}

/// Null and nothing are the same.
impl<T: Readable> Readable for Option<T> {
    fn read(value: Value) -> Result<Option<T>, Misread> {
        if value.is_null() { Ok(None) } else { T::read(value).map(Some) }
    }

    fn absent() -> Result<Option<T>, Misread> {
        Ok(None)
    }
}

impl<T: Readable> Readable for Vec<T> {
    fn read(value: Value) -> Result<Vec<T>, Misread> {
        let Value::Array(items) = value else { return Err(Misread::expected("a list", &value)) };
        let mut list = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            list.push(T::read(item).map_err(|misread| misread.within(&format!("[{index}]")))?);
        }
        Ok(list)
    }
}

/// What a value is, without repeating text from outside.
fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(_) => "a text".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

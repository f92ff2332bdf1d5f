//! Reading data from outside, member by member: what is missing, unknown or of the wrong kind is told with its place.
//!
//! By hand and not by `serde`: the messages are read by people and stay the same in every version, and a list is never
//! taken for an object. Data is read into places that are there already, and the first thing that is wrong is kept: with
//! no way out in the middle of a struct, and one function for the members of all of them, a browser downloads little.

use std::borrow::Cow;
use std::fmt::Display;
use std::sync::Arc;

use crate::json::Value;
use crate::text;
use crate::types::codes::Code;
use crate::types::time::Timestamp;
use crate::write::json_text;

/// Data that can be read back.
pub(crate) trait Readable {
    /// What stands in a place before anything is read into it.
    fn blank() -> Self
    where
        Self: Sized;

    /// Reads a value into its place. If `reading` is told that something is wrong, then the place is not looked at.
    fn read(&mut self, value: Value, reading: &mut Reading);

    /// Whether a member may be missing; then its place stays blank.
    fn may_be_missing(&self) -> bool {
        false
    }
}

/// Reads a whole.
pub(crate) fn read<T: Readable>(value: Value) -> Result<T, Misread> {
    let (mut whole, mut reading) = (T::blank(), Reading::default());
    whole.read(value, &mut reading);
    reading.end(whole)
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
    /// What is wrong as one sentence about the place, or about the whole.
    pub(crate) fn sentence(&self, whole: &str) -> String {
        if self.place.is_empty() {
            format!("{whole} {}", self.message)
        } else {
            format!("`{}` {}", self.place, self.message)
        }
    }
}

/// How far reading has gone well.
#[derive(Default)]
pub(crate) struct Reading {
    misread: Option<Misread>,
}

impl Reading {
    /// Tells what is wrong here; what was told before is kept.
    pub(crate) fn wrong(&mut self, message: impl Into<String>) {
        self.misread.get_or_insert_with(|| Misread { place: String::new(), message: message.into() });
    }

    #[cold]
    pub(crate) fn expected(&mut self, what: &str, found: &Value) {
        self.wrong(format!("must be {what}, found {}", kind(found)));
    }

    /// Which of these names a value is.
    pub(crate) fn one_of(&mut self, names: &[&str], value: &Value) -> Option<usize> {
        let found = names.iter().position(|name| value.as_str() == Some(name));
        if found.is_none() {
            let names: Vec<_> = names.iter().map(|name| format!(" `{name}`")).collect();
            self.expected(&format!("one of{}", names.concat()), value);
        }
        found
    }

    /// The members of an object; of what is none, nothing is left to be read.
    pub(crate) fn members(&mut self, value: Value) -> Members<'_> {
        let members = match value {
            Value::Object(members) => members.into_iter().collect(),
            other => {
                self.expected("an object", &other);
                Vec::new()
            }
        };
        Members { members, reading: self }
    }

    /// Reads a part into its place, unless something is wrong already.
    fn part(&mut self, name: &dyn Display, value: Option<Value>, place: &mut dyn Readable) {
        if self.misread.is_some() {
            return;
        }
        match value {
            Some(value) => place.read(value, self),
            None if place.may_be_missing() => {}
            None => self.wrong("is missing"),
        }
        if let Some(misread) = &mut self.misread {
            let dot = if misread.place.is_empty() || misread.place.starts_with('[') { "" } else { "." };
            misread.place = format!("{name}{dot}{}", misread.place);
        }
    }

    fn items(&mut self, value: Value, list: &mut dyn List) {
        match value {
            Value::Array(items) => items.into_iter().enumerate().for_each(|(index, item)| list.add(index, item, self)),
            other => self.expected("a list", &other),
        }
    }

    fn item(&mut self, index: usize, value: Value, place: &mut dyn Readable) {
        self.part(&format_args!("[{index}]"), Some(value), place);
    }

    /// What was read, if nothing is wrong with it.
    pub(crate) fn end<T>(self, whole: T) -> Result<T, Misread> {
        match self.misread {
            None => Ok(whole),
            Some(misread) => Err(misread),
        }
    }
}

/// What is left to be taken of an object.
pub(crate) struct Members<'r> {
    members: Vec<(String, Value)>,
    reading: &'r mut Reading,
}

impl Members<'_> {
    /// Reads a member into its place.
    pub(crate) fn take(&mut self, name: &str, place: &mut dyn Readable) {
        let member = self.place_of(name).map(|index| self.members.remove(index).1);
        self.reading.part(&name, member, place);
    }

    /// Reads a member into its place if it is there.
    pub(crate) fn take_if_given(&mut self, name: &str, place: &mut dyn Readable) {
        if self.place_of(name).is_some() {
            self.take(name, place);
        }
    }

    /// Most members stand in the order in which they are taken.
    fn place_of(&self, name: &str) -> Option<usize> {
        self.members.iter().position(|(known, _)| known == name)
    }

    /// A member that says what the others are.
    pub(crate) fn tag(&mut self, name: &str) -> String {
        let mut tag = String::new();
        self.take(name, &mut tag);
        tag
    }

    /// Reads all that is left into one place.
    pub(crate) fn rest(self, place: &mut dyn Readable) {
        if self.reading.misread.is_none() {
            place.read(Value::Object(self.members.into_iter().collect()), self.reading);
        }
    }

    /// Tells what is wrong with the object itself.
    pub(crate) fn wrong(&mut self, message: impl Into<String>) {
        self.reading.wrong(message);
    }

    /// Everything has been taken.
    pub(crate) fn end(self) {
        if let Some((name, _)) = self.members.first() {
            self.reading.wrong(format!("has the unknown field {}", text::quoted(name)));
        }
    }
}

/// Lets a struct be read: these members and no others.
macro_rules! readable {
    ($type:ident { $($member:ident),+ $(,)? }) => {
        impl crate::read::Readable for $type {
            fn blank() -> Self {
                $type { $($member: crate::read::Readable::blank()),+ }
            }

            fn read(&mut self, value: crate::json::Value, reading: &mut crate::read::Reading) {
                let mut members = reading.members(value);
                $(members.take(stringify!($member), &mut self.$member);)+
                members.end();
            }
        }
    };
}

/// Lets an enum without data be read by its names.
macro_rules! readable_names {
    ($type:ident { $first_name:literal => $first:ident $(, $name:literal => $variant:ident)* $(,)? }) => {
        impl crate::read::Readable for $type {
            fn blank() -> Self {
                $type::$first
            }

            fn read(&mut self, value: crate::json::Value, reading: &mut crate::read::Reading) {
                let found = reading.one_of(&[$first_name $(, $name)*], &value);
                if let Some(variant) = found.and_then(|found| [$type::$first $(, $type::$variant)*].get(found).copied()) {
                    *self = variant;
                }
            }
        }
    };
}

pub(crate) use {readable, readable_names};

/// Lets plain data be read: what a value gives, or else what was expected.
macro_rules! readable_plainly {
    ($($type:ty: $blank:expr, $expected:literal, $take:expr;)+) => {
        $(impl Readable for $type {
            fn blank() -> Self {
                $blank
            }

            fn read(&mut self, value: Value, reading: &mut Reading) {
                let take: fn(&Value) -> Option<$type> = $take;
                match take(&value) {
                    Some(taken) => *self = taken,
                    None => reading.expected($expected, &value),
                }
            }
        })+
    };
}

readable_plainly! {
    bool: false, "a boolean", Value::as_bool;
    u64: 0, "a whole number", Value::as_u64;
    i64: 0, "an integer", Value::as_i64;
    Timestamp: Timestamp::default(), "whole milliseconds up to 9007199254740991",
        |value| value.as_u64().and_then(Timestamp::from_millis);
}

impl Readable for u32 {
    fn blank() -> u32 {
        0
    }

    fn read(&mut self, value: Value, reading: &mut Reading) {
        match value.as_u64().map(u32::try_from) {
            Some(Ok(small)) => *self = small,
            Some(Err(_)) => reading.expected("a whole number up to 4294967295", &value),
            None => reading.expected("a whole number", &value),
        }
    }
}

impl Readable for usize {
    fn blank() -> usize {
        0
    }

    fn read(&mut self, value: Value, reading: &mut Reading) {
        match value.as_u64() {
            // What this machine cannot hold is out of range on every other one too, and is told there.
            Some(size) => *self = usize::try_from(size).unwrap_or(usize::MAX),
            None => reading.expected("a whole number", &value),
        }
    }
}

impl Readable for Value {
    fn blank() -> Value {
        Value::Null
    }

    fn read(&mut self, value: Value, _: &mut Reading) {
        *self = value;
    }
}

impl Readable for String {
    fn blank() -> String {
        String::new()
    }

    fn read(&mut self, value: Value, reading: &mut Reading) {
        match value {
            Value::String(text) => *self = text,
            other => reading.expected("a text", &other),
        }
    }
}

impl Readable for Cow<'static, str> {
    fn blank() -> Cow<'static, str> {
        Cow::Borrowed("")
    }

    fn read(&mut self, value: Value, reading: &mut Reading) {
        self.to_mut().read(value, reading);
    }
}

impl Readable for Code {
    fn blank() -> Code {
        Code::RequestMalformed
    }

    fn read(&mut self, value: Value, reading: &mut Reading) {
        let mut text = String::new();
        text.read(value, reading);
        match Code::from_text(&text) {
            Some(code) => *self = code,
            None => reading.wrong("is not one of the codes"),
        }
    }
}

impl<T: Readable> Readable for Box<T> {
    fn blank() -> Box<T> {
        Box::new(T::blank())
    }

    fn read(&mut self, value: Value, reading: &mut Reading) {
        T::read(self, value, reading);
    }
}

impl<T: Readable> Readable for Arc<T> {
    fn blank() -> Arc<T> {
        Arc::new(T::blank())
    }

    fn read(&mut self, value: Value, reading: &mut Reading) {
        // Nobody else has it while it is read.
        if let Some(place) = Arc::get_mut(self) {
            place.read(value, reading);
        }
    }
}

/// Null and nothing are the same.
impl<T: Readable> Readable for Option<T> {
    fn blank() -> Option<T> {
        None
    }

    fn read(&mut self, value: Value, reading: &mut Reading) {
        if !value.is_null() {
            self.insert(T::blank()).read(value, reading);
        }
    }

    fn may_be_missing(&self) -> bool {
        true
    }
}

/// A list that is being read. Only what depends on the kind of its items is written anew for every kind.
trait List {
    fn add(&mut self, index: usize, item: Value, reading: &mut Reading);
}

impl<T: Readable> List for Vec<T> {
    fn add(&mut self, index: usize, item: Value, reading: &mut Reading) {
        let mut place = T::blank();
        reading.item(index, item, &mut place);
        self.push(place);
    }
}

impl<T: Readable> Readable for Vec<T> {
    fn blank() -> Vec<T> {
        Vec::new()
    }

    fn read(&mut self, value: Value, reading: &mut Reading) {
        reading.items(value, self);
    }
}

/// What a value is, without repeating text from outside.
fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Number(_) => json_text(value),
        Value::String(_) => "a text".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

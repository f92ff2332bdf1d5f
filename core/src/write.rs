//! Writing data as JSON text, member by member: the same data gives the same bytes, in every runtime.
//!
//! By hand and not by `serde`, for the reason that is given in `read.rs`: one function writes the members of all structs.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Number;

use crate::json::{self, Map, Value};
use crate::text::push_number;
use crate::types::codes::Code;
use crate::types::time::Timestamp;

/// Data that can be written as JSON.
pub trait Writable {
    /// Writes the data as one JSON value.
    fn write(&self, out: &mut Writer);

    /// Whether it is left out where it would be a member of an object.
    fn is_absent(&self) -> bool {
        false
    }
}

/// Data as JSON text, without white space and with the members of objects in the order of their fields.
#[must_use]
pub fn json_text<T: Writable + serde::Serialize + ?Sized>(data: &T) -> String {
    // Enough for most answers.
    let mut out = Writer::new(String::with_capacity(256));
    data.write(&mut out);
    debug_assert_eq!(
        Ok(&out.text),
        serde_json::to_string(data).as_ref().map_err(ToString::to_string),
        "derives write the same"
    );
    out.text
}

/// Writes data as JSON text behind what stands there already.
pub fn push_json<T: Writable + serde::Serialize + ?Sized>(text: &mut String, data: &T) {
    text.push_str(&json_text(data));
}

/// Data as a JSON value.
#[must_use]
pub fn json_value<T: Writable + serde::Serialize + ?Sized>(data: &T) -> Value {
    // What was written here can be read here.
    json::build(&json_text(data)).unwrap_or_default()
}

/// JSON text that is being written.
pub struct Writer {
    text: String,
    /// Whether the next object is written without its brackets, into the one around it.
    joins: bool,
}

impl Writer {
    fn new(text: String) -> Writer {
        Writer { text, joins: false }
    }

    /// Writes an object; `members` writes what is in it.
    pub fn object(&mut self, members: impl FnOnce(&mut Writer)) {
        let joins = self.open();
        members(self);
        self.close(joins);
    }

    /// Opens an object; whether it joins the one around it. Apart from its members, so that there is one of this and not
    /// one for every type.
    fn open(&mut self) -> bool {
        let joins = std::mem::take(&mut self.joins);
        if !joins {
            self.text.push('{');
        }
        joins
    }

    fn close(&mut self, joins: bool) {
        if !joins {
            self.text.push('}');
        }
    }

    /// Writes a member of the object that is being written, unless it is absent. In its name nothing needs an escape.
    pub fn member(&mut self, name: &'static str, value: &dyn Writable) {
        if !value.is_absent() {
            self.text.reserve(name.len() + 4);
            self.separate();
            self.text.push('"');
            self.text.push_str(name);
            self.text.push_str("\":");
            value.write(self);
        }
    }

    /// Writes all members of another object into the one that is being written.
    pub fn members_of(&mut self, object: &dyn Writable) {
        self.joins = true;
        object.write(self);
    }

    /// Writes a list; `next` gives its items, one by one.
    pub fn list<'i>(&mut self, next: &mut dyn FnMut() -> Option<&'i dyn Writable>) {
        self.text.push('[');
        while let Some(item) = next() {
            self.separate();
            item.write(self);
        }
        self.text.push(']');
    }

    /// Writes a word of our own in quotation marks: in it nothing needs an escape.
    pub(crate) fn name(&mut self, name: &'static str) {
        self.text.reserve(name.len() + 2);
        self.text.push('"');
        self.text.push_str(name);
        self.text.push('"');
    }

    /// Writes a text in quotation marks.
    pub fn string(&mut self, text: &str) {
        self.text.reserve(text.len() + 2);
        self.text.push('"');
        let (mut start, mut at) = (0, json::end_of_plain(text.as_bytes(), 0));
        while let Some(sign) = text.as_bytes().get(at) {
            self.text.push_str(text.get(start..at).unwrap_or_default());
            match sign {
                b'"' => self.text.push_str("\\\""),
                b'\\' => self.text.push_str("\\\\"),
                b'\n' => self.text.push_str("\\n"),
                b'\r' => self.text.push_str("\\r"),
                b'\t' => self.text.push_str("\\t"),
                8 => self.text.push_str("\\b"),
                12 => self.text.push_str("\\f"),
                control => {
                    self.text.push_str("\\u00");
                    self.text.push(if *control < 16 { '0' } else { '1' });
                    self.text.extend(char::from_digit(u32::from(control % 16), 16));
                }
            }
            start = at + 1;
            at = json::end_of_plain(text.as_bytes(), start);
        }
        self.text.push_str(text.get(start..).unwrap_or_default());
        self.text.push('"');
    }

    /// A comma, unless this is the first in its brackets.
    fn separate(&mut self) {
        if !matches!(self.text.as_bytes().last(), Some(b'{' | b'[')) {
            self.text.push(',');
        }
    }
}

/// Lets a struct be written with these members; what is absent is left out.
macro_rules! writable {
    ($type:ident $(<$life:lifetime>)? { $($member:ident),+ $(,)? }) => {
        impl $(<$life>)? crate::write::Writable for $type $(<$life>)? {
            fn write(&self, out: &mut crate::write::Writer) {
                out.object(|out| {
                    $(out.member(stringify!($member), &self.$member);)+
                });
            }
        }

    };
}

/// Lets an enum without data be written by its names.
macro_rules! writable_names {
    ($type:ident { $($name:literal => $variant:ident),+ $(,)? }) => {
        impl crate::write::Writable for $type {
            fn write(&self, out: &mut crate::write::Writer) {
                out.name(match self {
                    $($type::$variant => $name,)+
                });
            }
        }
    };
}

/// Users of `serde` get the same as everybody else.
macro_rules! serialize_as_written {
    ($type:ident $(<$life:lifetime>)?) => {
        impl $(<$life>)? serde::Serialize for $type $(<$life>)? {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                crate::write::json_value(self).serialize(serializer)
            }
        }
    };
}

pub(crate) use {serialize_as_written, writable, writable_names};

impl Writable for bool {
    fn write(&self, out: &mut Writer) {
        out.text.push_str(if *self { "true" } else { "false" });
    }
}

impl Writable for i64 {
    fn write(&self, out: &mut Writer) {
        if *self < 0 {
            out.text.push('-');
        }
        push_number(&mut out.text, self.unsigned_abs());
    }
}

impl Writable for u64 {
    fn write(&self, out: &mut Writer) {
        push_number(&mut out.text, *self);
    }
}

impl Writable for u32 {
    fn write(&self, out: &mut Writer) {
        u64::from(*self).write(out);
    }
}

impl Writable for u16 {
    fn write(&self, out: &mut Writer) {
        u64::from(*self).write(out);
    }
}

impl Writable for usize {
    fn write(&self, out: &mut Writer) {
        (*self as u64).write(out);
    }
}

impl Writable for Timestamp {
    fn write(&self, out: &mut Writer) {
        self.as_millis().write(out);
    }
}

impl Writable for str {
    fn write(&self, out: &mut Writer) {
        out.string(self);
    }
}

impl Writable for String {
    fn write(&self, out: &mut Writer) {
        out.string(self);
    }
}

impl Writable for Cow<'_, str> {
    fn write(&self, out: &mut Writer) {
        out.string(self);
    }
}

/// JSON text that was written before.
pub(crate) struct Written<'t>(pub(crate) &'t str);

impl Writable for Written<'_> {
    fn write(&self, out: &mut Writer) {
        out.text.push_str(self.0);
    }
}

impl serde::Serialize for Written<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &serde_json::value::RawValue = serde_json::from_str(self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl Writable for Code {
    fn write(&self, out: &mut Writer) {
        out.name(self.as_str());
    }
}

impl Writable for Value {
    fn write(&self, out: &mut Writer) {
        match self {
            Value::Null => out.text.push_str("null"),
            Value::Bool(flag) => flag.write(out),
            Value::Number(number) => number.write(out),
            Value::String(text) => out.string(text),
            Value::Array(items) => items.write(out),
            Value::Object(members) => members.write(out),
        }
    }
}

impl Writable for Number {
    fn write(&self, out: &mut Writer) {
        match (self.as_u64(), self.as_i64(), self.as_f64()) {
            (Some(whole), _, _) => whole.write(out),
            (None, Some(negative), _) => negative.write(out),
            // As `serde_json` writes it; its own way would bring another for integers.
            (None, None, float) => out.text.push_str(zmij::Buffer::new().format_finite(float.unwrap_or_default())),
        }
    }
}

impl Writable for Map {
    fn write(&self, out: &mut Writer) {
        out.object(|out| {
            for (name, value) in self {
                out.separate();
                out.string(name);
                out.text.push(':');
                value.write(out);
            }
        });
    }
}

impl<T: Writable + ?Sized> Writable for &T {
    fn write(&self, out: &mut Writer) {
        T::write(self, out);
    }
}

impl<T: Writable + ?Sized> Writable for Box<T> {
    fn write(&self, out: &mut Writer) {
        T::write(self, out);
    }
}

impl<T: Writable> Writable for Arc<T> {
    fn write(&self, out: &mut Writer) {
        T::write(self, out);
    }
}

impl<T: Writable> Writable for Option<T> {
    fn write(&self, out: &mut Writer) {
        match self {
            Some(data) => data.write(out),
            None => out.text.push_str("null"),
        }
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T: Writable> Writable for [T] {
    fn write(&self, out: &mut Writer) {
        let mut items = self.iter();
        out.list(&mut || items.next().map(|item| item as &dyn Writable));
    }
}

impl<T: Writable> Writable for Vec<T> {
    fn write(&self, out: &mut Writer) {
        self.as_slice().write(out);
    }
}

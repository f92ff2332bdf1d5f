//! How the validator reads a flat document, in place of a tree of `serde_json`.

use std::borrow::Cow;
use std::sync::OnceLock;

use jsonschema::JsonType;
use jsonschema::json::{self, Array, Json, NodeIdentity, Object};
use jsonschema_value::LazyInstance;
use serde_json::{Number, Value};

use crate::json::{Document, Elements, JsonView, Members, Node};

pub(super) struct TapeJson;

/// Makes the value that a violation is about, of some bytes and a number.
type Make = fn(&[u8], u32) -> Value;

impl Json for TapeJson {
    type Node<'a> = Node<'a>;
    type PreparedKey = Box<str>;
    type StringBuffer = Document<'static>;

    // A name among few is found by going through them, which is what going through all members does too.
    const KEYS_PER_LOOKUP: usize = 2;

    fn prepare_key(key: &str) -> Box<str> {
        key.into()
    }

    fn with_string_node<T>(buffer: &mut Document<'static>, string: &str, f: impl FnOnce(Node<'_>) -> T) -> T {
        buffer.set_string(string);
        f(buffer.root())
    }
}

impl<'a> json::Node<'a, TapeJson> for Node<'a> {
    type Object = Node<'a>;
    type Array = Node<'a>;
    type Number = Number;

    fn as_object(&self) -> Option<Node<'a>> {
        matches!(self.view(), JsonView::Object(_)).then_some(*self)
    }

    fn as_array(&self) -> Option<Node<'a>> {
        matches!(self.view(), JsonView::Array(_)).then_some(*self)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let JsonView::String(text) = self.view() else { return None };
        Some(Cow::Borrowed(text))
    }

    fn as_number(&self) -> Option<Number> {
        self.number()
    }

    fn as_boolean(&self) -> Option<bool> {
        let JsonView::Bool(value) = self.view() else { return None };
        Some(value)
    }

    fn is_null(&self) -> bool {
        matches!(self.view(), JsonView::Null)
    }

    fn is_number(&self) -> bool {
        matches!(self.view(), JsonView::Number)
    }

    fn json_type(&self) -> JsonType {
        match self.view() {
            JsonView::Null => JsonType::Null,
            JsonView::Bool(_) => JsonType::Boolean,
            JsonView::Number => JsonType::Number,
            JsonView::String(_) => JsonType::String,
            JsonView::Array(_) => JsonType::Array,
            JsonView::Object(_) => JsonType::Object,
        }
    }

    /// Without making a tree: an `enum` asks this as often as it has values.
    fn equals_value(&self, expected: &Value) -> bool {
        match (self.view(), expected) {
            (JsonView::Null, Value::Null) => true,
            (JsonView::Bool(one), Value::Bool(other)) => one == *other,
            (JsonView::String(one), Value::String(other)) => one == other,
            (JsonView::Number, Value::Number(_)) => json::cmp::equal(&self.to_value(), expected),
            (JsonView::Array(length), Value::Array(items)) => {
                length == items.len() && self.elements().zip(items).all(|(one, other)| one.equals_value(other))
            }
            (JsonView::Object(length), Value::Object(members)) => {
                let equals = |(name, one): (&str, Node<'_>)| members.get(name).is_some_and(|it| one.equals_value(it));
                length == members.len() && self.members().all(equals)
            }
            _ => false,
        }
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(Node::to_value(*self))
    }

    /// What a violation is about. Messages are without values, but for the names of members and the lengths of arrays:
    /// nothing else is ever made of it, so that a long list of violations of a large value takes no more than its messages.
    fn lazy_value(&self) -> LazyInstance<'a> {
        let (bytes, length, make): (&[u8], usize, Make) = match self.view() {
            JsonView::String(text) => (text.as_bytes(), 0, |text, _| String::from_utf8_lossy(text).into()),
            JsonView::Array(length) => (&[], length, |_, length| (0..length).map(|_| Value::Null).collect()),
            JsonView::Null | JsonView::Bool(_) | JsonView::Number | JsonView::Object(_) => (&[], 0, |_, _| Value::Null),
        };
        let tag = u32::try_from(length).unwrap_or(u32::MAX);
        LazyInstance::Deferred { bytes, tag, make, cell: OnceLock::new() }
    }

    fn identity(&self) -> Option<NodeIdentity> {
        let (document, place) = self.place();
        Some(NodeIdentity::tagged(document.addr(), place))
    }
}

impl<'a> Object<'a, TapeJson> for Node<'a> {
    type Node = Node<'a>;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        let JsonView::Object(members) = self.view() else { return 0 };
        members
    }

    fn get(&self, key: &Box<str>) -> Option<Node<'a>> {
        self.member(key)
    }

    fn members(&self) -> Members<'a> {
        Node::members(*self)
    }
}

impl<'a> Array<'a, TapeJson> for Node<'a> {
    type Node = Node<'a>;
    type ElementsIter = Elements<'a>;

    fn len(&self) -> usize {
        let JsonView::Array(elements) = self.view() else { return 0 };
        elements
    }

    fn elements(&self) -> Elements<'a> {
        Node::elements(*self)
    }
}

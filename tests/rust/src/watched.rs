//! JSON values that count how often a validator looks into them: its real work, without a clock.
//!
//! The validator of the core is generic in how it reads an instance, so the same code that the core runs can be given an
//! instance that counts. Counted is every question about a value, every name and element that is gone through, and
//! every text and every comparison by its length.

use std::borrow::Cow;
use std::cell::Cell;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, SerdeJson};
use serde_json::{Map, Number, Value};

thread_local! {
    static LOOKS: Cell<u64> = const { Cell::new(0) };
}

/// What a check of the instance looks at, and whether it is valid.
#[must_use]
pub fn looks_of(validator: &jsonschema::Validator<Watched>, instance: &Value) -> (u64, bool) {
    LOOKS.set(0);
    let is_valid = validator.is_valid(Watch(instance));
    (LOOKS.get(), is_valid)
}

fn look(times: usize) {
    LOOKS.set(LOOKS.get() + times as u64);
}

fn look_at(text: &str) {
    look(1 + text.len() / BYTES_PER_LOOK);
}

/// The way of reading that counts.
pub struct Watched;

/// A value that counts.
#[derive(Clone, Copy)]
pub struct Watch<'a>(&'a Value);

/// The members of a value that counts.
#[derive(Clone, Copy)]
pub struct WatchedMembers<'a>(&'a Map<String, Value>);

/// The elements of a value that counts.
#[derive(Clone, Copy)]
pub struct WatchedElements<'a>(&'a [Value]);

impl Json for Watched {
    type Node<'a> = Watch<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;
    const KEYS_PER_LOOKUP: usize = SerdeJson::KEYS_PER_LOOKUP;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(buffer: &mut Value, string: &str, f: impl FnOnce(Watch<'_>) -> T) -> T {
        look_at(string);
        *buffer = Value::String(string.to_owned());
        f(Watch(buffer))
    }
}

impl<'a> Node<'a, Watched> for Watch<'a> {
    type Object = WatchedMembers<'a>;
    type Array = WatchedElements<'a>;
    type Number = &'a Number;

    fn as_object(&self) -> Option<WatchedMembers<'a>> {
        look(1);
        self.0.as_object().map(WatchedMembers)
    }

    fn as_array(&self) -> Option<WatchedElements<'a>> {
        look(1);
        self.0.as_array().map(|items| WatchedElements(items))
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        look_at(self.0.as_str().unwrap_or_default());
        self.0.as_str().map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<&'a Number> {
        look(1);
        self.0.as_number()
    }

    fn as_boolean(&self) -> Option<bool> {
        look(1);
        self.0.as_bool()
    }

    fn is_null(&self) -> bool {
        look(1);
        self.0.is_null()
    }

    fn json_type(&self) -> JsonType {
        look(1);
        Node::<SerdeJson>::json_type(&self.0)
    }

    fn equals_value(&self, expected: &Value) -> bool {
        compare(self.0, expected);
        Node::<SerdeJson>::equals_value(&self.0, expected)
    }

    fn to_value(&self) -> Cow<'a, Value> {
        look(1);
        Cow::Borrowed(self.0)
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Node::<SerdeJson>::identity(&self.0)
    }
}

impl<'a> Object<'a, Watched> for WatchedMembers<'a> {
    type Node = Watch<'a>;
    type MemberName = &'a str;
    type MembersIter = Box<dyn Iterator<Item = (&'a str, Watch<'a>)> + 'a>;

    fn len(&self) -> usize {
        look(1);
        self.0.len()
    }

    fn get(&self, key: &String) -> Option<Watch<'a>> {
        look(1);
        self.0.get(key).map(Watch)
    }

    fn members(&self) -> Self::MembersIter {
        Box::new(self.0.iter().map(|(name, member)| {
            look_at(name);
            (name.as_str(), Watch(member))
        }))
    }
}

impl<'a> Array<'a, Watched> for WatchedElements<'a> {
    type Node = Watch<'a>;
    type ElementsIter = Box<dyn Iterator<Item = Watch<'a>> + 'a>;

    fn len(&self) -> usize {
        look(1);
        self.0.len()
    }

    fn elements(&self) -> Self::ElementsIter {
        Box::new(self.0.iter().map(|item| {
            look(1);
            Watch(item)
        }))
    }
}

/// Counts what a comparison looks at: as far as both sides are of one shape.
fn compare(left: &Value, right: &Value) {
    look(1);
    match (left, right) {
        (Value::String(left), Value::String(right)) if left.len() == right.len() => look_at(left),
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            left.iter().zip(right).for_each(|(left, right)| compare(left, right));
        }
        (Value::Object(left), Value::Object(right)) if left.len() == right.len() => {
            for (name, left) in left {
                look_at(name);
                right.get(name).into_iter().for_each(|right| compare(left, right));
            }
        }
        _ => {}
    }
}

const BYTES_PER_LOOK: usize = 16;

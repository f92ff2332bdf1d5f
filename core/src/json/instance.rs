//! What can be asked of a value, whether it is a tree or a flat list.

use serde_json::Number;

use super::Value;

/// A value that a schema is checked against; a cheap handle.
pub(crate) trait Instance<'i>: Copy {
    fn view(self) -> JsonView<'i>;

    fn number(self) -> Option<Number>;

    /// The elements of an array, none of anything else.
    fn elements(self) -> impl Iterator<Item = Self>;

    /// The members of an object, none of anything else.
    fn members(self) -> impl Iterator<Item = (&'i str, Self)>;

    fn member(self, name: &str) -> Option<Self>;
}

/// What a value is, with what can be had of it for nothing.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "flat-documents"), expect(dead_code, reason = "a tree is asked for some of it in other ways"))]
pub(crate) enum JsonView<'i> {
    Null,
    Bool(bool),
    Number,
    String(&'i str),
    /// By the number of its elements.
    Array(usize),
    /// By the number of its members.
    Object(usize),
}

impl<'i> Instance<'i> for &'i Value {
    fn view(self) -> JsonView<'i> {
        match self {
            Value::Null => JsonView::Null,
            Value::Bool(value) => JsonView::Bool(*value),
            Value::Number(_) => JsonView::Number,
            Value::String(text) => JsonView::String(text),
            Value::Array(items) => JsonView::Array(items.len()),
            Value::Object(members) => JsonView::Object(members.len()),
        }
    }

    fn number(self) -> Option<Number> {
        self.as_number().cloned()
    }

    fn elements(self) -> impl Iterator<Item = Self> {
        self.as_array().into_iter().flatten()
    }

    fn members(self) -> impl Iterator<Item = (&'i str, Self)> {
        self.as_object().into_iter().flatten().map(|(name, member)| (name.as_str(), member))
    }

    fn member(self, name: &str) -> Option<Self> {
        self.get(name)
    }
}

/// The parts of a value, with long texts counted by their length; recursion is bounded by the depth of JSON texts.
pub(crate) fn size<'i, I: Instance<'i>>(value: I) -> u64 {
    match value.view() {
        JsonView::Null | JsonView::Bool(_) | JsonView::Number => 1,
        JsonView::String(text) => 1 + text_size(text.len()),
        JsonView::Array(_) => value.elements().map(size).fold(1, u64::saturating_add),
        JsonView::Object(_) => {
            let sizes = value.members().map(|(name, member)| size(member).saturating_add(1 + text_size(name.len())));
            sizes.fold(1, u64::saturating_add)
        }
    }
}

/// What the length of a text adds to its size.
pub(crate) fn text_size(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX / 2) / BYTES_PER_UNIT
}

pub(crate) const BYTES_PER_UNIT: u64 = 16;

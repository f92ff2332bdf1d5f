//! JSON values for builds in which every kilobyte counts: as much of `serde_json`'s as is used here, under the same names.
//!
//! Its maps are hash tables, a thirtieth of what the slim build would download. This one finds a name among many by the
//! bits in which names differ: there is nothing to be guessed or seeded, and no names make it slow.

use serde::ser::{Serialize, Serializer};
use serde_json::Number;

use crate::text::split;

/// Any JSON value.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    String(String),
    /// A list.
    Array(Vec<Value>),
    /// An object.
    Object(Map),
}

impl Value {
    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    pub(crate) fn is_boolean(&self) -> bool {
        matches!(self, Value::Bool(_))
    }

    pub(crate) fn is_string(&self) -> bool {
        matches!(self, Value::String(_))
    }

    pub(crate) fn is_array(&self) -> bool {
        matches!(self, Value::Array(_))
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Value::Object(_))
    }

    /// The boolean that it is.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    /// The text that it is.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The list that it is.
    #[must_use]
    pub fn as_array(&self) -> Option<&Vec<Value>> {
        match self {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The number that it is, if it is a whole one.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number().and_then(Number::as_u64)
    }

    /// The number that it is, if it is a whole one.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number().and_then(Number::as_i64)
    }

    /// The number that it is.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number().and_then(Number::as_f64)
    }

    fn as_number(&self) -> Option<&Number> {
        match self {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The member of this name, if it is an object that has one.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Object(members) => members.get(name),
            _ => None,
        }
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        match self {
            Value::Object(members) => members.get_mut(name),
            _ => None,
        }
    }

    /// What a JSON pointer points to.
    pub(crate) fn pointer(&self, pointer: &str) -> Option<&Value> {
        let mut steps = split(pointer, b'/');
        let begins_well = steps.next()?.is_empty();
        steps.try_fold(self, |value, step| value.step(step)).filter(|_| begins_well)
    }

    fn step(&self, step: &str) -> Option<&Value> {
        match self {
            Value::Object(members) => members.get(&unescaped(step)),
            // The first has the index 0, and no other index begins with it.
            Value::Array(items) if step == "0" || !matches!(step.bytes().next(), Some(b'0' | b'+')) => {
                items.get(usize::try_from(step.parse::<u64>().ok()?).ok()?)
            }
            _ => None,
        }
    }
}

/// A step of a pointer without its escapes.
fn unescaped(step: &str) -> String {
    let mut parts = split(step, b'~');
    let mut name = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (sign, rest) = match part.as_bytes() {
            [b'0', ..] => ('~', 1),
            [b'1', ..] => ('/', 1),
            _ => ('~', 0),
        };
        name.push(sign);
        name.push_str(part.get(rest..).unwrap_or_default());
    }
    name
}

impl From<f64> for Value {
    /// Null, if JSON has no word for it.
    fn from(number: f64) -> Value {
        Number::from_f64(number).map_or(Value::Null, Value::Number)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(flag) => serializer.serialize_bool(*flag),
            Value::Number(number) => number.serialize(serializer),
            Value::String(text) => serializer.serialize_str(text),
            Value::Array(items) => serializer.collect_seq(items),
            Value::Object(members) => serializer.collect_map(members),
        }
    }
}

/// The members of an object, in their order.
#[derive(Clone, Debug, Default)]
pub struct Map {
    members: Vec<(String, Value)>,
    /// How the names of many members differ: a tree with a member at each end. Of few there is none.
    forks: Vec<Fork>,
    /// Where the tree begins.
    root: Side,
}

/// Where names go apart: in one bit of one sign. Further down in the tree it is a later one.
#[derive(Clone, Debug)]
struct Fork {
    bit: usize,
    sides: [Side; 2],
}

/// Where the way goes on.
#[derive(Clone, Copy, Debug)]
enum Side {
    Member(usize),
    Fork(usize),
}

impl Default for Side {
    fn default() -> Side {
        Side::Member(0)
    }
}

impl Fork {
    fn side(&self, name: &str) -> Side {
        let [unset, set] = self.sides;
        if has_bit(name, self.bit) { set } else { unset }
    }
}

impl Map {
    pub(crate) fn new() -> Map {
        Map::default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The member of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.find(name).and_then(|index| self.members.get(index)).map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.find(name).and_then(|index| self.members.get_mut(index)).map(|(_, value)| value)
    }

    pub(crate) fn contains_key(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Puts a member at the end, or in the place of the one that has its name, which is given back.
    pub(crate) fn insert(&mut self, name: String, value: Value) -> Option<Value> {
        if let Some(known) = self.get_mut(&name) {
            return Some(std::mem::replace(known, value));
        }
        self.members.push((name, value));
        if self.members.len() > FEW {
            // The first one is the whole tree before there is a fork.
            for index in self.forks.len() + 1..self.members.len() {
                self.place(index);
            }
        }
        None
    }

    /// Takes a member out; the others keep their order.
    pub(crate) fn shift_remove(&mut self, name: &str) -> Option<Value> {
        let index = self.find(name)?;
        let mut members = std::mem::take(self).members;
        let (_, value) = members.remove(index);
        *self = members.into_iter().collect();
        Some(value)
    }

    /// The members in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.into_iter()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &String> {
        self.members.iter().map(|(name, _)| name)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        self.members.iter().map(|(_, value)| value)
    }

    fn find(&self, name: &str) -> Option<usize> {
        if self.forks.is_empty() {
            return self.members.iter().position(|(known, _)| known == name);
        }
        let nearest = self.nearest(name);
        self.members.get(nearest).filter(|(known, _)| known == name).map(|_| nearest)
    }

    /// The member at the end of a name's way: if any has this name, it is that one.
    fn nearest(&self, name: &str) -> usize {
        let mut side = self.root;
        loop {
            match side {
                Side::Member(index) => return index,
                Side::Fork(fork) => side = self.forks.get(fork).map(|fork| fork.side(name)).unwrap_or_default(),
            }
        }
    }

    /// Adds a member to the tree, at a new fork where it goes apart from the nearest one.
    fn place(&mut self, index: usize) -> Option<()> {
        let (name, _) = self.members.get(index)?;
        let (near, _) = self.members.get(self.nearest(name))?;
        let bit = first_difference(name, near)?;
        let (mut behind, mut before) = (self.root, None);
        while let Side::Fork(index) = behind
            && let Some(fork) = self.forks.get(index).filter(|fork| fork.bit < bit)
        {
            before = Some(index);
            behind = fork.side(name);
        }
        let member = Side::Member(index);
        let sides = if has_bit(name, bit) { [behind, member] } else { [member, behind] };
        let new = Side::Fork(self.forks.len());
        match before.and_then(|index| self.forks.get_mut(index)) {
            Some(Fork { bit, sides: [_, side] }) if has_bit(name, *bit) => *side = new,
            Some(Fork { sides: [side, _], .. }) => *side = new,
            None => self.root = new,
        }
        self.forks.push(Fork { bit, sides });
        Some(())
    }
}

/// A byte of a name, or its end, which differs from every byte.
fn sign(name: &str, at: usize) -> u16 {
    name.as_bytes().get(at).map_or(0, |byte| u16::from(*byte) + 1)
}

/// Bits are counted from the highest of the first sign.
fn has_bit(name: &str, bit: usize) -> bool {
    sign(name, bit / 16) << (bit % 16) & 0x8000 != 0
}

fn first_difference(left: &str, right: &str) -> Option<usize> {
    let at = (0..=left.len()).find(|at| sign(left, *at) != sign(right, *at))?;
    Some(at * 16 + (sign(left, at) ^ sign(right, at)).leading_zeros() as usize)
}

impl PartialEq for Map {
    /// The order does not count.
    fn eq(&self, other: &Map) -> bool {
        self.members.len() == other.members.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

impl FromIterator<(String, Value)> for Map {
    fn from_iter<M: IntoIterator<Item = (String, Value)>>(members: M) -> Map {
        let mut map = Map::new();
        for (name, value) in members {
            map.insert(name, value);
        }
        map
    }
}

impl IntoIterator for Map {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<(String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}

impl<'m> IntoIterator for &'m Map {
    type Item = (&'m String, &'m Value);
    type IntoIter = std::iter::Map<std::slice::Iter<'m, (String, Value)>, fn(&'m (String, Value)) -> Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.iter().map(|(name, value)| (name, value))
    }
}

/// As many names are looked through faster than a way is found among them.
const FEW: usize = 16;

#[cfg(test)]
mod tests;

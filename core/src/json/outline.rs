//! Where everything stands in a JSON text, found in one strict pass, from which serde reads structs. What no struct names
//! is never decoded.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::value::Error;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::scanner::Scanner;
use super::strings::decoded;
use super::{JsonError, trim};

/// A whole text that was read as strictly as [`super::parse_value`] reads it.
pub(crate) struct Outline<'t> {
    text: &'t str,
    /// All values in the order of the text; in an object each behind its key.
    nodes: Vec<Node>,
    /// Whether a key must be decoded before it can be compared.
    has_escaped_key: bool,
}

/// A key or a value.
struct Node {
    start: usize,
    end: usize,
    /// The node behind it and all that is in it. As long as it is open: the node it is in.
    next: usize,
}

/// A key or a value in an outline, to be deserialized.
#[derive(Clone, Copy)]
pub(crate) struct Item<'o> {
    outline: &'o Outline<'o>,
    place: usize,
}

/// What a container holds: the items of an array, or keys and values in turn.
struct Children<'o> {
    next: Item<'o>,
    end: usize,
}

impl<'t> Outline<'t> {
    /// Reads a whole text as one JSON value: strict syntax, no key twice in an object, at most `max_depth` levels.
    pub(crate) fn read(text: &'t str, max_depth: usize) -> Result<Outline<'t>, JsonError> {
        let text = trim(text);
        let mut outline = Outline { text, nodes: Vec::with_capacity(USUAL_NODES), has_escaped_key: false };
        let end = outline.fill(&Scanner::new(text, max_depth), max_depth)?;
        let objects = outline.nodes.iter().enumerate().filter(|(_, node)| outline.first_byte(node) == Some(b'{'));
        match objects.into_iter().any(|(place, _)| outline.repeats_a_key(place)) {
            true => Err(JsonError::DuplicateKey),
            false if end < text.len() => Err(JsonError::Syntax),
            false => Ok(outline),
        }
    }

    /// The value that the text is.
    pub(crate) fn whole(&self) -> Item<'_> {
        Item { outline: self, place: 0 }
    }

    /// Finds all nodes, and returns where the value ends.
    fn fill(&mut self, scanner: &Scanner<'_>, max_depth: usize) -> Result<usize, JsonError> {
        let (mut at, mut depth, mut around) = (0, 0, OUTSIDE);
        'values: loop {
            at = scanner.skip_space(at);
            let start = at;
            if let Some(bracket @ (b'{' | b'[')) = scanner.byte(at) {
                if depth == max_depth {
                    return Err(JsonError::TooDeep);
                }
                depth += 1;
                self.nodes.push(Node { start, end: start, next: around });
                around = self.nodes.len() - 1;
                at = scanner.skip_space(at + 1);
                match (bracket, scanner.byte(at)) {
                    // It ends below.
                    (b'{', Some(b'}')) | (b'[', Some(b']')) => {}
                    (b'{', _) => {
                        at = self.key(scanner, at)?;
                        continue 'values;
                    }
                    _ => continue 'values,
                }
            } else {
                at = scanner.scalar(at).map_err(|(_, fault)| fault)?;
                self.leaf(start..at);
            }
            // A value has ended, or what is around it does.
            while let Some(node) = self.nodes.get(around) {
                at = scanner.skip_space(at);
                match (self.first_byte(node), scanner.byte(at)) {
                    (Some(b'{'), Some(b',')) => {
                        at = self.key(scanner, scanner.skip_space(at + 1))?;
                        continue 'values;
                    }
                    (Some(b'['), Some(b',')) => {
                        at += 1;
                        continue 'values;
                    }
                    (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')) => {
                        at += 1;
                        depth -= 1;
                        around = self.close(around, at);
                    }
                    _ => return Err(JsonError::Syntax),
                }
            }
            return Ok(at);
        }
    }

    /// Reads a key and its colon; returns where its value may begin.
    fn key(&mut self, scanner: &Scanner<'_>, at: usize) -> Result<usize, JsonError> {
        if scanner.byte(at) != Some(b'"') {
            return Err(JsonError::Syntax);
        }
        let end = scanner.string(at).map_err(|(_, fault)| fault)?;
        let colon = scanner.skip_space(end);
        if scanner.byte(colon) != Some(b':') {
            return Err(JsonError::Syntax);
        }
        self.has_escaped_key |= self.text.get(at..end).is_some_and(is_escaped);
        self.leaf(at..end);
        Ok(colon + 1)
    }

    fn leaf(&mut self, Range { start, end }: Range<usize>) {
        self.nodes.push(Node { start, end, next: self.nodes.len() + 1 });
    }

    /// Ends what is open, and returns what is around it.
    fn close(&mut self, place: usize, end: usize) -> usize {
        let next = self.nodes.len();
        let Some(node) = self.nodes.get_mut(place) else { return OUTSIDE };
        node.end = end;
        std::mem::replace(&mut node.next, next)
    }

    /// Many keys are sorted, so that their number does not count twice.
    fn repeats_a_key(&self, object: usize) -> bool {
        if self.has_escaped_key || self.keys(object).nth(FEW_KEYS).is_some() {
            let mut names: Vec<_> = self.keys(object).map(|(key, _)| string(self.raw(key), usize::MAX)).collect();
            names.sort_unstable();
            return names.windows(2).any(|pair| matches!(pair, [one, other] if one == other));
        }
        let mut keys = self.keys(object).map(|(key, _)| key);
        let mut seen = 0;
        keys.any(|key| {
            let mut before = self.keys(object).take(seen).map(|(other, _)| other);
            seen += 1;
            before.any(|other| other.end - other.start == key.end - key.start && self.raw(other) == self.raw(key))
        })
    }

    /// The keys of an object, and where their values are.
    fn keys(&self, object: usize) -> impl Iterator<Item = (&Node, usize)> {
        let end = self.nodes.get(object).map_or(0, |node| node.next);
        let mut place = object + 1;
        std::iter::from_fn(move || {
            let (key, value) = (self.nodes.get(place..end)?.first()?, place + 1);
            place = self.nodes.get(value)?.next;
            Some((key, value))
        })
    }

    fn raw(&self, node: &Node) -> &str {
        self.text.get(node.start..node.end).unwrap_or_default()
    }

    fn first_byte(&self, node: &Node) -> Option<u8> {
        self.text.as_bytes().get(node.start).copied()
    }
}

impl<'o> Item<'o> {
    pub(crate) fn is_object(self) -> bool {
        self.first_byte() == Some(b'{')
    }

    /// The value of a key, if this is an object that has it.
    pub(crate) fn get(self, name: &str) -> Option<Item<'o>> {
        let mut children = self.is_object().then(|| self.children())?;
        while let (Some(key), Some(value)) = (children.next(), children.next()) {
            if key.key() == name {
                return Some(value);
            }
        }
        None
    }

    fn children(self) -> Children<'o> {
        Children { next: Item { place: self.place + 1, ..self }, end: self.node().map_or(0, |node| node.next) }
    }

    /// Keys are rarely escaped, and then it is known that none is.
    fn key(self) -> Cow<'o, str> {
        if self.outline.has_escaped_key {
            return string(self.raw(), usize::MAX).unwrap_or_default();
        }
        let inside = self.node().and_then(|key| self.outline.text.get(key.start + 1..key.end - 1));
        Cow::Borrowed(inside.unwrap_or_default())
    }

    #[inline]
    fn first_byte(self) -> Option<u8> {
        self.node().and_then(|node| self.outline.first_byte(node))
    }

    #[inline]
    fn raw(self) -> &'o str {
        self.node().map(|node| self.outline.raw(node)).unwrap_or_default()
    }

    #[inline]
    fn node(self) -> Option<&'o Node> {
        self.outline.nodes.get(self.place)
    }
}

/// Objects and arrays are visited as ever, all else as the JSON text that it is: what it means is up to the visitor. So is
/// what is read, since it is known where a value ends.
impl<'de> Deserializer<'de> for Item<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.first_byte() {
            Some(b'{') => visitor.visit_map(self.children()),
            Some(b'[') => visitor.visit_seq(self.children()),
            _ => visitor.visit_borrowed_str(self.raw()),
        }
    }

    /// A string is asked for: objects and arrays are visited as JSON text, too.
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_str(self.raw())
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(&self.key())
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum
    }
}

impl<'o> Iterator for Children<'o> {
    type Item = Item<'o>;

    fn next(&mut self) -> Option<Item<'o>> {
        let item = self.next;
        self.next.place = item.node().filter(|_| item.place < self.end)?.next;
        Some(item)
    }
}

impl<'de> SeqAccess<'de> for Children<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        self.next().map(|item| seed.deserialize(item)).transpose()
    }
}

impl<'de> MapAccess<'de> for Children<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        self.next().map(|key| seed.deserialize(key)).transpose()
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        let value = self.next().ok_or_else(|| Error::custom("a key without a value"))?;
        seed.deserialize(value)
    }
}

/// The text that the JSON text of a string stands for: all of it, or a beginning that has at least `enough` bytes. None if
/// it is not the text of a string.
pub(crate) fn string(raw: &str, enough: usize) -> Option<Cow<'_, str>> {
    let inside = raw.strip_prefix('"')?.strip_suffix('"')?;
    Some(if is_escaped(inside) { Cow::Owned(decoded(inside, enough)) } else { Cow::Borrowed(inside) })
}

fn is_escaped(string: &str) -> bool {
    memchr::memchr(b'\\', string.as_bytes()).is_some()
}

/// Around the outermost value.
const OUTSIDE: usize = usize::MAX;
const USUAL_NODES: usize = 32;
const FEW_KEYS: usize = 8;

#[cfg(test)]
mod tests;

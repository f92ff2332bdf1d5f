//! Where everything stands in a JSON text, found in one pass. What nobody asks for is never built.

use std::borrow::Cow;
use std::ops::Range;

use super::Value;
use super::scanner::Scanner;
use super::strings::decoded;
use super::{Fault, build, trim};

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

/// A value in an outline.
#[derive(Clone, Copy)]
pub(crate) struct Item<'o> {
    outline: &'o Outline<'o>,
    place: usize,
}

impl<'t> Outline<'t> {
    /// Reads a whole text as one JSON value: strict syntax, no key twice in an object, at most `max_depth` levels.
    pub(crate) fn read(text: &'t str, max_depth: usize) -> Result<Outline<'t>, Fault> {
        let text = trim(text);
        let mut outline = Outline { text, nodes: Vec::with_capacity(USUAL_NODES), has_escaped_key: false };
        let end = outline.fill(&Scanner::new(text, max_depth), max_depth)?;
        let objects = outline.nodes.iter().enumerate().filter(|(_, node)| outline.first_byte(node) == Some(b'{'));
        match objects.into_iter().any(|(place, _)| outline.repeats_a_key(place)) {
            true => Err(Fault::DuplicateKey),
            false if end < text.len() => Err(Fault::Syntax),
            false => Ok(outline),
        }
    }

    /// The value that the text is.
    pub(crate) fn whole(&self) -> Item<'_> {
        Item { outline: self, place: 0 }
    }

    /// Finds all nodes, and returns where the value ends.
    fn fill(&mut self, scanner: &Scanner<'_>, max_depth: usize) -> Result<usize, Fault> {
        let (mut at, mut depth, mut around) = (0, 0, OUTSIDE);
        'values: loop {
            at = scanner.skip_space(at);
            let start = at;
            if let Some(bracket @ (b'{' | b'[')) = scanner.byte(at) {
                if depth == max_depth {
                    return Err(Fault::TooDeep);
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
                    _ => return Err(Fault::Syntax),
                }
            }
            return Ok(at);
        }
    }

    /// Reads a key and its colon; returns where its value may begin.
    fn key(&mut self, scanner: &Scanner<'_>, at: usize) -> Result<usize, Fault> {
        if scanner.byte(at) != Some(b'"') {
            return Err(Fault::Syntax);
        }
        let end = scanner.string(at).map_err(|(_, fault)| fault)?;
        let colon = scanner.skip_space(end);
        if scanner.byte(colon) != Some(b':') {
            return Err(Fault::Syntax);
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
            let mut names: Vec<_> = self.keys(object).map(|(key, _)| self.string(key, usize::MAX)).collect();
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

    /// What a string stands for: all of it, or a beginning that has at least `enough` bytes.
    fn string(&self, node: &Node, enough: usize) -> Cow<'_, str> {
        let inside = self.text.get(node.start + 1..node.end - 1).unwrap_or_default();
        if is_escaped(inside) { Cow::Owned(decoded(inside, enough)) } else { Cow::Borrowed(inside) }
    }
}

impl<'o> Item<'o> {
    /// The member of an object.
    pub(crate) fn get(self, name: &str) -> Option<Item<'o>> {
        let is_name = |key: &Node| {
            if self.outline.has_escaped_key {
                self.outline.string(key, usize::MAX) == name
            } else {
                self.outline.text.as_bytes().get(key.start + 1..key.end - 1) == Some(name.as_bytes())
            }
        };
        let mut keys = self.outline.keys(self.place).filter(|_| self.is(b'{'));
        keys.find(|(key, _)| is_name(key)).map(|(_, place)| Item { place, ..self })
    }

    /// The names of an object's members.
    pub(crate) fn names(self) -> impl Iterator<Item = Cow<'o, str>> {
        let keys = self.outline.keys(self.place).filter(move |_| self.is(b'{'));
        keys.map(move |(key, _)| self.outline.string(key, usize::MAX))
    }

    /// The items of a list.
    pub(crate) fn items(self) -> Option<impl Iterator<Item = Item<'o>>> {
        let end = self.node().map_or(0, |node| node.next);
        let mut place = self.place + 1;
        let items = std::iter::from_fn(move || {
            let item = Item { place, ..self };
            place = item.node().filter(|_| place < end)?.next;
            Some(item)
        });
        self.is(b'[').then_some(items)
    }

    /// The text that a string stands for.
    pub(crate) fn text(self) -> Option<Cow<'o, str>> {
        self.start_of_text(usize::MAX)
    }

    /// All of a string's text, or a beginning that has at least `enough` bytes.
    pub(crate) fn start_of_text(self, enough: usize) -> Option<Cow<'o, str>> {
        let node = self.node().filter(|_| self.is_string())?;
        Some(self.outline.string(node, enough))
    }

    pub(crate) fn as_u64(self) -> Option<u64> {
        self.raw().parse().ok()
    }

    pub(crate) fn as_i64(self) -> Option<i64> {
        // There is no integer that is less than nothing and nothing.
        self.raw().parse().ok().filter(|_| self.raw() != "-0")
    }

    pub(crate) fn is_true(self) -> bool {
        self.is(b't')
    }

    pub(crate) fn is_null(self) -> bool {
        self.is(b'n')
    }

    pub(crate) fn is_string(self) -> bool {
        self.is(b'"')
    }

    pub(crate) fn is_object(self) -> bool {
        self.is(b'{')
    }

    /// The value itself.
    pub(crate) fn built(self) -> Value {
        // What was read once can be built.
        build(self.raw()).unwrap_or_default()
    }

    fn is(self, first_byte: u8) -> bool {
        self.node().and_then(|node| self.outline.first_byte(node)) == Some(first_byte)
    }

    fn raw(self) -> &'o str {
        self.node().map(|node| self.outline.raw(node)).unwrap_or_default()
    }

    fn node(self) -> Option<&'o Node> {
        self.outline.nodes.get(self.place)
    }
}

fn is_escaped(string: &str) -> bool {
    memchr::memchr(b'\\', string.as_bytes()).is_some()
}

/// Around the outermost value.
const OUTSIDE: usize = usize::MAX;
const USUAL_NODES: usize = 32;
const FEW_KEYS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes and refuses what is taken and refused where values are built.
    #[test]
    fn reads_as_strictly_as_values_are_read() {
        let many = |last: &str| {
            format!("{{{},\"{last}\":0}}", (0..20).map(|n| format!("\"k{n}\":{n}")).collect::<Vec<_>>().join(","))
        };
        for text in [
            " {\"a\" : [ 1 , {} , [ ] , \"x\\n\" ] , \"b\" : { \"a\" : null } } ",
            "[]",
            "-0",
            "",
            "{,}",
            "{\"a\":1,}",
            "{\"a\":1 \"b\":2}",
            "{\"a\" 1}",
            "{1:1}",
            "[1,]",
            "[,1]",
            "[1}",
            "{\"a\":1]",
            "{\"a\":1}}",
            "{\"a\":1} x",
            "[[[[]]]]",
            "[[[[[]]]]]",
            "{\"a\":{\"b\":1,\"b\":2}}",
            "{\"a\":{\"b\":1,\"\\u0062\":2}}",
            "[1e400]",
            &many("k20"),
            &many("k7"),
        ] {
            let built = super::super::parse_value(text, 4);
            assert_eq!(Outline::read(text, 4).map(|outline| outline.whole().built()), built, "{text}");
        }
    }

    #[test]
    fn members_are_found_and_decoded_when_they_are_asked_for() {
        let text = r#"{"a":{"b":[1,"x\u00e9\n",{"c":true}]},"\u0064":-0,"e":7,"f":"plain"}"#;
        let outline = Outline::read(text, 9).unwrap();
        let whole = outline.whole();
        let items: Vec<_> = whole.get("a").and_then(|a| a.get("b")).and_then(Item::items).unwrap().collect();
        assert_eq!((items.len(), items[0].as_u64(), items[1].text().as_deref()), (3, Some(1), Some("xé\n")));
        assert!(
            items[2].get("c").is_some_and(Item::is_true) && items[2].get("d").is_none() && items[0].get("c").is_none()
        );
        assert_eq!((whole.get("d").unwrap().as_i64(), whole.get("e").unwrap().as_i64()), (None, Some(7)));
        assert!(matches!(whole.get("f").unwrap().text(), Some(Cow::Borrowed("plain"))));
    }
}

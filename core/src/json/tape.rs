//! A JSON value as a flat list of its parts, for checking large outputs: no part has memory of its own, and strings and
//! numbers stay where they stand in the text. Only for texts that the scanner has accepted.

use std::borrow::Cow;

use serde_json::Number;

use super::cursor::{Cursor, number};
use super::strings::decoded;
use super::{Instance, JsonError, JsonView, Map, Value, text_size};

/// The JSON text of one value, read.
#[derive(Debug)]
pub struct Document<'t> {
    parts: Tape<'t>,
    /// For each object with many members: where their names are in the list, in the order of the names' texts.
    orders: Vec<u32>,
    size: u64,
}

/// The parts of a value in the order of the text: a container before what it holds, a name before its member.
#[derive(Debug, Default)]
struct Tape<'t> {
    text: &'t str,
    /// What strings with escapes stand for, one behind the other.
    unescaped: String,
    list: Vec<TapeEntry>,
}

#[derive(Clone, Copy, Debug)]
struct TapeEntry {
    kind: Kind,
    /// Where the string or number begins; of an object with many members, where their order does.
    start: u32,
    /// Bytes of a string or number; members or elements of a container.
    length: u32,
    /// What comes behind this part and all that it holds.
    next: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Null,
    True,
    False,
    Number,
    /// A string that stands in the text as it is.
    Plain,
    /// A string with escapes.
    Unescaped,
    Array,
    Object,
}

/// One value in a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'d> {
    document: &'d Document<'d>,
    place: u32,
}

impl<'t> Document<'t> {
    /// Reads a text that the scanner has accepted, and finds the keys that stand twice.
    pub(crate) fn read(scanned: &'t str) -> Result<Document<'t>, JsonError> {
        // Limits are numbers of 32 bits, so nothing longer is ever handed over.
        if u32::try_from(scanned.len()).is_err() {
            return Err(JsonError::TooDeep);
        }
        let parts = Tape { text: scanned, ..Tape::default() };
        let document = Document { parts, orders: Vec::new(), size: 0 };
        let mut reader = Reader { cursor: Cursor::new(scanned), document };
        reader.value()?;
        Ok(reader.document)
    }

    /// The text itself.
    #[must_use]
    pub fn text(&self) -> &'t str {
        self.parts.text
    }

    /// The value that the text stands for.
    #[must_use]
    pub fn value(&self) -> Cow<'_, Value> {
        Cow::Owned(self.root().to_value())
    }

    /// The number of its parts, with long texts counted by their length.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn root(&self) -> Node<'_> {
        Node { document: self, place: 0 }
    }

    /// A document that is one string and nothing else, with the memory of an earlier one.
    pub(crate) fn set_string(&mut self, string: &str) {
        self.parts.list.clear();
        self.parts.unescaped.clear();
        self.parts.unescaped.push_str(string);
        self.parts.push(Kind::Unescaped, 0, string.len());
    }
}

impl Default for Document<'_> {
    /// The document of `null`.
    fn default() -> Self {
        let mut parts = Tape { text: "null", ..Tape::default() };
        parts.push(Kind::Null, 0, 0);
        Document { parts, orders: Vec::new(), size: 1 }
    }
}

impl Tape<'_> {
    fn push(&mut self, kind: Kind, start: usize, length: usize) {
        let next = narrow(self.list.len() + 1);
        self.list.push(TapeEntry { kind, start: narrow(start), length: narrow(length), next });
    }

    fn get(&self, place: u32) -> TapeEntry {
        self.list.get(place as usize).copied().unwrap_or(NOTHING)
    }

    /// The text of the string or number at a place.
    fn text(&self, place: u32) -> &str {
        let part = self.get(place);
        let from = if part.kind == Kind::Unescaped { self.unescaped.as_str() } else { self.text };
        let start = part.start as usize;
        from.get(start..start + part.length as usize).unwrap_or_default()
    }

    /// The place of the name behind the member that this name is for.
    fn next_name(&self, name: u32) -> u32 {
        self.get(name + 1).next
    }
}

struct Reader<'t> {
    cursor: Cursor<'t>,
    document: Document<'t>,
}

impl Reader<'_> {
    /// INVARIANT: the scanner has bounded the depth, so the recursion is bounded too.
    fn value(&mut self) -> Result<(), JsonError> {
        let sign = self.cursor.next_sign();
        self.document.size += 1;
        match sign {
            Some(b'{') => return self.object(),
            Some(b'[') => return self.array(),
            Some(b'"') => return self.string(),
            Some(b't') => self.word(Kind::True, 4),
            Some(b'f') => self.word(Kind::False, 5),
            Some(b'n') => self.word(Kind::Null, 4),
            _ => {
                let start = self.cursor.at;
                let token = self.cursor.number_token().ok_or(JsonError::Syntax)?;
                self.document.parts.push(Kind::Number, start, token.len());
            }
        }
        Ok(())
    }

    fn word(&mut self, kind: Kind, length: usize) {
        self.document.parts.push(kind, self.cursor.at, length);
        self.cursor.at += length;
    }

    fn string(&mut self) -> Result<(), JsonError> {
        let parts = &mut self.document.parts;
        let length = if let Some(plain) = self.cursor.plain_string() {
            parts.push(Kind::Plain, self.cursor.at - 1 - plain.len(), plain.len());
            plain.len()
        } else {
            let start = parts.unescaped.len();
            let raw = self.cursor.raw_string().ok_or(JsonError::Syntax)?;
            parts.unescaped.push_str(&decoded(raw, usize::MAX));
            let length = parts.unescaped.len() - start;
            parts.push(Kind::Unescaped, start, length);
            length
        };
        self.document.size += text_size(length);
        Ok(())
    }

    fn array(&mut self) -> Result<(), JsonError> {
        let place = self.open(Kind::Array);
        let mut elements = 0;
        while self.cursor.another_behind(b']') {
            self.value()?;
            elements += 1;
        }
        self.close(place, elements, 0);
        Ok(())
    }

    fn object(&mut self) -> Result<(), JsonError> {
        let place = self.open(Kind::Object);
        let mut members = 0;
        while self.cursor.another_behind(b'}') {
            self.cursor.next_sign();
            self.document.size += 1;
            self.string()?;
            self.cursor.colon();
            self.value()?;
            members += 1;
        }
        let order = self.document.orders.len();
        let repeats =
            if members <= FEW { self.a_name_of_few_repeats(place, members) } else { self.order(place, members) };
        if repeats {
            return Err(JsonError::DuplicateKey);
        }
        self.close(place, members, order);
        Ok(())
    }

    fn open(&mut self, kind: Kind) -> u32 {
        let parts = &mut self.document.parts;
        parts.push(kind, 0, 0);
        narrow(parts.list.len() - 1)
    }

    fn close(&mut self, place: u32, length: usize, start: usize) {
        let list = &mut self.document.parts.list;
        let next = narrow(list.len());
        if let Some(part) = list.get_mut(place as usize) {
            (part.start, part.length, part.next) = (narrow(start), narrow(length), next);
        }
    }

    fn a_name_of_few_repeats(&self, place: u32, members: usize) -> bool {
        let parts = &self.document.parts;
        let mut names = [0; FEW];
        let mut name = place + 1;
        for slot in names.iter_mut().take(members) {
            *slot = name;
            name = parts.next_name(name);
        }
        let names = names.get(..members).unwrap_or_default();
        names.iter().enumerate().any(|(index, name)| {
            let length = parts.get(*name).length;
            let mut earlier = names.iter().take(index);
            earlier.any(|other| parts.get(*other).length == length && parts.text(*other) == parts.text(*name))
        })
    }

    /// Sorts the names of an object with many members, so that one of them is found quickly; tells whether one repeats.
    fn order(&mut self, place: u32, members: usize) -> bool {
        let Document { parts, orders, .. } = &mut self.document;
        let start = orders.len();
        let mut name = place + 1;
        for _ in 0..members {
            orders.push(name);
            name = parts.next_name(name);
        }
        let order = orders.get_mut(start..).unwrap_or_default();
        order.sort_unstable_by(|one, other| parts.text(*one).cmp(parts.text(*other)));
        order.array_windows().any(|[one, other]| parts.text(*one) == parts.text(*other))
    }
}

impl<'d> Instance<'d> for Node<'d> {
    fn view(self) -> JsonView<'d> {
        let part = self.part();
        match part.kind {
            Kind::Null => JsonView::Null,
            Kind::True => JsonView::Bool(true),
            Kind::False => JsonView::Bool(false),
            Kind::Number => JsonView::Number,
            Kind::Plain | Kind::Unescaped => JsonView::String(self.document.parts.text(self.place)),
            Kind::Array => JsonView::Array(part.length as usize),
            Kind::Object => JsonView::Object(part.length as usize),
        }
    }

    fn number(self) -> Option<Number> {
        match self.part().kind {
            Kind::Number => number(self.document.parts.text(self.place)),
            _ => None,
        }
    }

    fn elements(self) -> impl Iterator<Item = Self> {
        self.all_elements()
    }

    fn members(self) -> impl Iterator<Item = (&'d str, Self)> {
        self.all_members()
    }

    fn member(self, name: &str) -> Option<Self> {
        let part = self.part();
        if part.kind != Kind::Object {
            return None;
        }
        if part.length as usize <= FEW {
            return self.all_members().find(|(known, _)| *known == name).map(|(_, member)| member);
        }
        let start = part.start as usize;
        let order = self.document.orders.get(start..start + part.length as usize)?;
        let found = order.binary_search_by(|known| self.document.parts.text(*known).cmp(name)).ok()?;
        order.get(found).map(|known| Node { place: known + 1, ..self })
    }
}

impl<'d> Node<'d> {
    /// Where the value stands, among those of its document.
    pub(crate) fn place(self) -> (*const Document<'d>, u32) {
        (self.document, self.place)
    }

    /// The elements of an array, none of anything else.
    pub(crate) fn all_elements(self) -> Elements<'d> {
        let left = if self.part().kind == Kind::Array { self.part().length } else { 0 };
        Elements { next: Node { place: self.place + 1, ..self }, left }
    }

    /// The members of an object, none of anything else.
    pub(crate) fn all_members(self) -> Members<'d> {
        let left = if self.part().kind == Kind::Object { self.part().length } else { 0 };
        Members { next: Node { place: self.place + 1, ..self }, left }
    }

    /// The value as a tree.
    pub(crate) fn to_value(self) -> Value {
        match self.view() {
            JsonView::Null => Value::Null,
            JsonView::Bool(value) => Value::Bool(value),
            JsonView::Number => self.number().map_or(Value::Null, Value::Number),
            JsonView::String(text) => Value::String(text.to_owned()),
            JsonView::Array(_) => Value::Array(self.all_elements().map(Node::to_value).collect()),
            JsonView::Object(_) => Value::Object(
                self.all_members().map(|(name, node)| (name.to_owned(), node.to_value())).collect::<Map>(),
            ),
        }
    }

    fn part(self) -> TapeEntry {
        self.document.parts.get(self.place)
    }
}

pub(crate) struct Elements<'d> {
    next: Node<'d>,
    left: u32,
}

impl<'d> Iterator for Elements<'d> {
    type Item = Node<'d>;

    fn next(&mut self) -> Option<Node<'d>> {
        self.left = self.left.checked_sub(1)?;
        let element = self.next;
        self.next.place = element.part().next;
        Some(element)
    }
}

pub(crate) struct Members<'d> {
    next: Node<'d>,
    left: u32,
}

impl<'d> Iterator for Members<'d> {
    type Item = (&'d str, Node<'d>);

    fn next(&mut self) -> Option<(&'d str, Node<'d>)> {
        self.left = self.left.checked_sub(1)?;
        let name = self.next;
        let member = Node { place: name.place + 1, ..name };
        self.next.place = member.part().next;
        Some((name.document.parts.text(name.place), member))
    }
}

/// INVARIANT: every number here is at most the length of a text, which `read` has found to fit.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// So many names are compared with each other faster than they are sorted.
const FEW: usize = 12;
const NOTHING: TapeEntry = TapeEntry { kind: Kind::Null, start: 0, length: 0, next: 0 };

#[cfg(test)]
mod tests;

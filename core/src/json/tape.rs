//! A JSON value as a tape: its parts in the order of the text, found in one strict pass. No part has memory of its own, and
//! strings and numbers stay where they stand in the text.

use serde_json::Number;

use super::scanner::Scanner;
use super::strings::{decoded, end_of_plain};
use super::{JsonError, Map, Value, trim};

/// The JSON text of one value, read.
#[derive(Debug, Default)]
pub(crate) struct Document<'t> {
    text: &'t str,
    /// What strings with escapes stand for, one behind the other.
    unescaped: String,
    /// A container before what it holds, a name before its member.
    tape: Vec<TapeEntry>,
    /// For each object with many members: where their names are on the tape, in the order of the names' texts.
    orders: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct TapeEntry {
    kind: Kind,
    /// Where the string or number begins; of an object with many members, where their order does.
    start: u32,
    /// Bytes of a string or number; members or elements of a container.
    length: u32,
    /// What comes behind this entry and all that it holds. As long as a container is open: the container around it.
    next: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Null,
    Bool,
    Number,
    /// A string that stands in the text as it is.
    Plain,
    /// A string with escapes, as it is written.
    Escaped,
    /// What a string with escapes stands for.
    Unescaped,
    Array,
    Object,
}

/// What becomes of strings with escapes. Names are always decoded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escapes {
    Decode,
    #[cfg(feature = "streams")]
    Keep,
}

/// One value in a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'d> {
    document: &'d Document<'d>,
    place: u32,
}

/// What a value is, with what can be had of it without work.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "flat-documents"), expect(dead_code, reason = "the lengths are for the validator"))]
pub(crate) enum JsonView<'d> {
    Null,
    Bool(bool),
    Number,
    String(&'d str),
    /// By the number of its elements.
    Array(usize),
    /// By the number of its members.
    Object(usize),
}

impl<'t> Document<'t> {
    /// Reads a whole text as one JSON value: strict syntax, no key twice in an object, at most `max_depth` levels.
    pub(crate) fn read(text: &'t str, max_depth: usize, escapes: Escapes) -> Result<Document<'t>, JsonError> {
        let text = trim(text);
        // Limits are numbers of 32 bits, so nothing longer is ever handed over.
        if u32::try_from(text.len()).is_err() {
            return Err(JsonError::TooDeep);
        }
        let tape = Vec::with_capacity(USUAL_ENTRIES);
        let document = Document { text, tape, ..Document::default() };
        let mut reader = Reader { scanner: Scanner::new(text, max_depth), document, escapes, has_repeated_name: false };
        match reader.fill()? {
            end if end < text.len() => Err(JsonError::Syntax),
            _ if reader.has_repeated_name => Err(JsonError::DuplicateKey),
            _ => Ok(reader.document),
        }
    }

    /// Reads a text that the scanner has accepted, and finds the keys that stand twice.
    pub(crate) fn read_scanned(text: &'t str) -> Result<Document<'t>, JsonError> {
        Document::read(text, usize::MAX, Escapes::Decode)
    }

    /// The value that the text stands for.
    pub(crate) fn value(&self) -> Value {
        self.root().to_value()
    }

    pub(crate) fn root(&self) -> Node<'_> {
        Node { document: self, place: 0 }
    }

    /// A document that is one string and nothing else, with the memory of an earlier one.
    #[cfg(feature = "flat-documents")]
    pub(crate) fn set_string(&mut self, string: &str) {
        self.tape.clear();
        self.unescaped.clear();
        self.unescaped.push_str(string);
        self.push(Kind::Unescaped, 0, string.len());
    }

    fn push(&mut self, kind: Kind, start: usize, length: usize) {
        let next = narrow(self.tape.len() + 1);
        self.tape.push(TapeEntry { kind, start: narrow(start), length: narrow(length), next });
    }

    #[inline]
    fn entry(&self, place: u32) -> TapeEntry {
        self.tape.get(place as usize).copied().unwrap_or(NOTHING)
    }

    /// The text of the string or number at a place.
    #[inline]
    fn text_at(&self, place: u32) -> &str {
        let entry = self.entry(place);
        let from = if entry.kind == Kind::Unescaped { self.unescaped.as_str() } else { self.text };
        let start = entry.start as usize;
        from.get(start..start + entry.length as usize).unwrap_or_default()
    }
}

struct Reader<'t> {
    scanner: Scanner<'t>,
    document: Document<'t>,
    escapes: Escapes,
    has_repeated_name: bool,
}

impl Reader<'_> {
    /// Puts the value on the tape, without recursion, and returns where it ends.
    fn fill(&mut self) -> Result<usize, JsonError> {
        let (mut at, mut depth, mut around) = (0, 0, OUTSIDE);
        'values: loop {
            at = self.scanner.skip_space(at);
            if let Some(bracket @ (b'{' | b'[')) = self.scanner.byte(at) {
                if depth == self.scanner.max_depth {
                    return Err(JsonError::TooDeep);
                }
                depth += 1;
                around = self.open(if bracket == b'{' { Kind::Object } else { Kind::Array }, around);
                at = self.scanner.skip_space(at + 1);
                match (bracket, self.scanner.byte(at)) {
                    // It ends below.
                    (b'{', Some(b'}')) | (b'[', Some(b']')) => {}
                    _ => {
                        at = self.begin_item(around, at)?;
                        continue 'values;
                    }
                }
            } else {
                at = self.scalar(at)?;
            }
            // A value has ended, or what is around it does.
            while around != OUTSIDE {
                at = self.scanner.skip_space(at);
                match (self.document.entry(around).kind, self.scanner.byte(at)) {
                    (_, Some(b',')) => {
                        at = self.begin_item(around, self.scanner.skip_space(at + 1))?;
                        continue 'values;
                    }
                    (Kind::Object, Some(b'}')) | (Kind::Array, Some(b']')) => {
                        at += 1;
                        depth -= 1;
                        around = self.close(around);
                    }
                    _ => return Err(JsonError::Syntax),
                }
            }
            return Ok(at);
        }
    }

    /// Counts an element or a member, and reads the member's name. Returns where the value may begin.
    fn begin_item(&mut self, container: u32, at: usize) -> Result<usize, JsonError> {
        let Some(entry) = self.document.tape.get_mut(container as usize) else { return Ok(at) };
        entry.length += 1;
        if entry.kind == Kind::Array {
            return Ok(at);
        }
        if self.scanner.byte(at) != Some(b'"') {
            return Err(JsonError::Syntax);
        }
        let end = self.string(at, Escapes::Decode)?;
        let colon = self.scanner.skip_space(end);
        if self.scanner.byte(colon) == Some(b':') { Ok(colon + 1) } else { Err(JsonError::Syntax) }
    }

    fn scalar(&mut self, start: usize) -> Result<usize, JsonError> {
        let kind = match self.scanner.byte(start) {
            Some(b'"') => return self.string(start, self.escapes),
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        };
        let end = self.scanner.scalar(start).map_err(|(_, error)| error)?;
        self.document.push(kind, start, end - start);
        Ok(end)
    }

    fn string(&mut self, quote: usize, escapes: Escapes) -> Result<usize, JsonError> {
        let document = &mut self.document;
        let start = quote + 1;
        let stop = end_of_plain(document.text.as_bytes(), start);
        if self.scanner.byte(stop) == Some(b'"') {
            document.push(Kind::Plain, start, stop - start);
            return Ok(stop + 1);
        }
        let end = self.scanner.string_end(stop).map_err(|(_, error)| error)?;
        let length = end - 1 - start;
        if escapes == Escapes::Decode {
            let (from, inside) = (document.unescaped.len(), document.text.get(start..start + length));
            document.unescaped.push_str(&decoded(inside.unwrap_or_default(), usize::MAX));
            document.push(Kind::Unescaped, from, document.unescaped.len() - from);
        } else {
            document.push(Kind::Escaped, start, length);
        }
        Ok(end)
    }

    fn open(&mut self, kind: Kind, around: u32) -> u32 {
        let tape = &mut self.document.tape;
        tape.push(TapeEntry { kind, next: around, ..NOTHING });
        narrow(tape.len() - 1)
    }

    /// Ends a container, and returns the one around it.
    fn close(&mut self, place: u32) -> u32 {
        let order = self.document.orders.len();
        if self.document.entry(place).kind == Kind::Object {
            self.has_repeated_name |= self.repeats_a_name(place);
        }
        let next = narrow(self.document.tape.len());
        let Some(entry) = self.document.tape.get_mut(place as usize) else { return OUTSIDE };
        entry.start = narrow(order);
        std::mem::replace(&mut entry.next, next)
    }

    /// Whether a name stands twice. Many names are sorted for it, so that one of them is found quickly later.
    fn repeats_a_name(&mut self, object: u32) -> bool {
        let object = Node { document: &self.document, place: object };
        let count = object.entry().length as usize;
        if count > FEW {
            let mut order: Vec<_> = object.members().map(|(name, member)| (name, member.place - 1)).collect();
            order.sort_unstable();
            let repeats = order.array_windows().any(|[(one, _), (other, _)]| one == other);
            let places: Vec<u32> = order.into_iter().map(|(_, place)| place).collect();
            self.document.orders.extend(places);
            return repeats;
        }
        let mut names = [""; FEW];
        names.iter_mut().zip(object.members()).for_each(|(slot, (name, _))| *slot = name);
        let names = names.get(..count).unwrap_or_default();
        names.iter().enumerate().any(|(index, name)| names.iter().take(index).any(|earlier| earlier == name))
    }
}

impl<'d> Node<'d> {
    #[inline]
    pub(crate) fn view(self) -> JsonView<'d> {
        let entry = self.entry();
        match entry.kind {
            Kind::Null => JsonView::Null,
            Kind::Bool => JsonView::Bool(self.document.text_at(self.place) == "true"),
            Kind::Number => JsonView::Number,
            Kind::Plain | Kind::Escaped | Kind::Unescaped => JsonView::String(self.document.text_at(self.place)),
            Kind::Array => JsonView::Array(entry.length as usize),
            Kind::Object => JsonView::Object(entry.length as usize),
        }
    }

    pub(crate) fn number(self) -> Option<Number> {
        if self.entry().kind != Kind::Number {
            return None;
        }
        serde_json::from_str(self.document.text_at(self.place)).ok()
    }

    /// The elements of an array, none of anything else.
    pub(crate) fn elements(self) -> Elements<'d> {
        let left = if self.entry().kind == Kind::Array { self.entry().length } else { 0 };
        Elements { next: Node { place: self.place + 1, ..self }, left }
    }

    /// The members of an object, none of anything else.
    pub(crate) fn members(self) -> Members<'d> {
        let left = if self.entry().kind == Kind::Object { self.entry().length } else { 0 };
        Members { next: Node { place: self.place + 1, ..self }, left }
    }

    /// The value as a tree. INVARIANT: the depth was bounded when the text was read, so the recursion is bounded too.
    pub(crate) fn to_value(self) -> Value {
        match self.view() {
            JsonView::Null => Value::Null,
            JsonView::Bool(value) => Value::Bool(value),
            JsonView::Number => self.number().map_or(Value::Null, Value::Number),
            JsonView::String(inside) if self.entry().kind == Kind::Escaped => decoded(inside, usize::MAX).into(),
            JsonView::String(text) => text.into(),
            JsonView::Array(_) => Value::Array(self.elements().map(Node::to_value).collect()),
            JsonView::Object(_) => {
                Value::Object(self.members().map(|(name, node)| (name.to_owned(), node.to_value())).collect::<Map>())
            }
        }
    }

    #[inline]
    fn entry(self) -> TapeEntry {
        self.document.entry(self.place)
    }
}

#[cfg(any(feature = "schema-engine", feature = "streams"))]
impl<'d> Node<'d> {
    pub(crate) fn member(self, name: &str) -> Option<Node<'d>> {
        let entry = self.entry();
        if entry.kind != Kind::Object || entry.length as usize <= FEW {
            return self.members().find(|(known, _)| *known == name).map(|(_, member)| member);
        }
        let start = entry.start as usize;
        let order = self.document.orders.get(start..start + entry.length as usize)?;
        let found = order.binary_search_by(|known| self.document.text_at(*known).cmp(name)).ok()?;
        order.get(found).map(|known| Node { place: known + 1, ..self })
    }

    /// The JSON text of a string that is not decoded, a number, a boolean or null.
    #[cfg(feature = "streams")]
    pub(crate) fn scalar_text(self) -> &'d str {
        let TapeEntry { kind, start, length, .. } = self.entry();
        let quote = usize::from(matches!(kind, Kind::Plain | Kind::Escaped));
        let (start, length) = (start as usize, length as usize);
        self.document.text.get(start - quote..start + length + quote).unwrap_or_default()
    }

    /// The number of its parts, with long texts counted by their length.
    #[cfg(feature = "schema-engine")]
    pub(crate) fn size(self) -> u64 {
        let parts = self.document.tape.get(self.place as usize..self.entry().next as usize).unwrap_or_default();
        let is_string = |part: &TapeEntry| matches!(part.kind, Kind::Plain | Kind::Escaped | Kind::Unescaped);
        let texts = parts.iter().map(|part| if is_string(part) { u64::from(part.length) / BYTES_PER_UNIT } else { 0 });
        texts.fold(u64::try_from(parts.len()).unwrap_or(u64::MAX), u64::saturating_add)
    }

    /// Where the value stands, among those of its document.
    #[cfg(feature = "flat-documents")]
    pub(crate) fn place(self) -> (*const Document<'d>, u32) {
        (self.document, self.place)
    }
}

pub(crate) struct Elements<'d> {
    next: Node<'d>,
    left: u32,
}

impl<'d> Iterator for Elements<'d> {
    type Item = Node<'d>;

    #[inline]
    fn next(&mut self) -> Option<Node<'d>> {
        self.left = self.left.checked_sub(1)?;
        let element = self.next;
        self.next.place = element.entry().next;
        Some(element)
    }
}

pub(crate) struct Members<'d> {
    next: Node<'d>,
    left: u32,
}

impl<'d> Iterator for Members<'d> {
    type Item = (&'d str, Node<'d>);

    #[inline]
    fn next(&mut self) -> Option<(&'d str, Node<'d>)> {
        self.left = self.left.checked_sub(1)?;
        let name = self.next;
        let member = Node { place: name.place + 1, ..name };
        self.next.place = member.entry().next;
        Some((name.document.text_at(name.place), member))
    }
}

/// What the length of a text adds to its size.
#[cfg(feature = "schema-engine")]
pub(crate) fn text_size(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX / 2) / BYTES_PER_UNIT
}

/// INVARIANT: every number here is at most the length of a text, which `read` has found to fit.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(feature = "schema-engine")]
pub(crate) const BYTES_PER_UNIT: u64 = 16;
/// So many names are compared with each other faster than they are sorted.
const FEW: usize = 12;
const USUAL_ENTRIES: usize = 32;
/// Around the outermost value.
const OUTSIDE: u32 = u32::MAX;
const NOTHING: TapeEntry = TapeEntry { kind: Kind::Null, start: 0, length: 0, next: 0 };

#[cfg(test)]
mod tests;

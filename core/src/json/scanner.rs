//! A strict reader of JSON that builds nothing and knows where it failed.

use std::ops::Range;

use super::JsonError;
use super::strings::{decoded, end_of_simple};

/// A value that [`Scanner`] read to its end, and what stands at its top level if it is an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Where the value ends.
    pub(crate) end: usize,
    /// How many members the object has.
    pub(crate) members: usize,
    /// The top-level keys that mean something to the reader of evidence, and where the member stands.
    pub(crate) known: Vec<Member>,
}

impl Shape {
    pub(crate) fn member(&self, name: &str) -> Option<&Member> {
        self.known.iter().find(|member| member.name == name)
    }
}

/// One top-level member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: &'static str,
    /// Where its key begins.
    pub(crate) key: usize,
    /// The text of the value.
    pub(crate) value: Range<usize>,
}

/// Where and why a text stopped being JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScanError {
    /// The first byte that does not fit; nothing before it needs to be read again.
    pub(crate) at: usize,
    pub(crate) error: JsonError,
}

/// A strict reader that builds nothing: one pass, no recursion, and it knows where it failed.
#[derive(Default)]
pub(crate) struct Scanner<'t> {
    text: &'t str,
    bytes: &'t [u8],
    pub(super) max_depth: usize,
    /// Top-level keys worth remembering.
    wanted: &'static [&'static str],
    open: Vec<Container>,
    /// The wanted members of the last value, if it broke.
    before_break: Vec<Member>,
    /// Bytes read so far, over all values: the measure of work.
    pub(crate) steps: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    Object,
    Array,
}

/// What may come next.
#[derive(Clone, Copy)]
enum Expect {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    CommaOrEnd,
}

impl<'t> Scanner<'t> {
    pub(crate) fn new(text: &'t str, max_depth: usize) -> Scanner<'t> {
        Scanner { text, bytes: text.as_bytes(), max_depth, ..Scanner::default() }
    }

    /// Remembers these keys when they stand at the top level of an object.
    pub(crate) fn wanting(mut self, wanted: &'static [&'static str]) -> Scanner<'t> {
        self.wanted = wanted;
        self
    }

    /// Reads the value that starts at `start`.
    pub(crate) fn value(&mut self, start: usize) -> Result<Shape, ScanError> {
        self.open.clear();
        let mut shape = Shape::default();
        let result = self.scan(start, &mut shape);
        let end = result.unwrap_or_else(|(at, _)| at);
        self.steps += (end - start) as u64 + 1;
        match result {
            Ok(end) => Ok(Shape { end, ..shape }),
            Err((at, error)) => {
                self.before_break = shape.known;
                Err(ScanError { at: at.max(start + 1).min(self.bytes.len()), error })
            }
        }
    }

    /// The wanted top-level members that were read before the last value broke. One whose value had not ended has none.
    pub(crate) fn members_before_break(&self) -> &[Member] {
        &self.before_break
    }

    /// What was still open where the last value broke, the outermost first.
    pub(crate) fn still_open(&self) -> &[Container] {
        &self.open
    }

    fn scan(&mut self, start: usize, shape: &mut Shape) -> Result<usize, (usize, JsonError)> {
        let mut at = start;
        let mut expect = Expect::Value;
        let mut is_wanted = false;
        loop {
            at = self.skip_space(at);
            let byte = self.byte(at);
            match (expect, byte) {
                (Expect::KeyOrEnd | Expect::CommaOrEnd, Some(b'}')) if self.inside(Container::Object) => {
                    self.open.pop();
                    at += 1;
                    expect = Expect::CommaOrEnd;
                }
                (Expect::ValueOrEnd | Expect::CommaOrEnd, Some(b']')) if self.inside(Container::Array) => {
                    self.open.pop();
                    at += 1;
                    expect = Expect::CommaOrEnd;
                }
                (Expect::CommaOrEnd, Some(b',')) => {
                    at += 1;
                    expect = if self.inside(Container::Object) { Expect::Key } else { Expect::Value };
                    continue;
                }
                (Expect::Key | Expect::KeyOrEnd, Some(b'"')) => {
                    let (key, end) = (at, self.string_end(at + 1)?);
                    let colon = self.skip_space(end);
                    if self.byte(colon) != Some(b':') {
                        return Err((colon, JsonError::Syntax));
                    }
                    at = colon + 1;
                    expect = Expect::Value;
                    if self.open.len() == 1 {
                        shape.members += 1;
                        let name = self.wanted_name(key..end);
                        is_wanted = name.is_some();
                        let value = self.skip_space(at);
                        shape.known.extend(name.map(|name| Member { name, key, value: value..value }));
                    }
                    continue;
                }
                (Expect::Value | Expect::ValueOrEnd, Some(b'{' | b'[')) => {
                    if self.open.len() >= self.max_depth {
                        return Err((at, JsonError::TooDeep));
                    }
                    let object = byte == Some(b'{');
                    self.open.push(if object { Container::Object } else { Container::Array });
                    expect = if object { Expect::KeyOrEnd } else { Expect::ValueOrEnd };
                    at += 1;
                    continue;
                }
                (Expect::Value | Expect::ValueOrEnd, Some(_)) => {
                    at = self.scalar(at)?;
                    expect = Expect::CommaOrEnd;
                }
                _ => return Err((at, JsonError::Syntax)),
            }
            // A value has just ended.
            if self.open.is_empty() {
                return Ok(at);
            }
            if self.open.len() == 1
                && std::mem::take(&mut is_wanted)
                && let Some(member) = shape.known.last_mut()
            {
                member.value.end = at;
            }
        }
    }

    fn wanted_name(&self, key: Range<usize>) -> Option<&'static str> {
        let quoted = self.text.get(key)?;
        let raw = quoted.get(1..quoted.len() - 1)?;
        // Keys are compared after decoding: `"__SKILL\u005fDONE__"` is the marker's key.
        let decoded = raw.contains('\\').then(|| decoded(raw, usize::MAX));
        self.wanted.iter().copied().find(|name| *name == decoded.as_deref().unwrap_or(raw))
    }

    pub(super) fn scalar(&self, at: usize) -> Result<usize, (usize, JsonError)> {
        match self.byte(at) {
            Some(b'"') => self.string_end(at + 1),
            Some(b'-' | b'0'..=b'9') => self.number(at),
            Some(b't') => self.word(at, "true"),
            Some(b'f') => self.word(at, "false"),
            Some(b'n') => self.word(at, "null"),
            _ => Err((at, JsonError::Syntax)),
        }
    }

    fn word(&self, at: usize, word: &str) -> Result<usize, (usize, JsonError)> {
        let end = at + word.len();
        if self.bytes.get(at..end) == Some(word.as_bytes()) { Ok(end) } else { Err((at, JsonError::Syntax)) }
    }

    /// Where a string ends, read from a place inside it.
    pub(super) fn string_end(&self, inside: usize) -> Result<usize, (usize, JsonError)> {
        let mut at = inside;
        loop {
            at = end_of_simple(self.bytes, at);
            match self.byte(at) {
                Some(b'"') => return Ok(at + 1),
                Some(b'\\') => at = self.escape(at)?,
                Some(_) | None => return Err((at, JsonError::Syntax)),
            }
        }
    }

    fn escape(&self, at: usize) -> Result<usize, (usize, JsonError)> {
        match self.byte(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
            Some(b'u') => match self.hex(at + 2) {
                Some(0xd800..=0xdbff) => match (self.bytes.get(at + 6..at + 8), self.hex(at + 8)) {
                    (Some(b"\\u"), Some(0xdc00..=0xdfff)) => Ok(at + 12),
                    _ => Err((at, JsonError::LoneSurrogate)),
                },
                Some(0xdc00..=0xdfff) => Err((at, JsonError::LoneSurrogate)),
                Some(_) => Ok(at + 6),
                None => Err((at, JsonError::Syntax)),
            },
            _ => Err((at, JsonError::Syntax)),
        }
    }

    fn hex(&self, at: usize) -> Option<u32> {
        let digits = self.text.get(at..at + 4)?;
        if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) { u32::from_str_radix(digits, 16).ok() } else { None }
    }

    fn number(&self, start: usize) -> Result<usize, (usize, JsonError)> {
        let mut at = start;
        if self.byte(at) == Some(b'-') {
            at += 1;
        }
        at = match self.byte(at) {
            Some(b'0') => at + 1,
            Some(b'1'..=b'9') => self.digits(at),
            _ => return Err((at, JsonError::Syntax)),
        };
        let whole = at;
        if self.byte(at) == Some(b'.') {
            at = self.at_least_one_digit(at + 1)?;
        }
        let has_power = matches!(self.byte(at), Some(b'e' | b'E'));
        if has_power {
            let sign = usize::from(matches!(self.byte(at + 1), Some(b'+' | b'-')));
            at = self.at_least_one_digit(at + 1 + sign)?;
        }
        let token = self.text.get(start..at).unwrap_or_default();
        let is_held = if at == whole {
            // Nearly every integer is shorter than the shortest that is too large.
            token.len() < 19 || token.parse::<i64>().is_ok() || token.parse::<u64>().is_ok()
        } else {
            // Without a power of ten it takes more than 300 digits to be too large for a double.
            (!has_power && token.len() <= 300) || serde_json::from_str::<f64>(token).is_ok()
        };
        if is_held { Ok(at) } else { Err((start, JsonError::NumberOutOfRange)) }
    }

    fn at_least_one_digit(&self, at: usize) -> Result<usize, (usize, JsonError)> {
        let end = self.digits(at);
        if end > at { Ok(end) } else { Err((at, JsonError::Syntax)) }
    }

    #[inline]
    fn digits(&self, from: usize) -> usize {
        self.skip(from, |byte| byte.is_ascii_digit())
    }

    #[inline]
    pub(super) fn skip_space(&self, from: usize) -> usize {
        self.skip(from, |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
    }

    #[inline]
    fn skip(&self, from: usize, passes: impl Fn(u8) -> bool) -> usize {
        let mut at = from;
        while self.byte(at).is_some_and(&passes) {
            at += 1;
        }
        at
    }

    fn inside(&self, container: Container) -> bool {
        self.open.last() == Some(&container)
    }

    #[inline]
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }
}

#[cfg(test)]
mod tests;

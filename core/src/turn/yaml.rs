//! The part of YAML that questions are written in (PEND-8), read into a value. All else that YAML has makes a block
//! unreadable; what is read means what YAML says it means.

mod flow;
mod scalars;
#[cfg(test)]
mod tests;

use self::scalars::Context;
use crate::json::json_text;
use crate::json::{Map, Value};
use crate::text::{split, trim_start};

/// Reads the first document of a block, if it is a mapping.
///
/// No byte is looked at more than a few times, and nothing calls itself deeper than a document may nest.
pub(crate) fn read_mapping(block: &str) -> Option<Map> {
    let mut text = String::with_capacity(block.len());
    for line in split(block, b'\n') {
        text.push_str(line.strip_suffix('\r').unwrap_or(line));
        text.push('\n');
    }
    text.pop();
    if text.chars().any(|char| char == '\u{feff}' || char < ' ' && char != '\n' && char != '\t') {
        return None;
    }
    let mut reader = Reader { text: first_document(&text)?, at: 0, line: 0 };
    reader.skip()?;
    match reader.node(0, 0)? {
        Value::Object(members) if reader.peek().is_none() => Some(members),
        _ => None,
    }
}

/// What stands between the markers of the first document.
fn first_document(text: &str) -> Option<&str> {
    let (mut start, mut end, mut has_begun) = (0, 0, false);
    for line in split(text, b'\n') {
        let (is_start, is_end) = (is_marker(line, "---"), is_marker(line, "..."));
        if (is_end || is_start && !has_begun) && says_something(line.get(3..)?) {
            return None;
        }
        if is_end || is_start && has_begun {
            break;
        }
        end = text.len().min(end + line.len() + 1);
        if is_start {
            start = end;
        }
        has_begun |= says_something(line);
    }
    text.get(start..end)
}

fn says_something(line: &str) -> bool {
    !matches!(trim_start(line, b" ").bytes().next(), None | Some(b'\n' | b'#'))
}

fn is_marker(line: &str, marker: &str) -> bool {
    line.strip_prefix(marker).is_some_and(|behind| matches!(behind.bytes().next(), None | Some(b' ' | b'\t' | b'\n')))
}

struct Reader<'text> {
    text: &'text str,
    at: usize,
    /// Where the line begins.
    line: usize,
}

/// What a node is a part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parent {
    Mapping,
    Sequence,
}

/// Blocks. Each function begins at its node and ends at the next one, which stands on another line. `least` is the first
/// column in which a node's further lines may begin.
impl Reader<'_> {
    fn node(&mut self, least: usize, depth: usize) -> Option<Value> {
        let (start, line) = (self.at, self.line);
        match self.peek()? {
            b'-' if self.is_blank(1) => return self.sequence(depth),
            b'[' | b'{' | b'|' | b'>' => return self.inline(least, depth),
            _ => {}
        }
        let scalar = self.scalar(least, Context::Block)?;
        if self.is_at_colon() {
            let key = self.key(scalar, start, line)?;
            return self.mapping(start - line, key, depth);
        }
        self.end_line()?;
        Some(scalar)
    }

    fn mapping(&mut self, column: usize, first: String, depth: usize) -> Option<Value> {
        let depth = deeper(depth)?;
        let (mut members, mut key) = (Map::new(), first);
        loop {
            let value = self.child(column, Parent::Mapping, depth)?;
            if members.insert(key, value).is_some() {
                return None;
            }
            if self.peek().is_none() || self.column() < column {
                return Some(Value::Object(members));
            }
            let (start, line) = (self.at, self.line);
            let scalar = self.scalar(column + 1, Context::Block)?;
            if start - line != column || !self.is_at_colon() {
                return None;
            }
            key = self.key(scalar, start, line)?;
        }
    }

    fn sequence(&mut self, depth: usize) -> Option<Value> {
        let (column, depth) = (self.column(), deeper(depth)?);
        let mut items = Vec::new();
        while self.column() == column && self.peek() == Some(b'-') && self.is_blank(1) {
            items.push(self.child(column, Parent::Sequence, depth)?);
        }
        // What stands further in belongs to nothing.
        (self.peek().is_none() || self.column() <= column).then_some(Value::Array(items))
    }

    /// The node behind the colon or dash that stands here.
    fn child(&mut self, column: usize, parent: Parent, depth: usize) -> Option<Value> {
        self.at += 1;
        let (mut is_below, mut is_alone) = (self.skip()?, parent == Parent::Mapping);
        if !is_below && self.properties()? {
            is_below = self.skip()?;
            is_alone = true;
        }
        let is_inside = self.column() > column;
        match self.peek() {
            Some(_) if !is_below && is_alone => self.inline(column + 1, depth),
            Some(_) if is_inside => self.node(column + 1, depth),
            // The items of a member may stand below its key.
            Some(b'-') if parent == Parent::Mapping && self.column() == column && self.is_blank(1) => {
                self.sequence(depth)
            }
            _ => Some(Value::Null),
        }
    }

    /// A node that is neither a mapping nor a sequence in block form.
    fn inline(&mut self, least: usize, depth: usize) -> Option<Value> {
        let value = match self.peek()? {
            b'[' | b'{' => self.flow(least, depth)?,
            b'|' | b'>' => Value::String(self.lines(least)?),
            _ => self.scalar(least, Context::Block)?,
        };
        self.end_line()?;
        Some(value)
    }

    /// Goes over an anchor and a tag, which change nothing here; whether there is one.
    fn properties(&mut self) -> Option<bool> {
        let (mut has_anchor, mut has_tag) = (false, false);
        while let Some(sign @ (b'&' | b'!')) = self.peek() {
            let rest = self.rest();
            let length = rest.bytes().position(|byte| matches!(byte, b' ' | b'\n')).unwrap_or(rest.len());
            let word = rest.get(..length)?;
            let name = word.strip_prefix("!!").or(word.get(1..))?;
            let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':' | b'/');
            let is_there = if sign == b'&' { &mut has_anchor } else { &mut has_tag };
            if *is_there || name.is_empty() || !name.bytes().all(is_name) {
                return None;
            }
            *is_there = true;
            self.at += word.len();
            self.skip_in_line();
        }
        Some(has_anchor || has_tag)
    }

    /// The text of a key that began there, in this line.
    fn key(&self, key: Value, start: usize, line: usize) -> Option<String> {
        if self.line != line || self.at - start > MAX_KEY_BYTES {
            return None;
        }
        match key {
            Value::String(text) => Some(text),
            Value::Bool(_) | Value::Number(_) | Value::Null => Some(json_text(&key)),
            Value::Array(_) | Value::Object(_) => None,
        }
    }
}

/// Steps.
impl<'text> Reader<'text> {
    fn rest(&self) -> &'text str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.byte(0)
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn column(&self) -> usize {
        self.at - self.line
    }

    fn is_blank(&self, ahead: usize) -> bool {
        matches!(self.byte(ahead), None | Some(b' ' | b'\n'))
    }

    fn is_in_flow(&self, ahead: usize) -> bool {
        matches!(self.byte(ahead), Some(b',' | b'[' | b']' | b'{' | b'}'))
    }

    fn is_at_quote(&self) -> bool {
        matches!(self.peek(), Some(b'"' | b'\''))
    }

    /// Whether a colon comes next that makes what was before it a key.
    fn is_at_colon(&mut self) -> bool {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
        self.peek() == Some(b':') && self.is_blank(1)
    }

    /// Goes over blanks and line breaks, and counts the breaks. A tab is never a blank.
    fn skip_breaks(&mut self) -> Option<usize> {
        let mut breaks = 0;
        loop {
            match self.peek() {
                Some(b' ') => self.at += 1,
                Some(b'\n') => {
                    self.at += 1;
                    self.line = self.at;
                    breaks += 1;
                }
                Some(b'\t') => return None,
                _ => return Some(breaks),
            }
        }
    }

    /// Goes over blanks and a comment.
    fn skip_in_line(&mut self) {
        let rest = self.rest();
        let behind = trim_start(rest, b" ");
        self.at += rest.len() - behind.len();
        let is_apart = self.at == self.line || self.text.as_bytes().get(self.at - 1) == Some(&b' ');
        if behind.starts_with('#') && is_apart {
            self.at += memchr::memchr(b'\n', behind.as_bytes()).unwrap_or(behind.len());
        }
    }

    /// Goes over blanks, comments and line breaks; whether there was a break.
    fn skip(&mut self) -> Option<bool> {
        let line = self.line;
        loop {
            self.skip_in_line();
            if self.skip_breaks()? == 0 {
                return Some(self.line > line);
            }
        }
    }

    /// Goes to what comes next in a flow. Its end may stand below the line that it began on.
    fn skip_in_flow(&mut self, least: usize) -> Option<()> {
        let is_below = self.skip()?;
        let is_end = matches!(self.peek(), Some(b']' | b'}'));
        (!is_below || self.column() + usize::from(is_end) >= least).then_some(())
    }

    /// Goes to the next line that says something; nothing else may stand on this one.
    fn end_line(&mut self) -> Option<()> {
        (self.skip()? || self.peek().is_none()).then_some(())
    }
}

fn deeper(depth: usize) -> Option<usize> {
    (depth < MAX_DEPTH).then_some(depth + 1)
}

const MAX_DEPTH: usize = 16;
/// YAML has no longer keys.
const MAX_KEY_BYTES: usize = 1000;

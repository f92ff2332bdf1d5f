//! The YAML that questions are written in (PEND-8): what the parser reads, without aliases, directives and nested keys.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput};

use crate::json::{Map, Value};

/// Reads the first document of a block, if it is a mapping.
pub(crate) fn read_mapping(block: &str) -> Option<Map> {
    if block.len() > MAX_BYTES {
        return None;
    }
    let mut reader = Reader(Parser::new_from_str(block));
    let (Event::StreamStart, _) = reader.next()? else { return None };
    let (Event::DocumentStart(_), span) = reader.next()? else { return None };
    if has_directive(block, span.start.index()) {
        return None;
    }
    let (root, _) = reader.next()?;
    let Value::Object(members) = reader.node(root, 0)? else { return None };
    // Content that belongs to no document is an error only in the event behind the end of this one.
    let (Event::DocumentEnd, _) = reader.next()? else { return None };
    reader.next()?;
    Some(members)
}

struct Reader<'t>(Parser<'t, StrInput<'t>>);

impl<'t> Reader<'t> {
    fn next(&mut self) -> Option<(Event<'t>, Span)> {
        self.0.next_event()?.ok()
    }

    fn node(&mut self, event: Event<'t>, depth: usize) -> Option<Value> {
        match event {
            Event::Scalar(text, style, ..) => Some(scalar(text, style)),
            Event::SequenceStart(..) if depth < MAX_DEPTH => self.sequence(depth + 1),
            Event::MappingStart(..) if depth < MAX_DEPTH => self.mapping(depth + 1),
            _ => None,
        }
    }

    fn sequence(&mut self, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        loop {
            match self.next()?.0 {
                Event::SequenceEnd => return Some(Value::Array(items)),
                item => items.push(self.node(item, depth)?),
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Option<Value> {
        let mut members = Map::new();
        loop {
            let key = match self.next()?.0 {
                Event::MappingEnd => return Some(Value::Object(members)),
                Event::Scalar(text, style, ..) => scalar(text, style),
                _ => return None,
            };
            let key = if let Value::String(text) = key { text } else { key.to_string() };
            let value = self.next()?.0;
            let value = self.node(value, depth)?;
            if members.insert(key, value).is_some() {
                return None;
            }
        }
    }
}

/// The null, booleans and decimal integers of the core schema; everything else is text.
fn scalar(text: Cow<'_, str>, style: ScalarStyle) -> Value {
    match &*text {
        _ if style != ScalarStyle::Plain => Value::String(text.into_owned()),
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        plain => match plain.parse::<i64>() {
            Ok(number) => Value::Number(number.into()),
            Err(_) => Value::String(text.into_owned()),
        },
    }
}

/// Whether a directive stands before the document, which begins at that character. The parser has no event for it.
fn has_directive(block: &str, start: usize) -> bool {
    let before: String = block.chars().take(start).collect();
    before.split(['\n', '\r']).any(|line| line.trim_start_matches('\u{feff}').starts_with('%'))
}

const MAX_BYTES: usize = 64 * 1024;
/// The parser keeps its own state of nested nodes on the heap, so this is also how deep the reader calls itself.
const MAX_DEPTH: usize = 16;

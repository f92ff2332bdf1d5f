//! Scalars in all their forms. Each function ends directly behind its node.

use super::Reader;
use crate::json::Value;
use crate::text::{integer, split, split_once, trim_end};

/// Where a scalar stands; brackets and commas end it in a flow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    Block,
    Flow,
}

impl Reader<'_> {
    pub(super) fn scalar(&mut self, least: usize, context: Context) -> Option<Value> {
        if self.is_at_quote() {
            return self.quoted(least).map(Value::String);
        }
        let text = self.plain(least, context)?;
        // The core schema of YAML, as far as a question needs it.
        Some(match text.as_str() {
            "~" | "null" | "Null" | "NULL" => Value::Null,
            "true" | "True" | "TRUE" => Value::Bool(true),
            "false" | "False" | "FALSE" => Value::Bool(false),
            _ => integer(&text).map_or(Value::String(text), |number| Value::Number(number.into())),
        })
    }

    fn plain(&mut self, least: usize, context: Context) -> Option<String> {
        match self.peek()? {
            b'-' | b'?' | b':' if self.is_blank(1) || context == Context::Flow && self.is_in_flow(1) => return None,
            b'\n' | b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'%' | b'@' | b'`' => {
                return None;
            }
            _ => {}
        }
        let mut text = String::new();
        loop {
            let words = self.plain_words(context)?;
            // Readers do not agree on a dash by itself.
            if context == Context::Flow && (words == "-" || words.ends_with(" -")) {
                return None;
            }
            text.push_str(words);
            self.at += words.len();
            let (end, line) = (self.at, self.line);
            let breaks = self.skip_breaks()?;
            if breaks == 0 || self.column() < least || self.plain_words(context)?.is_empty() {
                (self.at, self.line) = (end, line);
                return Some(text);
            }
            push_breaks(&mut text, breaks, true);
        }
    }

    /// What belongs to a plain scalar on this line.
    fn plain_words(&self, context: Context) -> Option<&str> {
        let rest = self.rest();
        let mut before = b' ';
        let mut bytes = rest.bytes().enumerate();
        let end = bytes.find(|&(at, byte)| {
            let ends = match byte {
                b'\n' | b'\t' => true,
                b'#' => before == b' ',
                b':' => self.is_blank(at + 1) || context == Context::Flow && self.is_in_flow(at + 1),
                b',' | b'[' | b']' | b'{' | b'}' => context == Context::Flow,
                _ => false,
            };
            before = byte;
            ends
        });
        match end {
            // A tab can be a blank or a part of the text.
            Some((_, b'\t')) => None,
            Some((at, _)) => Some(trim_end(rest.get(..at)?, b" ")),
            None => Some(trim_end(rest, b" ")),
        }
    }

    fn quoted(&mut self, least: usize) -> Option<String> {
        let quote = self.peek()?;
        self.at += 1;
        let (mut text, mut kept) = (String::new(), 0);
        loop {
            let rest = self.rest();
            let length = rest.bytes().position(|byte| byte == quote || byte == b'\n' || byte == b'\\')?;
            text.push_str(rest.get(..length)?);
            self.at += length;
            if self.peek()? == b'\n' {
                let end = trim_end(text.get(kept..)?, b" \t").len();
                text.truncate(kept + end);
                let breaks = self.further_line(least)?;
                push_breaks(&mut text, breaks, true);
                kept = text.len();
                continue;
            }
            let sign = self.peek()?;
            self.at += 1;
            match (sign, self.peek()) {
                (b'\\', Some(b'\n')) if quote == b'"' => {
                    let breaks = self.further_line(least)?;
                    push_breaks(&mut text, breaks - 1, false);
                }
                (b'\\', _) if quote == b'"' => text.push(self.escaped()?),
                (b'\\', _) => text.push('\\'),
                (b'\'', Some(b'\'')) => {
                    self.at += 1;
                    text.push('\'');
                }
                _ => return Some(text),
            }
            kept = text.len();
        }
    }

    /// Goes to where a scalar goes on, and counts the line breaks before it.
    fn further_line(&mut self, least: usize) -> Option<usize> {
        let breaks = self.skip_breaks()?;
        (self.column() >= least).then_some(breaks)
    }

    /// The character that stands behind a backslash.
    fn escaped(&mut self) -> Option<char> {
        let rest = self.rest();
        let sign = rest.chars().next()?;
        self.at += sign.len_utf8();
        let digits = match sign {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => return ESCAPES.iter().find(|(name, _)| *name == sign).map(|&(_, meaning)| meaning),
        };
        self.at += digits;
        let mut code = 0;
        for digit in rest.get(1..=digits)?.chars() {
            code = code << 4 | digit.to_digit(16)?;
        }
        char::from_u32(code)
    }

    /// A literal or folded scalar.
    pub(super) fn lines(&mut self, least: usize) -> Option<String> {
        let is_folded = self.peek()? == b'>';
        let (mut chomping, mut indent) = (None, None);
        loop {
            self.at += 1;
            match self.peek() {
                Some(sign @ (b'-' | b'+')) if chomping.is_none() => chomping = Some(sign),
                Some(digit @ b'1'..=b'9') if indent.is_none() => indent = Some(least + usize::from(digit - b'1')),
                _ => break,
            }
        }
        self.skip_in_line();
        if !matches!(self.peek(), None | Some(b'\n')) {
            return None;
        }
        let (mut text, mut breaks, mut widest, mut was_indented) = (String::new(), 0, 0, true);
        while let Some((_, rest)) = split_once(self.rest(), b'\n').filter(|(_, rest)| !rest.is_empty()) {
            let line = split(rest, b'\n').next()?;
            let spaces = line.bytes().take_while(|&byte| byte == b' ').count();
            if spaces == line.len() && indent.is_none_or(|indent| spaces <= indent) {
                widest = widest.max(spaces);
                breaks += 1;
            } else {
                let column = indent.unwrap_or(spaces.max(least));
                if spaces < least {
                    break;
                }
                if spaces < column || indent.is_none() && widest > column {
                    return None;
                }
                indent = Some(column);
                let words = line.get(column..)?;
                let is_indented = matches!(words.bytes().next(), Some(b' ' | b'\t'));
                let is_joined = is_folded && !was_indented && !is_indented;
                push_breaks(&mut text, breaks, is_joined);
                text.push_str(words);
                (breaks, was_indented) = (1, is_indented);
            }
            self.line = self.at + 1;
            self.at = self.line + line.len();
        }
        match chomping {
            Some(b'+') => push_breaks(&mut text, breaks, false),
            None if !text.is_empty() => text.push('\n'),
            _ => {}
        }
        Some(text)
    }
}

fn push_breaks(text: &mut String, breaks: usize, is_folded: bool) {
    match breaks {
        1 if is_folded => text.push(' '),
        _ => text.extend(std::iter::repeat_n('\n', breaks - usize::from(is_folded))),
    }
}

/// What may stand behind a backslash, and what it means.
const ESCAPES: [(char, char); 18] = [
    ('0', '\0'),
    ('a', '\x07'),
    ('b', '\x08'),
    ('t', '\t'),
    ('n', '\n'),
    ('v', '\x0b'),
    ('f', '\x0c'),
    ('r', '\r'),
    ('e', '\x1b'),
    (' ', ' '),
    ('"', '"'),
    ('/', '/'),
    ('\\', '\\'),
    ('N', '\u{85}'),
    ('_', '\u{a0}'),
    ('L', '\u{2028}'),
    ('P', '\u{2029}'),
    ('\t', '\t'),
];

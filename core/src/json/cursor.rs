//! Steps over a text that the scanner has accepted: what is common to building a tree of it and a flat list.
//!
//! INVARIANT: the scanner has found every fault but a repeated key, so nothing is checked twice here.

use serde_json::Number;

use super::strings::{end_of_plain, end_of_simple};

pub(super) struct Cursor<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(scanned: &'t str) -> Cursor<'t> {
        Cursor { text: scanned, at: 0 }
    }

    /// The next byte that is not white space.
    pub(super) fn next_sign(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    /// Steps over the bracket or the comma, and over the end; tells whether there is one more before it.
    pub(super) fn another_behind(&mut self, end: u8) -> bool {
        let closed = self.next_sign() == Some(end);
        self.at += 1;
        if closed || self.next_sign() == Some(end) {
            self.at += usize::from(!closed);
            return false;
        }
        true
    }

    /// Steps over the colon behind a name.
    pub(super) fn colon(&mut self) {
        self.next_sign();
        self.at += 1;
    }

    /// The inside of a string without escapes; nothing, and no step, if there are some.
    pub(super) fn plain_string(&mut self) -> Option<&'t str> {
        let start = self.at + 1;
        let stop = end_of_plain(self.text.as_bytes(), start);
        if self.text.as_bytes().get(stop)? != &b'"' {
            return None;
        }
        self.at = stop + 1;
        self.text.get(start..stop)
    }

    /// The inside of a string, escapes and all.
    pub(super) fn raw_string(&mut self) -> Option<&'t str> {
        let start = self.at + 1;
        let mut stop = start;
        loop {
            stop = end_of_simple(self.text.as_bytes(), stop);
            // Near the end of the text it stops at every escape.
            match self.text.as_bytes().get(stop..)? {
                [b'\\', b'u', ..] => stop += 6,
                [b'\\', _, ..] => stop += 2,
                _ => break,
            }
        }
        self.at = stop + 1;
        self.text.get(start..stop)
    }

    /// The text of a number.
    pub(super) fn number_token(&mut self) -> Option<&'t str> {
        let rest = self.text.get(self.at..)?;
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let token = rest.get(..rest.bytes().take_while(is_part).count())?;
        self.at += token.len();
        Some(token)
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

/// The number that a text in JSON's form stands for.
pub(super) fn number(token: &str) -> Option<Number> {
    // There is no integer that is less than nothing and nothing.
    if token != "-0" {
        if let Ok(whole) = token.parse::<u64>() {
            return Some(whole.into());
        }
        if let Ok(negative) = token.parse::<i64>() {
            return Some(negative.into());
        }
    }
    Number::from_f64(token.parse().ok()?)
}

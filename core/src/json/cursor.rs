//! Steps over a text that the scanner has accepted: what is common to building a tree of it and a flat list.
//!
//! INVARIANT: the scanner has found every fault but a repeated key, so nothing is checked twice here.

use serde_json::Number;

use super::float;
use super::strings::end_of_plain;

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

    /// Adds what a string stands for, escapes resolved.
    pub(super) fn string_into(&mut self, text: &mut String) -> Option<()> {
        self.at += 1;
        loop {
            let stop = end_of_plain(self.text.as_bytes(), self.at);
            text.push_str(self.text.get(self.at..stop)?);
            self.at = stop + 1;
            if self.text.as_bytes().get(stop)? == &b'"' {
                return Some(());
            }
            text.push(self.escaped()?);
        }
    }

    /// The character that an escape stands for; the backslash has been read.
    fn escaped(&mut self) -> Option<char> {
        let sign = self.byte()?;
        self.at += 1;
        Some(match sign {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = self.hex()?;
                if let 0xd800..=0xdbff = unit {
                    // The `\u` of the other half.
                    self.at += 2;
                    let low = self.hex()?;
                    return char::from_u32(0x1_0000 + ((unit & 0x3ff) << 10 | low & 0x3ff));
                }
                char::from_u32(unit)?
            }
            other => char::from(other),
        })
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
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
    Number::from_f64(nearest(token)?)
}

/// The double nearest to a number. The standard library is quicker, where its tables do not count.
fn nearest(token: &str) -> Option<f64> {
    if cfg!(feature = "flat-documents") { token.parse().ok() } else { float::parse(token) }
}

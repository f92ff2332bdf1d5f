//! Builds the value of a text that the scanner has accepted.
//!
//! By hand and not by `serde_json`: the scanner has found every fault but a repeated key already, and a second strict
//! reader with its own errors would be a sixth of what a browser downloads.

use serde_json::{Map, Number, Value};

use super::strings::end_of_plain;
use super::{Fault, float};

/// Builds the value of a text that [`super::Scanner`] has accepted, and finds the keys that stand twice.
///
/// INVARIANT: the scanner has bounded the depth, so the recursion below is bounded too.
pub(crate) fn build(scanned: &str) -> Result<Value, Fault> {
    Builder { text: scanned, at: 0 }.value()
}

/// The text that a JSON string stands for, quotation marks and escapes resolved.
pub(super) fn unquoted(string: &str) -> Option<String> {
    Builder { text: string, at: 0 }.string()
}

struct Builder<'t> {
    text: &'t str,
    at: usize,
}

impl Builder<'_> {
    fn value(&mut self) -> Result<Value, Fault> {
        match self.next_sign() {
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(b'"') => self.string().map(Value::String).ok_or(Fault::Syntax),
            Some(b't') => Ok(self.word("true", Value::Bool(true))),
            Some(b'f') => Ok(self.word("false", Value::Bool(false))),
            Some(b'n') => Ok(self.word("null", Value::Null)),
            _ => self.number().map(Value::Number).ok_or(Fault::Syntax),
        }
    }

    fn object(&mut self) -> Result<Value, Fault> {
        let mut members = Map::new();
        while self.another_behind(b'}') {
            self.next_sign();
            let key = self.string().ok_or(Fault::Syntax)?;
            // The colon.
            self.next_sign();
            self.at += 1;
            if members.insert(key, self.value()?).is_some() {
                return Err(Fault::DuplicateKey);
            }
        }
        Ok(Value::Object(members))
    }

    fn array(&mut self) -> Result<Value, Fault> {
        let mut items = Vec::new();
        while self.another_behind(b']') {
            items.push(self.value()?);
        }
        Ok(Value::Array(items))
    }

    /// Steps over the bracket or the comma, and over the end; tells whether there is one more before it.
    fn another_behind(&mut self, end: u8) -> bool {
        let closed = self.next_sign() == Some(end);
        self.at += 1;
        if closed || self.next_sign() == Some(end) {
            self.at += usize::from(!closed);
            return false;
        }
        true
    }

    fn word(&mut self, word: &str, value: Value) -> Value {
        self.at += word.len();
        value
    }

    fn string(&mut self) -> Option<String> {
        let mut text = String::new();
        self.at += 1;
        loop {
            let stop = end_of_plain(self.text.as_bytes(), self.at);
            text.push_str(self.text.get(self.at..stop)?);
            self.at = stop + 1;
            if self.text.as_bytes().get(stop)? == &b'"' {
                return Some(text);
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

    fn number(&mut self) -> Option<Number> {
        let rest = self.text.get(self.at..)?;
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let token = rest.get(..rest.bytes().take_while(is_part).count())?;
        self.at += token.len();
        // There is no integer that is less than nothing and nothing.
        if token != "-0" {
            if let Ok(whole) = token.parse::<u64>() {
                return Some(whole.into());
            }
            if let Ok(negative) = token.parse::<i64>() {
                return Some(negative.into());
            }
        }
        Number::from_f64(float::parse(token)?)
    }

    /// The next byte that is not white space.
    fn next_sign(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

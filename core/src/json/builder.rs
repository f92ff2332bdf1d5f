//! Builds the value of a text that the scanner has accepted.
//!
//! By hand and not by `serde_json`: the scanner has found every fault but a repeated key already, and a second strict
//! reader with its own errors would be a sixth of what a browser downloads.

use super::cursor::{Cursor, number};
use super::strings::decoded;
use super::{Fault, Map, Value};

/// Builds the value of a text that [`super::Scanner`] has accepted, and finds the keys that stand twice.
///
/// INVARIANT: the scanner has bounded the depth, so the recursion below is bounded too.
pub(crate) fn build(scanned: &str) -> Result<Value, Fault> {
    Builder { cursor: Cursor::new(scanned) }.value()
}

struct Builder<'t> {
    cursor: Cursor<'t>,
}

impl Builder<'_> {
    fn value(&mut self) -> Result<Value, Fault> {
        match self.cursor.next_sign() {
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(b'"') => self.string().map(Value::String).ok_or(Fault::Syntax),
            Some(b't') => Ok(self.word("true", Value::Bool(true))),
            Some(b'f') => Ok(self.word("false", Value::Bool(false))),
            Some(b'n') => Ok(self.word("null", Value::Null)),
            _ => self.cursor.number_token().and_then(number).map(Value::Number).ok_or(Fault::Syntax),
        }
    }

    fn object(&mut self) -> Result<Value, Fault> {
        let mut members = Map::new();
        while self.cursor.another_behind(b'}') {
            self.cursor.next_sign();
            let key = self.string().ok_or(Fault::Syntax)?;
            self.cursor.colon();
            if members.insert(key, self.value()?).is_some() {
                return Err(Fault::DuplicateKey);
            }
        }
        Ok(Value::Object(members))
    }

    fn array(&mut self) -> Result<Value, Fault> {
        let mut items = Vec::new();
        while self.cursor.another_behind(b']') {
            items.push(self.value()?);
        }
        Ok(Value::Array(items))
    }

    fn word(&mut self, word: &str, value: Value) -> Value {
        self.cursor.at += word.len();
        value
    }

    fn string(&mut self) -> Option<String> {
        if let Some(plain) = self.cursor.plain_string() {
            return Some(plain.to_owned());
        }
        self.cursor.raw_string().map(|raw| decoded(raw, usize::MAX))
    }
}

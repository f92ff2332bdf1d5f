//! The members of an object from outside, each taken by its name: what is missing, unknown or of the wrong kind is told
//! by name.
//!
//! By hand and not by `serde`: these messages are read by people and are the same in every version.

use serde_json::{Map, Value};

use crate::receipt::Rejected;
use crate::text;

/// What is left to be taken of an object.
pub(crate) struct Fields {
    members: Map<String, Value>,
}

impl Fields {
    /// The members of a value that must be an object.
    pub(crate) fn of(value: Value, what: &str) -> Result<Fields, Rejected> {
        match value {
            Value::Object(members) => Ok(Fields { members }),
            other => Err(Rejected::malformed(format!("{what} is a JSON object, found {}", kind(&other)))),
        }
    }

    /// A text that must be there.
    pub(crate) fn text(&mut self, name: &str) -> Result<String, Rejected> {
        required(name, self.optional_text(name)?)
    }

    pub(crate) fn optional_text(&mut self, name: &str) -> Result<Option<String>, Rejected> {
        match self.take(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(name, "a text", &other)),
        }
    }

    /// A whole number that must be there.
    pub(crate) fn number(&mut self, name: &str) -> Result<u64, Rejected> {
        required(name, self.optional_number(name)?)
    }

    /// A whole number that must be there, of those that fit into 32 bits.
    pub(crate) fn small_number(&mut self, name: &str) -> Result<u32, Rejected> {
        let number = self.number(name)?;
        u32::try_from(number)
            .map_err(|_| Rejected::malformed(format!("`{name}`: expected at most {}, found {number}", u32::MAX)))
    }

    pub(crate) fn optional_number(&mut self, name: &str) -> Result<Option<u64>, Rejected> {
        match self.take(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_u64().map(Some).ok_or_else(|| wrong(name, "a whole number", &value)),
        }
    }

    pub(crate) fn optional_integer(&mut self, name: &str) -> Result<Option<i64>, Rejected> {
        match self.take(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_i64().map(Some).ok_or_else(|| wrong(name, "an integer", &value)),
        }
    }

    /// Any value; null counts as one.
    pub(crate) fn value(&mut self, name: &str) -> Result<Value, Rejected> {
        required(name, self.take(name))
    }

    /// Any value; null counts as none.
    pub(crate) fn optional_value(&mut self, name: &str) -> Option<Value> {
        self.take(name).filter(|value| !value.is_null())
    }

    /// A list, each item read by `read`.
    pub(crate) fn optional_list<T>(
        &mut self,
        name: &str,
        read: impl Fn(Value) -> Result<T, Rejected>,
    ) -> Result<Option<Vec<T>>, Rejected> {
        let items = match self.take(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Array(items)) => items,
            Some(other) => return Err(wrong(name, "a list", &other)),
        };
        let place = |(index, item)| {
            read(item).map_err(|rejected| Rejected::malformed(format!("`{name}[{index}]`: {}", rejected.message)))
        };
        items.into_iter().enumerate().map(place).collect::<Result<_, _>>().map(Some)
    }

    /// Everything has been taken.
    pub(crate) fn end(self) -> Result<(), Rejected> {
        match self.members.keys().next() {
            None => Ok(()),
            Some(name) => Err(Rejected::malformed(format!("unknown field {}", text::quoted(name)))),
        }
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.members.shift_remove(name)
    }
}

fn required<T>(name: &str, value: Option<T>) -> Result<T, Rejected> {
    value.ok_or_else(|| Rejected::malformed(format!("`{name}` is missing")))
}

fn wrong(name: &str, expected: &str, found: &Value) -> Rejected {
    Rejected::malformed(format!("`{name}`: expected {expected}, found {}", kind(found)))
}

/// What a value is, without repeating text from outside.
pub(crate) fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(_) => "a text".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

//! The types of the wire, read from JSON that comes from outside.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::{Value, parse_value, whole_number};
use crate::types::codes::Code;
use crate::types::effect::Effect;
use crate::types::event::{Event, not_an_event};
use crate::types::interaction::{ChoiceOption, FreeForm};
use crate::types::limits::Limits;
use crate::types::load_error::LoadError;
use crate::types::receipt::EventRejected;
use crate::types::stream::Stream;
use crate::types::strict::{self, Invalid};
use crate::types::time::Timestamp;

impl Event {
    /// Reads an event from its JSON text.
    ///
    /// # Errors
    /// [`EventRejected`] with `EVENT_MALFORMED` if it is not one event in the documented form.
    pub fn from_json(text: &str) -> Result<Event, EventRejected> {
        let event = parse_value(text, MAX_EVENT_DEPTH)
            .map_err(|fault| EventRejected::malformed(format!("the event cannot be read: {fault}")))?;
        Event::from_value(event)
    }

    /// Reads an event from a value that a binding made of its runtime's own data.
    ///
    /// # Errors
    /// [`EventRejected`] with `EVENT_MALFORMED` if it is not one event in the documented form.
    pub fn from_value(value: Value) -> Result<Event, EventRejected> {
        // These stand in journals only.
        if let Some(name @ ("created" | "turn_decided")) = value.get("type").and_then(Value::as_str) {
            return Err(EventRejected::malformed(format!("the event {}", not_an_event(name))));
        }
        let event: Event = strict::from_value(value).map_err(|invalid| invalid.rejected("the event"))?;
        event.check_form()?;
        Ok(event)
    }
}

impl Effect {
    /// Reads back an effect that the core has emitted, from a host that asks about it.
    ///
    /// # Errors
    /// [`EventRejected`] with `EVENT_MALFORMED` if it is none.
    pub fn from_value(value: Value) -> Result<Effect, EventRejected> {
        strict::from_value(value).map_err(|invalid| invalid.rejected("the effect"))
    }
}

impl Stream {
    /// Reads a stream from a value that a binding made of its runtime's own data.
    ///
    /// # Errors
    /// [`EventRejected`] with `EVENT_MALFORMED` if it is not in the documented form.
    pub fn from_value(value: Value) -> Result<Stream, EventRejected> {
        strict::from_value(value).map_err(|invalid| invalid.rejected("the stream"))
    }
}

impl Limits {
    /// Reads limits of a host's; the default holds for those that are not given.
    ///
    /// # Errors
    /// A sentence, if a name is none of a limit or a value is no whole number.
    pub fn from_value(given: Value) -> Result<Limits, String> {
        strict::from_value(given).map_err(|invalid| invalid.sentence("the limits"))
    }
}

impl Timestamp {
    /// Reads a time from outside: a whole number of milliseconds in range.
    ///
    /// # Errors
    /// [`EventRejected`] with `EVENT_MALFORMED` for anything else.
    pub fn from_json(value: &Value) -> Result<Timestamp, EventRejected> {
        whole_number(value).and_then(Timestamp::from_millis).ok_or_else(|| {
            let message = "a time is a whole number of milliseconds from 0 to 9007199254740991";
            EventRejected::malformed(message).at("now")
        })
    }
}

impl Invalid {
    pub(crate) fn rejected(&self, whole: &str) -> EventRejected {
        EventRejected::malformed(self.sentence(whole)).at(&self.pointer())
    }

    pub(crate) fn load_error(self, code: Code) -> LoadError {
        let place = if self.path.is_empty() { "the document".to_owned() } else { self.path };
        LoadError { code, place, message: self.message }
    }
}

impl<'de> Deserialize<'de> for ChoiceOption {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ChoiceOption, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Written {
            label: String,
            value: Option<JsonText>,
        }

        let Written { label, value } = Written::deserialize(deserializer)?;
        Ok(ChoiceOption { label, value: value.map(|JsonText(value)| value) })
    }
}

impl<'de> Deserialize<'de> for FreeForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FreeForm, D::Error> {
        match JsonText::deserialize(deserializer)? {
            JsonText(Value::Object(members)) => Ok(members.into()),
            JsonText(_) => Err(Error::custom("must be the JSON text of an object")),
        }
    }
}

/// A value that stands as JSON text inside JSON.
struct JsonText(Value);

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<JsonText, D::Error> {
        parse_value(&String::deserialize(deserializer)?, Limits::MAX_JSON_DEPTH)
            .map(JsonText)
            .map_err(|fault| Error::custom(format!("must be JSON text, but {fault}")))
    }
}

/// An output that is too deep is judged, not lost; this only keeps the reading itself within bounds.
const MAX_EVENT_DEPTH: usize = 2 * Limits::MAX_JSON_DEPTH;

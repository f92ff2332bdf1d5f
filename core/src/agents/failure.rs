//! Why a turn failed, from what the agent's program says of it.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::MapAccess;
use serde::de::value::MapAccessDeserializer;

use super::row::{FromJson, Lenient, Text};
use crate::text;
use crate::types::codes::Code;

/// A failure that the stream reports.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) code: Code,
    /// The program's own words.
    pub(super) words: String,
}

impl Failure {
    /// A failure with an HTTP status, if the program reports one, and its words.
    pub(super) fn of_model(status: Option<u64>, words: &str) -> Failure {
        Failure { code: code_of(status.or_else(|| status_in(words)), words), words: words.to_owned() }
    }

    /// A failure as an `error` field reports it; its `data` is nearer to the cause.
    pub(super) fn from_error(error: &ErrorField<'_>) -> Failure {
        let Some(error) = &error.0 else { return Failure::of_model(None, "") };
        let data = error.data.as_deref();
        let cause = data.filter(|data| data.message.is_some()).unwrap_or(error);
        let code = || cause.code.and_then(|code| code.try_into().ok());
        let status = cause.status_code.or(*cause.status).or_else(code);
        let words = cause.text.as_deref().unwrap_or(cause.message.as_str());
        // Agents of the Agent Client Protocol say "Internal error" in the message, and in the details which one.
        match data.and_then(|data| data.details.as_deref().or(data.text.as_deref())) {
            Some(details) => Failure::of_model(status, &format!("{words}: {details}")),
            None => Failure::of_model(status, words),
        }
    }
}

/// A field that reports an error: an object, with the names that any of the programs has for its fields, or a string.
pub(super) type ErrorField<'r> = Lenient<ErrorValue<'r>>;

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
pub(super) struct ErrorValue<'r> {
    /// Some programs write the field always.
    #[serde(skip)]
    pub(super) is_null: bool,
    /// The whole of an error that is a string.
    #[serde(skip)]
    text: Text<'r>,
    pub(super) message: Text<'r>,
    #[serde(rename = "statusCode")]
    status_code: Lenient<u64>,
    status: Lenient<u64>,
    pub(super) code: Lenient<i64>,
    details: Text<'r>,
    data: Lenient<Box<ErrorValue<'r>>>,
}

impl<'de: 'r, 'r> FromJson<'de> for ErrorValue<'r> {
    fn from_raw(json: &'de str) -> Option<Self> {
        let text = Lenient(Cow::from_raw(json));
        Some(ErrorValue { is_null: json == "null", text, ..ErrorValue::default() })
    }

    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error> {
        ErrorValue::deserialize(MapAccessDeserializer::new(object)).map(Some)
    }
}

impl<'de, T: FromJson<'de>> FromJson<'de> for Box<T> {
    fn from_raw(json: &'de str) -> Option<Self> {
        T::from_raw(json).map(Box::new)
    }

    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error> {
        T::from_object(object).map(|value| value.map(Box::new))
    }
}

fn code_of(status: Option<u64>, words: &str) -> Code {
    let words = text::head(words, MAX_READ_BYTES).to_ascii_lowercase();
    let says = |signs: &[&str]| signs.iter().any(|sign| words.contains(sign));
    match status {
        Some(401 | 403) => Code::AuthRequired,
        Some(429) => Code::RateLimited,
        // A wrong key is a bad request to some.
        None | Some(400) if says(&["unauthorized", "api key", "not logged in", "/login", "authentication"]) => {
            Code::AuthRequired
        }
        None if says(&["rate limit", "rate_limit", "too many requests", "quota"]) => Code::RateLimited,
        _ => Code::ModelError,
    }
}

/// The HTTP status that a sentence names. Only those that mean something here are looked for.
fn status_in(words: &str) -> Option<u64> {
    let words = text::head(words, MAX_READ_BYTES);
    let numbers = words.split(|character: char| !character.is_ascii_alphanumeric());
    numbers.filter_map(|number| number.parse().ok()).find(|number| matches!(number, 401 | 403 | 429))
}

/// Whether a process that ended so was stopped by a signal that asks it to end (INT, TERM), as a shell or a host reports it.
pub(super) const fn is_stop(exit_code: i64) -> bool {
    matches!(exit_code, 130 | 143 | -2 | -15)
}

const MAX_READ_BYTES: usize = 4096;

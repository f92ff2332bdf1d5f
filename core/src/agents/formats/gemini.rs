//! `gemini --output-format stream-json` and `--output-format json` (0.61.0).

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::{Format, Framing};
use crate::agents::failure::{ErrorField, Failure};
use crate::agents::fields::{Lenient, Object, Text};
use crate::agents::row::Row;
use crate::agents::shown::Shown;
use crate::agents::turn::Turn;
use crate::json;
use crate::text;
use crate::types::codes::Code;

pub(crate) struct GeminiStream;

pub(crate) struct GeminiJson;

impl Format for GeminiStream {
    fn row(&self, turn: &mut Turn, row: &Row<'_>) -> Option<()> {
        match row.kind().as_str() {
            "init" => {
                let Init { session_id } = row.read()?;
                turn.session(session_id.as_deref());
            }
            "message" => {
                let Message { role, content, delta } = row.read()?;
                match role.as_str() {
                    "assistant" if delta.unwrap_or(false) => turn.say_piece(content.as_str()),
                    "assistant" => turn.say(content.as_str()),
                    role => {
                        let role = if role == "user" { role } else { "system" };
                        turn.other(role, || content.as_str().into());
                    }
                }
            }
            "tool_use" => {
                let ToolUse { tool_name, parameters } = row.read()?;
                turn.other("tool", || format!("{} {}", tool_name.as_str(), parameters.as_str()).into());
            }
            "tool_result" => {
                let ToolResult { output } = row.read()?;
                turn.other("tool", || output.into_cow());
                turn.settle();
            }
            "error" => {
                let Warning { message } = row.read()?;
                turn.warn(message.as_str());
            }
            "result" => {
                let End { status, stats, error } = row.read()?;
                turn.is_over = true;
                let Stats { input_tokens, output_tokens, cached } = stats.0.unwrap_or_default();
                turn.spend(*input_tokens, *output_tokens, *cached);
                if status.as_str() == "error" {
                    turn.fail(Failure::from_error(&error));
                }
            }
            _ => return None,
        }
        Some(())
    }
}

impl Format for GeminiJson {
    fn framing(&self) -> Framing {
        Framing::Whole
    }

    fn row(&self, _: &mut Turn, _: &Row<'_>) -> Option<()> {
        None
    }

    /// One object has the words, or an error. That of a turn that failed may be the end of stderr, where no words are looked
    /// for.
    fn whole(&self, turn: &mut Turn, stdout: &str, stderr: &str) {
        let (before, row) = last_object(stdout);
        let answer = row.as_ref().and_then(Row::read::<Answer<'_>>);
        if let Some(answer) = answer.filter(|answer| answer.response.is_some() || answer.has_error()) {
            // The program, or what it loads, prints a warning before.
            for line in before.split('\n').filter(|line| !json::trim(line).is_empty()) {
                turn.rows += 1;
                turn.unknown(line);
            }
            turn.rows += 1;
            report(turn, &answer, row.as_ref());
            turn.say(answer.response.as_str());
            return;
        }
        turn.rows += 1;
        if !json::trim(stdout).is_empty() {
            turn.unknown(stdout);
        }
        let (_, row) = last_object(stderr);
        let answer = row.as_ref().and_then(Row::read::<Answer<'_>>);
        if let Some(answer) = answer.filter(Answer::has_error) {
            report(turn, &answer, row.as_ref());
        }
    }
}

/// What the object reports beside the assistant's words.
fn report(turn: &mut Turn, answer: &Answer<'_>, row: Option<&Row<'_>>) {
    turn.is_over = true;
    turn.session(answer.session_id.as_deref());
    for warning in answer.warnings.iter().flatten() {
        turn.warn(warning.as_str());
    }
    if answer.has_error() {
        turn.fail(Failure::from_error(&answer.error));
    }
    let UnknownNames(unknown) = row.and_then(Row::read).unwrap_or_default();
    if !unknown.is_empty() {
        let message = format!("the object has members that are not known: {}", text::quoted_list(&unknown));
        turn.note(Code::StreamRowUnknown, message);
    }
}

/// The object that ends a text and begins a line, if there is one, and what stands before it.
fn last_object(text: &str) -> (&str, Option<Row<'_>>) {
    let start = text.rfind("\n{").map_or(0, |line| line + 1);
    let (before, object) = text.split_at_checked(start).unwrap_or_default();
    (before, Row::parse(object))
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct Init<'r> {
    session_id: Text<'r>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct Message<'r> {
    role: Text<'r>,
    content: Text<'r>,
    /// Whether it is a piece of a message.
    delta: Lenient<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct ToolUse<'r> {
    tool_name: Shown<'r>,
    parameters: Shown<'r>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct ToolResult<'r> {
    output: Shown<'r>,
}

/// `error`.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct Warning<'r> {
    message: Shown<'r>,
}

/// `result`.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct End<'r> {
    status: Text<'r>,
    stats: Object<Stats>,
    error: ErrorField<'r>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Stats {
    input_tokens: Lenient<u64>,
    output_tokens: Lenient<u64>,
    cached: Lenient<u64>,
}

/// The one object of `--output-format json`.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct Answer<'r> {
    session_id: Text<'r>,
    response: Text<'r>,
    error: ErrorField<'r>,
    warnings: Lenient<Vec<Shown<'r>>>,
}

impl Answer<'_> {
    fn has_error(&self) -> bool {
        self.error.as_ref().is_some_and(|error| !error.is_null)
    }
}

/// The names of the first fields of an [`Answer`] that are not known.
#[derive(Default)]
struct UnknownNames(Vec<String>);

impl<'de> Deserialize<'de> for UnknownNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(UnknownNames::default())
    }
}

impl<'de> Visitor<'de> for UnknownNames {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut object: A) -> Result<Self, A::Error> {
        while let Some((name, IgnoredAny)) = object.next_entry::<String, _>()? {
            if !KNOWN.contains(&name.as_str()) && self.0.len() < MAX_NAMES {
                self.0.push(name);
            }
        }
        Ok(self)
    }
}

/// The fields of an [`Answer`].
const KNOWN: [&str; 5] = ["session_id", "response", "stats", "error", "warnings"];
/// How many unknown fields are named.
const MAX_NAMES: usize = 5;

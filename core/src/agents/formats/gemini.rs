//! `gemini --output-format stream-json` and `--output-format json` (0.61.0).

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{Format, Framing, ROWS};
use crate::agents::content::TokenUsage;
use crate::agents::failure::{ErrorField, Failure};
use crate::agents::row::{Lenient, Object, Row, Shown, Text};
use crate::agents::turn::Turn;
use crate::json;
use crate::text;
use crate::types::codes::Code;

pub(super) const STREAM: Format = Format { row, ..ROWS };

pub(super) const JSON: Format = Format { framing: Framing::Whole, whole, ..ROWS };

fn row(turn: &mut Turn, row: &Row<'_>) -> Option<()> {
    let fields: Fields<'_> = row.read()?;
    match row.kind().as_str() {
        "init" => {
            turn.session(fields.session_id.as_deref());
        }
        "message" => match fields.role.as_str() {
            "assistant" if fields.delta.unwrap_or(false) => turn.say_piece(fields.content.as_str()),
            "assistant" => turn.say(fields.content.as_str()),
            role => {
                let role = if role == "user" { role } else { "system" };
                turn.other(role, || fields.content.as_str().into());
            }
        },
        "tool_use" => turn.tool_call(&fields.tool_name, &fields.parameters),
        "tool_result" => {
            turn.other("tool", || fields.output.into_cow());
            turn.settle();
        }
        "error" => turn.warn(fields.message.as_str()),
        "result" => {
            turn.is_over = true;
            let stats = &fields.stats;
            turn.spend(*stats.input_tokens, *stats.output_tokens, *stats.cached);
            if fields.status.as_str() == "error" {
                turn.fail(Failure::from_error(&fields.error));
            }
        }
        _ => return None,
    }
    Some(())
}

/// One object has the words, or an error. That of a turn that failed may be the end of stderr, where no words are looked
/// for.
fn whole(turn: &mut Turn, stdout: &str, stderr: &str) {
    let (before, row) = last_object(stdout);
    let answer = row.as_ref().and_then(Row::read::<Answer<'_>>);
    if let Some(answer) = answer.filter(|answer| answer.response.is_some() || answer.has_error()) {
        // The program, or what it loads, prints a warning before.
        for line in before.split('\n').filter(|line| !json::trim(line).is_empty()) {
            turn.rows += 1;
            turn.unknown(line);
        }
        turn.rows += 1;
        report(turn, &answer);
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
        report(turn, &answer);
    }
}

/// What the object reports beside the assistant's words.
fn report(turn: &mut Turn, answer: &Answer<'_>) {
    turn.is_over = true;
    turn.session(answer.session_id.as_deref());
    for warning in answer.warnings.iter().flatten() {
        turn.warn(warning.as_str());
    }
    if answer.has_error() {
        turn.fail(Failure::from_error(&answer.error));
    }
    if !answer.unknown.is_empty() {
        let names: Vec<_> = answer.unknown.keys().take(MAX_NAMES).collect();
        let message = format!("the object has members that are not known: {}", text::quoted_list(&names));
        turn.note(Code::StreamRowUnknown, message);
    }
}

/// The object that ends a text and begins a line, if there is one, and what stands before it.
fn last_object(text: &str) -> (&str, Option<Row<'_>>) {
    let start = text.rfind("\n{").map_or(0, |line| line + 1);
    let (before, object) = text.split_at_checked(start).unwrap_or_default();
    (before, Row::parse(object))
}

/// A row of any type.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct Fields<'r> {
    /// Of `init`.
    session_id: Text<'r>,
    /// Of `message`.
    role: Text<'r>,
    content: Text<'r>,
    /// Whether it is a piece of a message.
    delta: Lenient<bool>,
    /// Of `tool_use`.
    tool_name: Shown<'r>,
    parameters: Shown<'r>,
    /// Of `tool_result`.
    output: Shown<'r>,
    /// Of `error`.
    message: Shown<'r>,
    /// Of `result`.
    status: Text<'r>,
    stats: Object<TokenUsage>,
    error: ErrorField<'r>,
}

/// The one object of `--output-format json`.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct Answer<'r> {
    session_id: Text<'r>,
    response: Text<'r>,
    error: ErrorField<'r>,
    warnings: Lenient<Vec<Shown<'r>>>,
    #[serde(rename = "stats")]
    _stats: IgnoredAny,
    /// The members that are not known, in their order.
    #[serde(flatten)]
    unknown: json::Map,
}

impl Answer<'_> {
    fn has_error(&self) -> bool {
        self.error.as_ref().is_some_and(|error| !error.is_null)
    }
}

/// How many unknown members are named.
const MAX_NAMES: usize = 5;

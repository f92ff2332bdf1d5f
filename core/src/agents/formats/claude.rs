//! `claude --print --output-format stream-json --verbose` (2.1.197).

use serde::Deserialize;

use super::{EndOfTurn, Format};
use crate::agents::content::{Content, Part};
use crate::agents::failure::{ErrorField, Failure};
use crate::agents::fields::{Lenient, Object, Text};
use crate::agents::row::Row;
use crate::agents::shown::{Beginning, Json, Shown};
use crate::agents::turn::Turn;
use crate::agents::{Sticky, Usage};
use crate::json::json_text;
use crate::types::codes::Code;

pub(crate) struct Claude;

impl Format for Claude {
    fn row(&self, turn: &mut Turn, row: &Row<'_>) -> Option<()> {
        match row.kind().as_str() {
            "assistant" => assistant(turn, row.read()?),
            "user" => user(turn, row.read()?),
            "result" => result(turn, row.read()?),
            kind => {
                let System { session_id, subtype } = row.read()?;
                let is_own = turn.session(session_id.as_deref());
                match kind {
                    "system" if is_own && subtype.as_str() == "api_retry" => turn.supersede(),
                    // The deltas of a message come once more as a whole.
                    "stream_event" | "rate_limit_event" | "control_response" | "control_request" | "keep_alive"
                    | "tool_progress" | "tool_use_summary" | "auth_status" | "prompt_suggestion" | "system" => {}
                    _ => return None,
                }
            }
        }
        Some(())
    }

    fn end_of_turn(&self) -> Option<EndOfTurn> {
        Some(EndOfTurn::Row)
    }

    /// The row that `--input-format stream-json` takes.
    fn prompt(&self, words: &str, _: &mut Sticky) -> String {
        let words = json_text(&words);
        format!(
            "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":{words}}}]}}}}\n"
        )
    }
}

fn assistant(turn: &mut Turn, row: MessageRow<'_>) {
    let is_own = turn.session(row.session_id.as_deref());
    let message = row.message.0.unwrap_or_default();
    // The program's own words about an error, and those of a subagent, are not the assistant's.
    let is_synthetic = message.model.as_str() == "<synthetic>" || row.error.is_some();
    let is_inner = !is_own || row.parent_tool_use_id.is_some();
    for block in message.content.into_parts() {
        match block.kind.as_str() {
            "text" if is_synthetic => turn.other("system", || block.text.as_str().into()),
            "text" if is_inner => turn.other("tool", || block.text.as_str().into()),
            "text" => turn.say(block.text.as_str()),
            "thinking" => turn.other("reasoning", || block.thinking.into_cow()),
            "tool_use" => turn.other("tool", || format!("{} {}", block.name.as_str(), block.input.as_str()).into()),
            _ => {}
        }
    }
}

fn user(turn: &mut Turn, row: MessageRow<'_>) {
    turn.session(row.session_id.as_deref());
    for block in row.message.0.unwrap_or_default().content.into_parts() {
        if block.kind.as_str() == "tool_result" {
            let results = block.content.into_parts();
            turn.other("tool", || {
                results
                    .into_iter()
                    .filter_map(|result| result.text.0)
                    .map(|Beginning(text)| text)
                    .collect::<String>()
                    .into()
            });
        } else {
            turn.other("user", || block.text.as_str().into());
        }
    }
    // The model has continued from what it said.
    turn.settle();
}

fn result(turn: &mut Turn, row: ResultRow<'_>) {
    // How a subagent ended is not the turn's end.
    if !turn.session(row.session_id.as_deref()) {
        return;
    }
    turn.is_over = true;
    let tokens = row.usage.0.as_ref();
    if let Some((tokens, input_tokens)) = tokens.and_then(|tokens| tokens.input_tokens.map(|input| (tokens, input))) {
        let cached = *tokens.cache_read_input_tokens;
        // What came from the cache or went into it is not among its input tokens.
        let input_tokens =
            [cached, *tokens.cache_creation_input_tokens].into_iter().flatten().fold(input_tokens, u64::saturating_add);
        let output_tokens = tokens.output_tokens.unwrap_or(0);
        turn.usage = Some(Usage { input_tokens, output_tokens, cached_input_tokens: cached });
    }
    if row.is_error.unwrap_or(false) {
        turn.fail(failure_of(&row));
    } else if let Some(Json(output)) = row.structured_output.0.filter(|Json(output)| output != "null") {
        // Of a schema given on the command line; it stands in no other row.
        turn.say(&output);
    }
}

fn failure_of(row: &ResultRow<'_>) -> Failure {
    let errors = row.errors.iter().flatten().find_map(|error| error.as_deref());
    let message = row.error.0.as_ref().and_then(|error| error.message.as_deref());
    let words = row.result.as_deref().or(errors).or(message).unwrap_or_default();
    let mut failure = Failure::of_model(*row.api_error_status, words);
    // "success" with an error is an error of the model; the other kinds are the program's own.
    let is_models = row.subtype.as_str() == "success" || row.api_error_status.is_some();
    if row.terminal_reason.as_str().starts_with("aborted") {
        failure.code = Code::Interrupted;
    } else if !is_models {
        failure.code = Code::ProcessFailed;
    }
    failure
}

/// `assistant` and `user`.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct MessageRow<'r> {
    session_id: Text<'r>,
    /// Of a subagent: the call that started it.
    parent_tool_use_id: Text<'r>,
    message: Object<Message<'r>>,
    error: ErrorField<'r>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct Message<'r> {
    model: Text<'r>,
    content: Content<Block<'r>>,
}

/// A block of any type.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct Block<'r> {
    #[serde(rename = "type")]
    kind: Text<'r>,
    text: Text<'r>,
    thinking: Shown<'r>,
    /// Of `tool_use`.
    name: Shown<'r>,
    input: Shown<'r>,
    /// Of `tool_result`.
    content: Content<ResultPart<'r>>,
}

impl<'de: 'r, 'r> Part<'de> for Block<'r> {
    fn from_string(kind: &'static str, json: &'de str) -> Self {
        Block { kind: kind.into(), text: Lenient::from_raw(json), ..Block::default() }
    }
}

/// What a tool printed.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct ResultPart<'r> {
    text: Lenient<Beginning<'r>>,
}

impl<'de: 'r, 'r> Part<'de> for ResultPart<'r> {
    fn from_string(_: &'static str, json: &'de str) -> Self {
        ResultPart { text: Lenient::from_raw(json) }
    }
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct ResultRow<'r> {
    session_id: Text<'r>,
    subtype: Text<'r>,
    is_error: Lenient<bool>,
    api_error_status: Lenient<u64>,
    terminal_reason: Text<'r>,
    /// The last words, or those of an error.
    result: Text<'r>,
    errors: Lenient<Vec<Text<'r>>>,
    error: Object<ResultError<'r>>,
    structured_output: Lenient<Json>,
    usage: Object<Tokens>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct ResultError<'r> {
    message: Text<'r>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input_tokens: Lenient<u64>,
    output_tokens: Lenient<u64>,
    cache_read_input_tokens: Lenient<u64>,
    cache_creation_input_tokens: Lenient<u64>,
}

/// `system`, and what is read of all other rows.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct System<'r> {
    session_id: Text<'r>,
    subtype: Text<'r>,
}

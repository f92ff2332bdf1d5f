//! `claude --print --output-format stream-json --verbose` (2.1.197).

use serde::Deserialize;
use serde_json::json;

use super::{EndOfTurn, Format, ROWS};
use crate::agents::content::{Block, Content, TokenUsage};
use crate::agents::failure::{ErrorField, Failure};
use crate::agents::row::{Json, Lenient, Object, Row, Text};
use crate::agents::turn::Turn;
use crate::agents::{Sticky, Usage};
use crate::types::codes::Code;

pub(super) const FORMAT: Format = Format { row, end_of_turn: Some(EndOfTurn::Row), prompt, ..ROWS };

pub(super) fn row(turn: &mut Turn, row: &Row<'_>) -> Option<()> {
    let fields: Fields<'_> = row.read()?;
    let is_own = turn.session(fields.session_id.as_deref());
    match row.kind().as_str() {
        "assistant" => assistant(turn, fields, is_own),
        "user" => user(turn, fields),
        // How a subagent ended is not the turn's end.
        "result" if is_own => result(turn, &fields),
        "system" if is_own && fields.subtype.as_str() == "api_retry" => turn.supersede(),
        // The deltas of a message come once more as a whole.
        "stream_event" | "rate_limit_event" | "control_response" | "control_request" | "keep_alive"
        | "tool_progress" | "tool_use_summary" | "auth_status" | "prompt_suggestion" | "system" | "result" => {}
        _ => return None,
    }
    Some(())
}

/// The row that `--input-format stream-json` takes.
fn prompt(words: &str, _: &mut Sticky) -> String {
    let message = json!({ "role": "user", "content": [{ "type": "text", "text": words }] });
    format!("{}\n", json!({ "type": "user", "message": message }))
}

fn assistant(turn: &mut Turn, row: Fields<'_>, is_own: bool) {
    let Object(message) = row.message;
    // The program's own words about an error, and those of a subagent, are not the assistant's.
    let is_synthetic = message.model.as_str() == "<synthetic>" || row.error.is_some();
    let is_inner = !is_own || row.parent_tool_use_id.is_some();
    for block in message.content.0 {
        match block.kind.as_str() {
            "text" if is_synthetic => turn.other("system", || block.beginning()),
            "text" if is_inner => turn.other("tool", || block.beginning()),
            "text" => turn.say(&block.words()),
            "thinking" => turn.other("reasoning", || block.thinking.into_cow()),
            "tool_use" => turn.tool_call(&block.name, &block.input),
            _ => {}
        }
    }
}

fn user(turn: &mut Turn, row: Fields<'_>) {
    for block in row.message.0.content.0 {
        if block.kind.as_str() == "tool_result" {
            let Content(results) = block.content;
            turn.other("tool", || results.iter().map(Block::beginning).collect::<String>().into());
        } else {
            turn.other("user", || block.beginning());
        }
    }
    // The model has continued from what it said.
    turn.settle();
}

fn result(turn: &mut Turn, row: &Fields<'_>) {
    turn.is_over = true;
    let tokens = &row.usage;
    if let Some(input_tokens) = *tokens.input_tokens {
        let cached = *tokens.cache_read_input_tokens;
        // What came from the cache or went into it is not among its input tokens.
        let input_tokens =
            [cached, *tokens.cache_creation_input_tokens].into_iter().flatten().fold(input_tokens, u64::saturating_add);
        let output_tokens = tokens.output_tokens.unwrap_or(0);
        turn.usage = Some(Usage { input_tokens, output_tokens, cached_input_tokens: cached });
    }
    if row.is_error.unwrap_or(false) {
        turn.fail(failure_of(row));
    } else if let Some(Json(output)) = row.structured_output.0.as_ref().filter(|Json(output)| output != "null") {
        // Of a schema given on the command line; it stands in no other row.
        turn.say(output);
    }
}

fn failure_of(row: &Fields<'_>) -> Failure {
    let errors = row.errors.iter().flatten().find_map(|error| error.as_deref());
    let message = row.error.as_ref().and_then(|error| error.message.as_deref());
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

/// What is read of any row.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct Fields<'r> {
    session_id: Text<'r>,
    /// Of `system` and `result`.
    subtype: Text<'r>,
    /// Of `assistant` and `user`.
    message: Object<Message<'r>>,
    /// Of a subagent: the call that started it.
    parent_tool_use_id: Text<'r>,
    error: ErrorField<'r>,
    /// Of `result`.
    is_error: Lenient<bool>,
    api_error_status: Lenient<u64>,
    terminal_reason: Text<'r>,
    /// The last words, or those of an error.
    result: Text<'r>,
    errors: Lenient<Vec<Text<'r>>>,
    structured_output: Lenient<Json>,
    usage: Object<TokenUsage>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct Message<'r> {
    model: Text<'r>,
    content: Content<'r>,
}

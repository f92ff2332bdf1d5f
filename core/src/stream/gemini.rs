//! `gemini --output-format stream-json` and `--output-format json` (0.61.0).

use serde_json::Value;

use super::Usage;
use super::failure::Failure;
use super::rows::{MAX_ROW_DEPTH, as_text, at, number_at, text_at};
use super::turn::Turn;
use crate::json;
use crate::text;

/// Takes a row; says whether it is one that is known.
pub(super) fn row(turn: &mut Turn, row: &Value) -> bool {
    match text_at(row, &["type"]).unwrap_or_default() {
        "init" => {
            turn.session(text_at(row, &["session_id"]));
        }
        "message" => {
            let words = text_at(row, &["content"]).unwrap_or_default();
            let is_piece = row.get("delta").and_then(Value::as_bool) == Some(true);
            match text_at(row, &["role"]).unwrap_or_default() {
                "assistant" if is_piece => turn.say_piece(words),
                "assistant" => turn.say(words),
                role => turn.other(if role == "user" { role } else { "system" }, words),
            }
        }
        "tool_use" => {
            let name = as_text(row.get("tool_name"));
            turn.other("tool", &format!("{name} {}", as_text(row.get("parameters"))));
        }
        "tool_result" => {
            turn.other("tool", &as_text(row.get("output")));
            turn.settle();
        }
        "error" => turn.warn(&as_text(row.get("message"))),
        "result" => {
            turn.is_over = true;
            spend(turn, row.get("stats"));
            if text_at(row, &["status"]) == Some("error") {
                turn.fail(Failure::of_error(row.get("error").unwrap_or(&Value::Null)));
            }
        }
        _ => return false,
    }
    true
}

/// The one object of `--output-format json`.
pub(super) fn whole(turn: &mut Turn, stdout: &str, stderr: &str) {
    turn.rows = 1;
    let failed = if json::trim(stdout).is_empty() { last_object(stderr) } else { None };
    let Some(object) = failed.or_else(|| json::parse_value(stdout, MAX_ROW_DEPTH).ok()).filter(Value::is_object) else {
        if !json::trim(stdout).is_empty() {
            turn.unknown(stdout);
        }
        return;
    };
    turn.is_over = true;
    turn.session(text_at(&object, &["session_id"]));
    turn.say(text_at(&object, &["response"]).unwrap_or_default());
    if let Some(error) = object.get("error").filter(|error| !error.is_null()) {
        turn.fail(Failure::of_error(error));
    }
}

/// The object that ends a text and begins a line.
fn last_object(text: &str) -> Option<Value> {
    let starts = text::places(text, "\n{").map(|line| line + 1);
    let start = starts.last().or_else(|| text.starts_with('{').then_some(0))?;
    json::parse_value(text.get(start..)?, MAX_ROW_DEPTH).ok()
}

fn spend(turn: &mut Turn, stats: Option<&Value>) {
    let stats = stats.unwrap_or(&Value::Null);
    if let Some(input_tokens) = number_at(stats, &["input_tokens"]) {
        turn.spend(Usage {
            input_tokens,
            output_tokens: number_at(stats, &["output_tokens"]).unwrap_or(0),
            cached_input_tokens: at(stats, &["cached"]).and_then(Value::as_u64),
        });
    }
}

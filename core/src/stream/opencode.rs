//! `opencode run --format json` (1.18.33).

use serde_json::Value;

use super::Usage;
use super::failure::Failure;
use super::rows::{as_text, at, number_at, text_at};
use super::turn::Turn;

/// Takes a row; says whether it is one that is known.
pub(super) fn row(turn: &mut Turn, row: &Value) -> bool {
    let is_own = turn.session(text_at(row, &["sessionID"]));
    let words = text_at(row, &["part", "text"]).unwrap_or_default();
    match text_at(row, &["type"]).unwrap_or_default() {
        "text" if is_own => turn.say(words),
        // An agent that the agent asked.
        "text" => turn.other("tool", words),
        "reasoning" => turn.other("reasoning", words),
        "tool_use" => {
            let state = at(row, &["part", "state"]).unwrap_or(&Value::Null);
            let name = as_text(at(row, &["part", "tool"]));
            turn.other("tool", &format!("{name} {}\n{}", as_text(state.get("input")), as_text(state.get("output"))));
        }
        // A step that begins before the last one has ended is that one again.
        "step_start" if is_own => turn.supersede(),
        "step_start" => {}
        "step_finish" => {
            let tokens = |path: &[&str]| at(row, &["part", "tokens"]).and_then(|tokens| number_at(tokens, path));
            if let Some(input_tokens) = tokens(&["input"]) {
                turn.spend(Usage {
                    input_tokens,
                    output_tokens: tokens(&["output"]).unwrap_or(0),
                    cached_input_tokens: tokens(&["cache", "read"]),
                });
            }
            if is_own {
                turn.settle();
                turn.failure = None;
                turn.is_over |= text_at(row, &["part", "reason"]) != Some("tool-calls");
            }
        }
        "error" => {
            turn.fail(Failure::of_error(row.get("error").unwrap_or(&Value::Null)));
            turn.is_over = true;
        }
        _ => return false,
    }
    true
}

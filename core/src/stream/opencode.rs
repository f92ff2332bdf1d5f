//! `opencode run --format json` (1.18.33).

use super::Usage;
use super::failure::Failure;
use super::rows::{as_text, at, number_at, others_text_at, text_at};
use super::turn::Turn;
use crate::json::Item;

/// Takes a row; says whether it is one that is known.
pub(super) fn row(turn: &mut Turn, row: Item<'_>) -> bool {
    let is_own = turn.session(text_at(row, &["sessionID"]).as_deref());
    let others_words = || others_text_at(row, &["part", "text"]);
    match text_at(row, &["type"]).unwrap_or_default().as_ref() {
        "text" if is_own => turn.say(&text_at(row, &["part", "text"]).unwrap_or_default()),
        // An agent that the agent asked.
        "text" => turn.other("tool", others_words),
        "reasoning" => turn.other("reasoning", others_words),
        "tool_use" => {
            let told = |path: &[&str]| as_text(at(row, path));
            let (input, output) = (["part", "state", "input"], ["part", "state", "output"]);
            turn.other("tool", || format!("{} {}\n{}", told(&["part", "tool"]), told(&input), told(&output)).into());
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
                turn.is_over |= text_at(row, &["part", "reason"]).as_deref() != Some("tool-calls");
            }
        }
        "error" => {
            turn.fail(Failure::of_error(row.get("error")));
            turn.is_over = true;
        }
        _ => return false,
    }
    true
}

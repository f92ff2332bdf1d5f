//! `opencode run --format json` (1.18.33).

use crate::agents::Usage;
use crate::agents::failure::Failure;
use crate::agents::rows::{as_text, at, number_at, others_text_at, text_at};
use crate::agents::turn::Turn;
use crate::json::Item;
use crate::types::codes::Code;

/// Takes a row; says whether it is one that is known.
pub(crate) fn row(turn: &mut Turn, row: Item<'_>) -> bool {
    let is_own = turn.session(text_at(row, &["sessionID"]).as_deref());
    let others_words = || others_text_at(row, &["part", "text"]);
    match text_at(row, &["type"]).unwrap_or_default().as_ref() {
        "text" if is_own => turn.say(&text_at(row, &["part", "text"]).unwrap_or_default()),
        // An agent that the agent asked.
        "text" => turn.other("tool", others_words),
        "reasoning" => turn.other("reasoning", others_words),
        "tool_use" => {
            let state = |name: &str| at(row, &["part", "state", name]);
            let tool = || as_text(at(row, &["part", "tool"]));
            let output = || as_text(state("output").or_else(|| state("error")));
            turn.other("tool", || format!("{} {}\n{}", tool(), as_text(state("input")), output()).into());
            let error = as_text(state("error"));
            if is_own && error.starts_with(REJECTED) {
                turn.fail(Failure { code: Code::PermissionDenied, words: format!("{}: {error}", tool()) });
                turn.is_over = true;
            }
        }
        // A step that begins before the last one has ended is that one again.
        "step_start" if is_own => {
            turn.supersede();
            // The agent continues without the permission.
            if is_denied(turn) {
                turn.failure = None;
                turn.is_over = false;
            }
        }
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
                if !is_denied(turn) {
                    turn.failure = None;
                    turn.is_over |= text_at(row, &["part", "reason"]).as_deref() != Some("tool-calls");
                }
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

/// Adds which permission was rejected: only stderr has it.
pub(crate) fn note_permission(turn: &mut Turn, stderr: &str) {
    if is_denied(turn)
        && let Some(asked) = stderr.lines().rev().find_map(|line| line.get(line.find(REQUESTED)?..))
    {
        turn.warn(asked.trim_end());
    }
}

fn is_denied(turn: &Turn) -> bool {
    turn.failure.as_ref().is_some_and(|failure| failure.code == Code::PermissionDenied)
}

/// Without a terminal the program rejects what it would ask for, and ends the turn.
const REJECTED: &str = "The user rejected permission";
const REQUESTED: &str = "permission requested: ";

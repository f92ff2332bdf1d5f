//! `gemini --output-format stream-json` and `--output-format json` (0.61.0).

use super::Usage;
use super::failure::Failure;
use super::rows::{MAX_ROW_DEPTH, as_text, number_at, others_text_at, text_at};
use super::turn::Turn;
use crate::json::{self, Item, Outline};
use crate::text;

/// Takes a row; says whether it is one that is known.
pub(super) fn row(turn: &mut Turn, row: Item<'_>) -> bool {
    match text_at(row, &["type"]).unwrap_or_default().as_ref() {
        "init" => {
            turn.session(text_at(row, &["session_id"]).as_deref());
        }
        "message" => {
            let words = || text_at(row, &["content"]).unwrap_or_default();
            let is_piece = row.get("delta").is_some_and(Item::is_true);
            match text_at(row, &["role"]).unwrap_or_default().as_ref() {
                "assistant" if is_piece => turn.say_piece(&words()),
                "assistant" => turn.say(&words()),
                role => {
                    let role = if role == "user" { role } else { "system" };
                    turn.other(role, || others_text_at(row, &["content"]));
                }
            }
        }
        "tool_use" => {
            let parameters = || as_text(row.get("parameters"));
            turn.other("tool", || format!("{} {}", as_text(row.get("tool_name")), parameters()).into());
        }
        "tool_result" => {
            turn.other("tool", || as_text(row.get("output")));
            turn.settle();
        }
        "error" => turn.warn(&as_text(row.get("message"))),
        "result" => {
            turn.is_over = true;
            spend(turn, row.get("stats"));
            if text_at(row, &["status"]).as_deref() == Some("error") {
                turn.fail(Failure::of_error(row.get("error")));
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
    let told = failed.or_else(|| Outline::read(stdout, MAX_ROW_DEPTH).ok());
    let Some(object) = told.as_ref().map(Outline::whole).filter(|whole| whole.is_object()) else {
        if !json::trim(stdout).is_empty() {
            turn.unknown(stdout);
        }
        return;
    };
    turn.is_over = true;
    turn.session(text_at(object, &["session_id"]).as_deref());
    turn.say(&text_at(object, &["response"]).unwrap_or_default());
    if let Some(error) = object.get("error").filter(|error| !error.is_null()) {
        turn.fail(Failure::of_error(Some(error)));
    }
}

/// The object that ends a text and begins a line.
fn last_object(text: &str) -> Option<Outline<'_>> {
    let starts = text::places(text, "\n{").map(|line| line + 1);
    let start = starts.last().or_else(|| text.starts_with('{').then_some(0))?;
    Outline::read(text.get(start..)?, MAX_ROW_DEPTH).ok()
}

fn spend(turn: &mut Turn, stats: Option<Item<'_>>) {
    let tokens = |name: &str| stats.and_then(|stats| number_at(stats, &[name]));
    if let Some(input_tokens) = tokens("input_tokens") {
        turn.spend(Usage {
            input_tokens,
            output_tokens: tokens("output_tokens").unwrap_or(0),
            cached_input_tokens: tokens("cached"),
        });
    }
}

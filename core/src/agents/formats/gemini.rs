//! `gemini --output-format stream-json` and `--output-format json` (0.61.0).

use crate::agents::Usage;
use crate::agents::failure::Failure;
use crate::agents::rows::{MAX_ROW_DEPTH, as_text, number_at, others_text_at, text_at};
use crate::agents::turn::Turn;
use crate::json::{self, Item, Outline};
use crate::text;
use crate::types::codes::Code;

/// Takes a row; says whether it is one that is known.
pub(crate) fn row(turn: &mut Turn, row: Item<'_>) -> bool {
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

/// The one object of `--output-format json`: it has the words, or an error. That of a turn that failed may be the end of
/// stderr, where no words are looked for.
pub(crate) fn whole(turn: &mut Turn, stdout: &str, stderr: &str) {
    let has_error = |object: Item<'_>| object.get("error").is_some_and(|error| !error.is_null());
    let has_words = |object: Item<'_>| object.get("response").is_some_and(Item::is_string);
    let answer = last_object(stdout).filter(|(_, outline)| has_words(outline.whole()) || has_error(outline.whole()));
    if let Some((before, outline)) = answer {
        // The program, or what it loads, prints a warning before.
        for line in before.split('\n').filter(|line| !json::trim(line).is_empty()) {
            turn.rows += 1;
            turn.unknown(line);
        }
        turn.rows += 1;
        object(turn, outline.whole());
        turn.say(&text_at(outline.whole(), &["response"]).unwrap_or_default());
        return;
    }
    turn.rows += 1;
    if !json::trim(stdout).is_empty() {
        turn.unknown(stdout);
    }
    if let Some((_, outline)) = last_object(stderr).filter(|(_, outline)| has_error(outline.whole())) {
        object(turn, outline.whole());
    }
}

/// What the object says beside the assistant's words.
fn object(turn: &mut Turn, object: Item<'_>) {
    turn.is_over = true;
    turn.session(text_at(object, &["session_id"]).as_deref());
    for warning in object.get("warnings").and_then(Item::items).into_iter().flatten() {
        turn.warn(&as_text(Some(warning)));
    }
    if let Some(error) = object.get("error").filter(|error| !error.is_null()) {
        turn.fail(Failure::of_error(Some(error)));
    }
    let unknown: Vec<_> = object.names().filter(|name| !MEMBERS.contains(&name.as_ref())).take(MAX_NAMES).collect();
    if !unknown.is_empty() {
        let names: Vec<_> = unknown.iter().map(AsRef::as_ref).collect();
        let message = format!("the object has members that are not known: {}", text::quoted_list(&names));
        turn.note(Code::StreamRowUnknown, message);
    }
}

/// The object that ends a text and begins a line, and what stands before it.
fn last_object(text: &str) -> Option<(&str, Outline<'_>)> {
    let start = text.rfind("\n{").map_or(0, |line| line + 1);
    let (before, object) = text.split_at_checked(start)?;
    Outline::read(object, MAX_ROW_DEPTH).ok().map(|outline| (before, outline))
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

/// The members of the one object.
const MEMBERS: [&str; 5] = ["session_id", "response", "stats", "error", "warnings"];
/// How many members that are not known are named.
const MAX_NAMES: usize = 5;

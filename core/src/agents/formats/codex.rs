//! `codex exec --json` (0.166.0).

use crate::agents::Usage;
use crate::agents::failure::Failure;
use crate::agents::rows::{as_text, number_at, others_text_at, text_at};
use crate::agents::turn::Turn;
use crate::json::Item;

/// Takes a row; says whether it is one that is known.
pub(crate) fn row(turn: &mut Turn, row: Item<'_>) -> bool {
    match text_at(row, &["type"]).unwrap_or_default().as_ref() {
        "thread.started" => {
            turn.session(text_at(row, &["thread_id"]).as_deref());
        }
        "turn.started" | "item.started" | "item.updated" => {}
        "item.completed" => return row.get("item").is_some_and(|told| item(turn, told)),
        "turn.completed" => {
            turn.is_over = true;
            turn.failure = None;
            if let Some(input_tokens) = number_at(row, &["usage", "input_tokens"]) {
                turn.spend(Usage {
                    input_tokens,
                    output_tokens: number_at(row, &["usage", "output_tokens"]).unwrap_or(0),
                    cached_input_tokens: number_at(row, &["usage", "cached_input_tokens"]),
                });
            }
        }
        "turn.failed" => {
            turn.is_over = true;
            turn.fail(Failure::of_error(row.get("error")));
        }
        // Not the end: only `turn.failed` is.
        "error" => {
            let words = text_at(row, &["message"]).unwrap_or_default();
            if words.contains("Reconnecting") {
                turn.supersede();
            }
            turn.warn(&words);
        }
        _ => return false,
    }
    true
}

fn item(turn: &mut Turn, item: Item<'_>) -> bool {
    match text_at(item, &["type"]).unwrap_or_default().as_ref() {
        "agent_message" => turn.say(&text_at(item, &["text"]).unwrap_or_default()),
        "reasoning" => turn.other("reasoning", || others_text_at(item, &["text"])),
        "command_execution" => {
            let (command, output) = (item.get("command"), item.get("aggregated_output"));
            turn.other("tool", || [&as_text(command), "\n", &as_text(output)].concat().into());
            turn.settle();
        }
        "mcp_tool_call" | "web_search" | "file_change" | "todo_list" | "collab_tool_call" => {
            turn.other("tool", || as_text(Some(item)));
            turn.settle();
        }
        // A warning.
        "error" => turn.warn(&as_text(item.get("message"))),
        _ => return false,
    }
    true
}

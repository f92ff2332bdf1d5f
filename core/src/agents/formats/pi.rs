//! `pi --print --mode json` (0.73.1).

use crate::agents::Usage;
use crate::agents::failure::Failure;
use crate::agents::rows::{as_text, number_at, others_words, parts_of, text_at, words_of};
use crate::agents::turn::Turn;
use crate::json::Item;
use crate::types::codes::Code;

/// Takes a row; says whether it is one that is known.
pub(crate) fn row(turn: &mut Turn, row: Item<'_>) -> bool {
    match text_at(row, &["type"]).unwrap_or_default().as_ref() {
        "session" => {
            turn.session(text_at(row, &["id"]).as_deref());
        }
        "message_end" => return row.get("message").is_some_and(|told| message(turn, told)),
        "agent_end" => turn.is_over = true,
        // These tell what the rows above tell, sooner or once more.
        "agent_start"
        | "turn_start"
        | "turn_end"
        | "message_start"
        | "message_update"
        | "tool_execution_start"
        | "tool_execution_update"
        | "tool_execution_end"
        | "auto_retry_start"
        | "auto_retry_end"
        | "compaction_start"
        | "compaction_end"
        | "queue_update" => {}
        _ => return false,
    }
    true
}

fn message(turn: &mut Turn, message: Item<'_>) -> bool {
    let parts = parts_of(message.get("content"));
    let words = || parts.iter().map(|(_, part)| others_words(*part)).collect::<String>().into();
    match text_at(message, &["role"]).unwrap_or_default().as_ref() {
        "assistant" => {}
        "user" => {
            turn.other("user", words);
            return true;
        }
        "toolResult" | "bashExecution" | "custom" => {
            turn.other("tool", words);
            return true;
        }
        _ => return false,
    }
    if let Some(input_tokens) = number_at(message, &["usage", "input"]) {
        turn.spend(Usage {
            input_tokens,
            output_tokens: number_at(message, &["usage", "output"]).unwrap_or(0),
            cached_input_tokens: number_at(message, &["usage", "cacheRead"]),
        });
    }
    let reason = text_at(message, &["stopReason"]).unwrap_or_default();
    let is_discarded = matches!(reason.as_ref(), "error" | "aborted");
    turn.failure = match reason.as_ref() {
        "error" => Some(Failure::of_model(None, &as_text(message.get("errorMessage")))),
        "aborted" => {
            Some(Failure { code: Code::Interrupted, words: as_text(message.get("errorMessage")).into_owned() })
        }
        // Asked once more, the model has answered.
        _ => None,
    };
    for (kind, part) in parts {
        match kind.as_ref() {
            "text" if is_discarded => turn.other("system", || others_words(part)),
            "text" => turn.say(&words_of(part)),
            "thinking" => turn.other("reasoning", || as_text(part.get("thinking"))),
            "toolCall" => {
                let arguments = || as_text(part.get("arguments"));
                turn.other("tool", || format!("{} {}", as_text(part.get("name")), arguments()).into());
            }
            _ => {}
        }
    }
    true
}

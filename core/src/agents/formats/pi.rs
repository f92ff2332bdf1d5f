//! `pi --print --mode json` (0.73.1).

use serde::Deserialize;

use super::{Format, ROWS};
use crate::agents::content::{Block, Content, TokenUsage};
use crate::agents::failure::Failure;
use crate::agents::row::{Object, Row, Shown, Text};
use crate::agents::turn::Turn;
use crate::types::codes::Code;

pub(super) const FORMAT: Format = Format { is_skipped, row, ..ROWS };

/// Each of these repeats the whole message so far, and the row that ends it has all of it.
fn is_skipped(text: &str) -> bool {
    text.starts_with(r#"{"type":"message_update""#)
}

fn row(turn: &mut Turn, row: &Row<'_>) -> Option<()> {
    match row.kind().as_str() {
        "session" => {
            turn.session(row.read::<Fields<'_>>()?.id.as_deref());
        }
        "message_end" => message(turn, row.read::<Fields<'_>>()?.message.0)?,
        "agent_end" => turn.is_over = true,
        // These report what the rows above report, sooner or once more.
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
        _ => return None,
    }
    Some(())
}

fn message(turn: &mut Turn, message: Message<'_>) -> Option<()> {
    let Content(blocks) = message.content;
    let other = match message.role.as_str() {
        "assistant" => None,
        "user" => Some("user"),
        "toolResult" | "bashExecution" | "custom" => Some("tool"),
        _ => return None,
    };
    if let Some(role) = other {
        turn.other(role, || blocks.iter().map(Block::beginning).collect::<String>().into());
        return Some(());
    }
    turn.spend(*message.usage.input, *message.usage.output, *message.usage.cache_read);
    let error = message.error_message.as_str();
    turn.failure = match message.stop_reason.as_str() {
        "error" => Some(Failure::of_model(None, error)),
        "aborted" => Some(Failure { code: Code::Interrupted, words: error.to_owned() }),
        // The model has answered a retry.
        _ => None,
    };
    let is_discarded = turn.failure.is_some();
    for block in blocks {
        match block.kind.as_str() {
            "text" if is_discarded => turn.other("system", || block.beginning()),
            "text" => turn.say(&block.words()),
            "thinking" => turn.other("reasoning", || block.thinking.into_cow()),
            "toolCall" => turn.tool_call(&block.name, &block.arguments),
            _ => {}
        }
    }
    Some(())
}

/// `session` and `message_end`.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct Fields<'r> {
    id: Text<'r>,
    message: Object<Message<'r>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'r"))]
struct Message<'r> {
    role: Text<'r>,
    content: Content<'r>,
    usage: Object<TokenUsage>,
    stop_reason: Text<'r>,
    error_message: Shown<'r>,
}

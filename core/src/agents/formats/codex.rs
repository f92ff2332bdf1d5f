//! `codex exec --json` (0.166.0).

use serde::Deserialize;

use super::{Format, ROWS};
use crate::agents::content::TokenUsage;
use crate::agents::failure::{ErrorField, Failure};
use crate::agents::row::{Object, Row, Shown, Text};
use crate::agents::turn::Turn;

pub(super) const FORMAT: Format = Format { row, ..ROWS };

fn row(turn: &mut Turn, row: &Row<'_>) -> Option<()> {
    match row.kind().as_str() {
        "turn.started" | "item.started" | "item.updated" => Some(()),
        "item.completed" => item(turn, row),
        kind => event(turn, kind, &row.read()?),
    }
}

fn event(turn: &mut Turn, kind: &str, row: &Event<'_>) -> Option<()> {
    match kind {
        "thread.started" => {
            turn.session(row.thread_id.as_deref());
        }
        "turn.completed" => {
            turn.is_over = true;
            turn.failure = None;
            let usage = &row.usage;
            turn.spend(*usage.input_tokens, *usage.output_tokens, *usage.cached_input_tokens);
        }
        "turn.failed" => {
            turn.is_over = true;
            turn.fail(Failure::from_error(&row.error));
        }
        // Not the end: only `turn.failed` is.
        "error" => {
            if row.message.as_str().contains("Reconnecting") {
                turn.supersede();
            }
            turn.warn(row.message.as_str());
        }
        _ => return None,
    }
    Some(())
}

fn item(turn: &mut Turn, row: &Row<'_>) -> Option<()> {
    let ItemCompleted { item } = row.read::<ItemCompleted<Object<Item<'_>>>>()?;
    match item.kind.as_str() {
        "agent_message" => turn.say(item.text.as_str()),
        "reasoning" => turn.other("reasoning", || item.text.as_str().into()),
        "command_execution" => {
            let (command, output) = (item.command.as_str(), item.aggregated_output.as_str());
            turn.other("tool", || [command, "\n", output].concat().into());
            turn.settle();
        }
        // Their fields are not read one by one.
        "mcp_tool_call" | "web_search" | "file_change" | "todo_list" | "collab_tool_call" => {
            let ItemCompleted { item } = row.read::<ItemCompleted<Shown<'_>>>()?;
            turn.other("tool", || item.into_cow());
            turn.settle();
        }
        // A warning.
        "error" => turn.warn(item.message.as_str()),
        _ => return None,
    }
    Some(())
}

/// Any row but `item.completed`.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct Event<'r> {
    thread_id: Text<'r>,
    usage: Object<TokenUsage>,
    error: ErrorField<'r>,
    message: Text<'r>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ItemCompleted<I: Default> {
    item: I,
}

/// An item of any kind.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct Item<'r> {
    #[serde(rename = "type")]
    kind: Text<'r>,
    /// Of `agent_message` and `reasoning`.
    text: Text<'r>,
    /// Of `command_execution`.
    command: Shown<'r>,
    aggregated_output: Shown<'r>,
    /// Of `error`.
    message: Shown<'r>,
}

//! `codex exec --json` (0.166.0).

use serde::Deserialize;

use super::Format;
use crate::agents::failure::{ErrorField, Failure};
use crate::agents::fields::{Lenient, Object, Text};
use crate::agents::row::Row;
use crate::agents::shown::Shown;
use crate::agents::turn::Turn;

pub(crate) struct Codex;

impl Format for Codex {
    fn row(&self, turn: &mut Turn, row: &Row<'_>) -> Option<()> {
        match row.kind().as_str() {
            "thread.started" => {
                let ThreadStarted { thread_id } = row.read()?;
                turn.session(thread_id.as_deref());
            }
            "turn.started" | "item.started" | "item.updated" => {}
            "item.completed" => item(turn, row)?,
            "turn.completed" => {
                let TurnCompleted { usage } = row.read()?;
                turn.is_over = true;
                turn.failure = None;
                let Tokens { input_tokens, output_tokens, cached_input_tokens } = usage.0.unwrap_or_default();
                turn.spend(*input_tokens, *output_tokens, *cached_input_tokens);
            }
            "turn.failed" => {
                let TurnFailed { error } = row.read()?;
                turn.is_over = true;
                turn.fail(Failure::from_error(&error));
            }
            // Not the end: only `turn.failed` is.
            "error" => {
                let StreamError { message } = row.read()?;
                if message.as_str().contains("Reconnecting") {
                    turn.supersede();
                }
                turn.warn(message.as_str());
            }
            _ => return None,
        }
        Some(())
    }
}

fn item(turn: &mut Turn, row: &Row<'_>) -> Option<()> {
    let ItemCompleted { item: Object(item) } = row.read()?;
    let item: Item<'_> = item?;
    match item.kind.as_str() {
        "agent_message" => turn.say(item.text.as_str()),
        "reasoning" => turn.other("reasoning", || item.text.as_str().into()),
        "command_execution" => {
            let (command, output) = (item.command.as_str(), item.aggregated_output.as_str());
            turn.other("tool", || [command, "\n", output].concat().into());
            turn.settle();
        }
        "mcp_tool_call" | "web_search" | "file_change" | "todo_list" | "collab_tool_call" => {
            let ToolItem { item } = row.read()?;
            turn.other("tool", || item.into_cow());
            turn.settle();
        }
        // A warning.
        "error" => turn.warn(item.message.as_str()),
        _ => return None,
    }
    Some(())
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct ThreadStarted<'r> {
    thread_id: Text<'r>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct ItemCompleted<'r> {
    item: Object<Item<'r>>,
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

/// An item of a tool whose fields are not read one by one.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct ToolItem<'r> {
    item: Shown<'r>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TurnCompleted {
    usage: Object<Tokens>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input_tokens: Lenient<u64>,
    output_tokens: Lenient<u64>,
    cached_input_tokens: Lenient<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct TurnFailed<'r> {
    error: ErrorField<'r>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct StreamError<'r> {
    message: Text<'r>,
}

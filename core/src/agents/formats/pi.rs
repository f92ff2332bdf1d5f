//! `pi --print --mode json` (0.73.1).

use serde::Deserialize;

use super::Format;
use crate::agents::content::{Content, Part};
use crate::agents::failure::Failure;
use crate::agents::fields::{Lenient, Object, Text};
use crate::agents::row::Row;
use crate::agents::shown::Shown;
use crate::agents::turn::Turn;
use crate::types::codes::Code;

pub(crate) struct Pi;

impl Format for Pi {
    /// Each of these repeats the whole message so far, and the row that ends it has all of it.
    fn is_skipped(&self, text: &str) -> bool {
        text.starts_with(r#"{"type":"message_update""#)
    }

    fn row(&self, turn: &mut Turn, row: &Row<'_>) -> Option<()> {
        match row.kind().as_str() {
            "session" => {
                let Session { id } = row.read()?;
                turn.session(id.as_deref());
            }
            "message_end" => {
                let MessageEnd { message: Object(ended) } = row.read()?;
                message(turn, ended?)?;
            }
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
}

fn message(turn: &mut Turn, message: Message<'_>) -> Option<()> {
    let parts = message.content.into_parts();
    let words = || parts.iter().map(|part| part.text.as_str()).collect::<String>().into();
    match message.role.as_str() {
        "assistant" => {}
        "user" => {
            turn.other("user", words);
            return Some(());
        }
        "toolResult" | "bashExecution" | "custom" => {
            turn.other("tool", words);
            return Some(());
        }
        _ => return None,
    }
    let Tokens { input, output, cache_read } = message.usage.0.unwrap_or_default();
    turn.spend(*input, *output, *cache_read);
    let error = message.error_message.as_str();
    turn.failure = match message.stop_reason.as_str() {
        "error" => Some(Failure::of_model(None, error)),
        "aborted" => Some(Failure { code: Code::Interrupted, words: error.to_owned() }),
        // The model has answered a retry.
        _ => None,
    };
    let is_discarded = turn.failure.is_some();
    for part in parts {
        match part.kind.as_str() {
            "text" if is_discarded => turn.other("system", || part.text.as_str().into()),
            "text" => turn.say(part.text.as_str()),
            "thinking" => turn.other("reasoning", || part.thinking.into_cow()),
            "toolCall" => {
                turn.other("tool", || format!("{} {}", part.name.as_str(), part.arguments.as_str()).into());
            }
            _ => {}
        }
    }
    Some(())
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct Session<'r> {
    id: Text<'r>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct MessageEnd<'r> {
    message: Object<Message<'r>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'r"))]
struct Message<'r> {
    role: Text<'r>,
    content: Content<MessagePart<'r>>,
    usage: Object<Tokens>,
    stop_reason: Text<'r>,
    error_message: Shown<'r>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct MessagePart<'r> {
    #[serde(rename = "type")]
    kind: Text<'r>,
    text: Text<'r>,
    thinking: Shown<'r>,
    /// Of `toolCall`.
    name: Shown<'r>,
    arguments: Shown<'r>,
}

impl<'de: 'r, 'r> Part<'de> for MessagePart<'r> {
    fn from_string(kind: &'static str, json: &'de str) -> Self {
        MessagePart { kind: kind.into(), text: Lenient::from_raw(json), ..MessagePart::default() }
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Tokens {
    input: Lenient<u64>,
    output: Lenient<u64>,
    cache_read: Lenient<u64>,
}

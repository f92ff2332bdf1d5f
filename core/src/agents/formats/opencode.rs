//! `opencode run --format json` (1.18.33).

use serde::Deserialize;

use super::{Format, ROWS};
use crate::agents::content::TokenUsage;
use crate::agents::failure::{ErrorField, Failure};
use crate::agents::row::{Object, Row, Shown, Text};
use crate::agents::turn::Turn;
use crate::types::codes::Code;

pub(super) const FORMAT: Format = Format { row, end_of_stream, ..ROWS };

fn row(turn: &mut Turn, row: &Row<'_>) -> Option<()> {
    let Fields { session_id, part: Object(part), error } = row.read()?;
    let is_own = turn.session(session_id.as_deref());
    match row.kind().as_str() {
        "text" if is_own => turn.say(part.text.as_str()),
        // A subagent's.
        "text" => turn.other("tool", || part.text.as_str().into()),
        "reasoning" => turn.other("reasoning", || part.text.as_str().into()),
        "tool_use" => tool_use(turn, &part, is_own),
        "step_start" if is_own => {
            // A step that begins before the last one has ended is that one again.
            turn.supersede();
            // The agent continues without the permission.
            if is_denied(turn) {
                turn.failure = None;
                turn.is_over = false;
            }
        }
        "step_start" => {}
        "step_finish" => step_finish(turn, &part, is_own),
        "error" => {
            turn.fail(Failure::from_error(&error));
            turn.is_over = true;
        }
        _ => return None,
    }
    Some(())
}

/// Adds which permission was rejected: only stderr has it.
fn end_of_stream(turn: &mut Turn, stderr: &str) {
    if is_denied(turn)
        && let Some(asked) = stderr.lines().rev().find_map(|line| line.get(line.find(REQUESTED)?..))
    {
        turn.warn(asked.trim_end());
    }
}

fn tool_use(turn: &mut Turn, part: &Part<'_>, is_own: bool) {
    let ToolState { input, output, error } = &*part.state;
    let (tool, error_text) = (part.tool.as_str(), error.as_str());
    let shown = if output.is_some() { output.as_str() } else { error_text };
    turn.other("tool", || format!("{tool} {}\n{shown}", input.as_str()).into());
    if is_own && error_text.starts_with(REJECTED) {
        turn.fail(Failure { code: Code::PermissionDenied, words: format!("{tool}: {error_text}") });
        turn.is_over = true;
    }
}

fn step_finish(turn: &mut Turn, part: &Part<'_>, is_own: bool) {
    turn.spend(*part.tokens.input, *part.tokens.output, *part.tokens.cache.read);
    if is_own {
        turn.settle();
        if !is_denied(turn) {
            turn.failure = None;
            turn.is_over |= part.reason.as_str() != "tool-calls";
        }
    }
}

fn is_denied(turn: &Turn) -> bool {
    turn.failure.as_ref().is_some_and(|failure| failure.code == Code::PermissionDenied)
}

/// What is read of any row.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct Fields<'r> {
    #[serde(rename = "sessionID")]
    session_id: Text<'r>,
    part: Object<Part<'r>>,
    error: ErrorField<'r>,
}

/// A part of a message.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct Part<'r> {
    /// Of `text` and `reasoning`.
    text: Text<'r>,
    /// Of `tool_use`.
    tool: Shown<'r>,
    state: Object<ToolState<'r>>,
    /// Of `step_finish`.
    reason: Text<'r>,
    tokens: Object<TokenUsage>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct ToolState<'r> {
    input: Shown<'r>,
    output: Shown<'r>,
    error: Shown<'r>,
}

/// Without a terminal the program rejects what it would ask for, and ends the turn.
const REJECTED: &str = "The user rejected permission";
const REQUESTED: &str = "permission requested: ";

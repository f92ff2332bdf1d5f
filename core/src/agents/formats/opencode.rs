//! `opencode run --format json` (1.18.33).

use serde::Deserialize;

use super::Format;
use crate::agents::failure::{ErrorField, Failure};
use crate::agents::fields::{Lenient, Object, Text};
use crate::agents::row::Row;
use crate::agents::shown::Shown;
use crate::agents::turn::Turn;
use crate::types::codes::Code;

pub(crate) struct Opencode;

impl Format for Opencode {
    fn row(&self, turn: &mut Turn, row: &Row<'_>) -> Option<()> {
        match row.kind().as_str() {
            "text" => {
                let PartRow { session_id, part: Object(part) } = row.read()?;
                let Words { text } = part.unwrap_or_default();
                if turn.session(session_id.as_deref()) {
                    turn.say(text.as_str());
                } else {
                    // A subagent's.
                    turn.other("tool", || text.as_str().into());
                }
            }
            "reasoning" => {
                let PartRow { session_id, part: Object(part) } = row.read()?;
                let Words { text } = part.unwrap_or_default();
                turn.session(session_id.as_deref());
                turn.other("reasoning", || text.as_str().into());
            }
            "tool_use" => tool_use(turn, row.read()?),
            "step_start" => {
                let Other { session_id, .. } = row.read()?;
                if turn.session(session_id.as_deref()) {
                    // A step that begins before the last one has ended is that one again.
                    turn.supersede();
                    // The agent continues without the permission.
                    if is_denied(turn) {
                        turn.failure = None;
                        turn.is_over = false;
                    }
                }
            }
            "step_finish" => step_finish(turn, row.read()?),
            "error" => {
                let Other { session_id, error } = row.read()?;
                turn.session(session_id.as_deref());
                turn.fail(Failure::from_error(&error));
                turn.is_over = true;
            }
            _ => {
                let Other { session_id, .. } = row.read()?;
                turn.session(session_id.as_deref());
                return None;
            }
        }
        Some(())
    }

    /// Adds which permission was rejected: only stderr has it.
    fn end_of_stream(&self, turn: &mut Turn, stderr: &str) {
        if is_denied(turn)
            && let Some(asked) = stderr.lines().rev().find_map(|line| line.get(line.find(REQUESTED)?..))
        {
            turn.warn(asked.trim_end());
        }
    }
}

fn tool_use(turn: &mut Turn, row: PartRow<'_, Tool<'_>>) {
    let is_own = turn.session(row.session_id.as_deref());
    let Tool { tool, state } = row.part.0.unwrap_or_default();
    let ToolState { input, output, error } = state.0.unwrap_or_default();
    let (tool, error_text) = (tool.as_str(), error.as_str());
    let shown = if output.is_some() { output.as_str() } else { error_text };
    turn.other("tool", || format!("{tool} {}\n{shown}", input.as_str()).into());
    if is_own && error_text.starts_with(REJECTED) {
        turn.fail(Failure { code: Code::PermissionDenied, words: format!("{tool}: {error_text}") });
        turn.is_over = true;
    }
}

fn step_finish(turn: &mut Turn, row: PartRow<'_, StepFinish<'_>>) {
    let is_own = turn.session(row.session_id.as_deref());
    let StepFinish { reason, tokens } = row.part.0.unwrap_or_default();
    let Tokens { input, output, cache } = tokens.0.unwrap_or_default();
    turn.spend(*input, *output, *cache.0.unwrap_or_default().read);
    if is_own {
        turn.settle();
        if !is_denied(turn) {
            turn.failure = None;
            turn.is_over |= reason.as_str() != "tool-calls";
        }
    }
}

fn is_denied(turn: &Turn) -> bool {
    turn.failure.as_ref().is_some_and(|failure| failure.code == Code::PermissionDenied)
}

/// A row with a part of the message.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r, P: Default + Deserialize<'de>"))]
struct PartRow<'r, P> {
    #[serde(rename = "sessionID")]
    session_id: Text<'r>,
    part: Object<P>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct Other<'r> {
    #[serde(rename = "sessionID")]
    session_id: Text<'r>,
    error: ErrorField<'r>,
}

/// The part of `text` and `reasoning`.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct Words<'r> {
    text: Text<'r>,
}

/// The part of `tool_use`.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct Tool<'r> {
    tool: Shown<'r>,
    state: Object<ToolState<'r>>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct ToolState<'r> {
    input: Shown<'r>,
    output: Shown<'r>,
    error: Shown<'r>,
}

/// The part of `step_finish`.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct StepFinish<'r> {
    reason: Text<'r>,
    tokens: Object<Tokens>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input: Lenient<u64>,
    output: Lenient<u64>,
    cache: Object<Cache>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cache {
    read: Lenient<u64>,
}

/// Without a terminal the program rejects what it would ask for, and ends the turn.
const REJECTED: &str = "The user rejected permission";
const REQUESTED: &str = "permission requested: ";

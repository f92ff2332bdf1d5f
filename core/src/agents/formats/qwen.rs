//! `qwen --output-format stream-json` (0.15.10): Claude's rows.

use super::{Format, ROWS, claude};
use crate::agents::failure::Failure;
use crate::agents::turn::Turn;
use crate::types::codes::Code;

pub(super) const FORMAT: Format = Format { row: claude::row, end_of_stream, ..ROWS };

/// An error is reported in no field, but in the assistant's text.
fn end_of_stream(turn: &mut Turn, _: &str) {
    let words = turn.last_words().map(str::trim_end).filter(|words| words.ends_with(']'));
    let error = words.and_then(|words| words.rfind("[API Error: ").and_then(|start| words.get(start..)));
    let Some(failure) = error.map(|words| Failure::of_model(None, words)) else { return };
    if turn.failure.is_none() {
        let guessed =
            "the assistant's last words look like an error of its program, which tells errors in no other way";
        turn.note(Code::StreamFailureGuessed, guessed.to_owned());
        turn.fail(failure);
    }
}

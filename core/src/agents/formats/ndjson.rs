//! JSON lines of no agent in particular.

use serde::Deserialize;

use super::{EndOfTurn, Format, ROWS};
use crate::agents::Sticky;
use crate::agents::content::{Block, Content, Quoted};
use crate::agents::row::{Lenient, Row, Text};
use crate::agents::turn::{ASSISTANT, Turn};
use crate::json::json_text;

pub(super) const FORMAT: Format = Format { row, end_of_turn: Some(EndOfTurn::Line), prompt, ..ROWS };

/// Only a row that says whose words it has is taken for words.
fn row(turn: &mut Turn, row: &Row<'_>) -> Option<()> {
    let Line { session_handle, role, text, content } = row.read()?;
    turn.session(session_handle.as_deref());
    let blocks = text.0.map_or(content.0, |text| vec![Block::of_text(text)]);
    let (Some(role), false) = (role.as_deref(), blocks.is_empty()) else {
        return session_handle.is_some().then_some(());
    };
    for block in blocks.iter().filter(|block| block.kind.as_str() == "text") {
        if role == ASSISTANT {
            turn.say(&block.words());
        } else {
            turn.other(role, || block.beginning());
        }
    }
    Some(())
}

/// One JSON string, in which nothing of the text is lost.
fn prompt(words: &str, _: &mut Sticky) -> String {
    json_text(&words) + "\n"
}

/// Words in `text` or `content`, or the session, or both.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct Line<'r> {
    session_handle: Text<'r>,
    role: Text<'r>,
    text: Lenient<Quoted<'r>>,
    content: Content<'r>,
}

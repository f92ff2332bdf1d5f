//! JSON lines of no agent in particular.

use serde::Deserialize;

use super::{EndOfTurn, Format};
use crate::agents::Sticky;
use crate::agents::content::{Content, TextPart};
use crate::agents::fields::Text;
use crate::agents::row::Row;
use crate::agents::turn::{ASSISTANT, Turn};
use crate::json::json_text;

pub(crate) struct Ndjson;

impl Format for Ndjson {
    /// Only a row that says whose words it has is taken for words.
    fn row(&self, turn: &mut Turn, row: &Row<'_>) -> Option<()> {
        let Line { session_handle, role, text, content } = row.read()?;
        turn.session(session_handle.as_deref());
        let parts = if text.is_some() { vec![TextPart { kind: "text".into(), text }] } else { content.into_parts() };
        let (Some(role), false) = (role.as_deref(), parts.is_empty()) else {
            return session_handle.is_some().then_some(());
        };
        for part in parts.iter().filter(|part| part.kind.as_str() == "text") {
            if role == ASSISTANT {
                turn.say(part.text.as_str());
            } else {
                turn.other(role, || part.text.as_str().into());
            }
        }
        Some(())
    }

    fn has_end_row(&self) -> bool {
        false
    }

    fn end_of_turn(&self) -> Option<EndOfTurn> {
        Some(EndOfTurn::Line)
    }

    /// One JSON string, in which nothing of the text is lost.
    fn prompt(&self, words: &str, _: &mut Sticky) -> String {
        json_text(&words) + "\n"
    }
}

/// Words in `text` or `content`, or the session, or both.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'r"))]
struct Line<'r> {
    session_handle: Text<'r>,
    role: Text<'r>,
    text: Text<'r>,
    content: Content<TextPart<'r>>,
}

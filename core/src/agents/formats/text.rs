//! Plain text: all of it is the assistant's.

use super::{EndOfTurn, Format, Framing, ROWS};
use crate::agents::Sticky;

pub(super) const FORMAT: Format = Format { framing: Framing::Text, end_of_turn: Some(EndOfTurn::Line), prompt, ..ROWS };

/// One line.
fn prompt(words: &str, _: &mut Sticky) -> String {
    words.replace("\r\n", " ").replace(ends_line, " ") + "\n"
}

/// Whether some program would take the character for the end of a line.
fn ends_line(character: char) -> bool {
    matches!(character, '\n'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
